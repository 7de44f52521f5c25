#include "client/python_values.h"

#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "client/yaml_text.h"

namespace caip::client {
namespace {

std::string PythonTypeOf(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "NoneType";
    case Json::value_t::boolean:
      return "bool";
    case Json::value_t::string:
      return "str";
    case Json::value_t::array:
      return "list";
    case Json::value_t::object:
      return "dict";
    case Json::value_t::number_float:
      return "float";
    default:
      return "int";
  }
}

// Python's repr() of a text.
std::string PythonQuoted(const std::string& text) {
  const bool has_single = text.find('\'') != text.npos && text.find('"') == text.npos;
  std::string quoted = ReplaceAll(text, "\\", "\\\\");
  quoted = ReplaceAll(ReplaceAll(ReplaceAll(quoted, "\n", "\\n"), "\r", "\\r"), "\t", "\\t");
  if (has_single) return "\"" + quoted + "\"";
  return "'" + ReplaceAll(quoted, "'", "\\'") + "'";
}

std::string PythonRepr(const Json& value) {
  return value.is_string() ? PythonQuoted(value.get<std::string>()) : PythonStr(value);
}

// The client's own words for what a field of this kind takes.
std::string PythonTypeWanted(std::string_view wanted) {
  if (wanted == "true or false") return "<class 'bool'>";
  if (wanted == "a whole number") return "(<class 'int'>,)";
  if (wanted == "a number") return "(<class 'float'>, <class 'int'>)";
  if (wanted == "text in base64") return "<class 'bytes'>";
  return "<class 'str'>";
}

}  // namespace

std::string PythonStr(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_number_float()) return PythonFloat(value.get<double>());
  if (!value.is_structured()) return CompactJson(value);
  std::vector<std::string> parts;
  for (const auto& [key, member] : value.items()) {
    parts.push_back((value.is_object() ? PythonQuoted(key) + ": " : "") + PythonRepr(member));
  }
  const std::string all = Join(parts, ", ");
  return value.is_object() ? "{" + all + "}" : "[" + all + "]";
}

std::string HasNoItems(const Json& value) {
  return "'" + PythonTypeOf(value) + "' object has no attribute 'items'";
}

std::string ExpectedType(std::string_view field, std::string_view wanted, const Json& value) {
  return "Expected type " + PythonTypeWanted(wanted) + " for field " + std::string(field) +
         ", found " + PythonStr(value) + " (type <class '" + PythonTypeOf(value) + "'>)";
}

}  // namespace caip::client
