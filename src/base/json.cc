#include "base/json.h"

#include <algorithm>
#include <charconv>

#include "base/errors.h"

template class nlohmann::basic_json<caip::JsonObject>;

namespace caip {
namespace {

// The position of a byte as editors count it: lines and columns from 1.
std::string LineAndColumn(std::string_view text, size_t byte) {
  int line = 1;
  int column = 1;
  for (size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// Depth is checked before parsing: nlohmann's parser is iterative, its destructor is not.
int DepthOf(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

std::string WithoutPrefix(std::string what) {
  // Removes "[json.exception.parse_error.101] parse error at line 1, column 2: "
  const size_t colon = what.find(": ");
  return colon == std::string::npos ? what : what.substr(colon + 2);
}

// Almost no text needs an escape, and nlohmann's serializer is costly to set up for one text.
void WritePythonText(const std::string& text, std::string& out) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (is_plain) {
    out.append("\"").append(text).append("\"");
  } else {
    out += Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
  }
}

void WritePython(const Json& value, std::string& out) {
  if (value.is_object()) {
    out += '{';
    const char* separator = "";
    for (const auto& [name, member] : value.items()) {
      out += separator;
      WritePythonText(name, out);
      out += ": ";
      WritePython(member, out);
      separator = ", ";
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    const char* separator = "";
    for (const Json& element : value) {
      out += separator;
      WritePython(element, out);
      separator = ", ";
    }
    out += ']';
  } else if (value.is_string()) {
    WritePythonText(value.get_ref<const std::string&>(), out);
  } else {
    out += value.dump(-1, ' ', true, Json::error_handler_t::replace);
  }
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  if (DepthOf(text) > kJsonDepthMax) {
    return errors::JsonTooDeep(kJsonDepthMax);
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    return errors::JsonBroken(LineAndColumn(text, error.byte), WithoutPrefix(error.what()));
  } catch (const Json::exception& error) {
    return errors::JsonBroken("", WithoutPrefix(error.what()));
  }
}

std::string CompactJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string PythonJson(const Json& value) {
  std::string out;
  WritePython(value, out);
  return out;
}

std::string PrettyJson(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

const Json* Member(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(name));
  return found == object.end() ? nullptr : &*found;
}

std::string StringOr(const Json& object, std::string_view name, std::string_view otherwise) {
  const Json* member = Member(object, name);
  return member && member->is_string() ? member->get<std::string>() : std::string(otherwise);
}

bool IsTrue(const Json& object, std::string_view name) {
  const Json* member = Member(object, name);
  return member && member->is_boolean() && member->get<bool>();
}

long long IntOr(const Json& object, std::string_view name, long long otherwise) {
  const Json* member = Member(object, name);
  if (!member) return otherwise;
  if (member->is_number_integer()) return member->get<long long>();
  if (!member->is_string()) return otherwise;
  const std::string& text = member->get_ref<const std::string&>();
  long long value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

}  // namespace caip
