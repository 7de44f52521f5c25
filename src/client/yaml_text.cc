#include "client/yaml_text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <vector>

#include "base/json.h"
#include "base/time_text.h"

namespace caip::client {
namespace {

class Printer {
 public:
  std::string Document(const Json& value) {
    Node(value, 0, false);
    if (!out_.ends_with('\n')) out_ += '\n';
    return std::move(out_);
  }

 private:
  int Column() const {
    const size_t line = out_.rfind('\n') + 1;
    int column = 0;
    for (size_t i = line; i < out_.size(); ++i) {
      column += (static_cast<unsigned char>(out_[i]) & 0xc0) != 0x80;
    }
    return column;
  }

  // Writes the value after "key:" or "-". `indent` is that of the enclosing mapping or list.
  void Node(const Json& value, int indent, bool in_mapping) {
    if (value.is_structured() && value.empty()) {
      out_ += value.is_object() ? "{}\n" : "[]\n";
    } else if (value.is_object()) {
      if (in_mapping) NewLine();
      Mapping(value, in_mapping ? indent + 2 : indent);
    } else if (value.is_array()) {
      if (in_mapping) NewLine();
      List(value, indent);
    } else {
      Scalar(value, indent);
      if (!out_.ends_with('\n')) out_ += '\n';
    }
  }

  void NewLine() {
    while (out_.ends_with(' ')) out_.pop_back();
    out_ += '\n';
  }

  // Starts a line. The first line of a mapping or list continues the current one, after "- " or at
  // the start of a line.
  void Lead(bool first, int indent) {
    if (!first || out_.empty() || out_.ends_with('\n')) {
      out_ += std::string(static_cast<size_t>(indent), ' ');
    }
  }

  void Mapping(const Json& value, int indent) {
    bool first = true;
    for (const std::string& key : SortedKeys(value)) {
      Lead(first, indent);
      first = false;
      out_ += YamlScalar(key, {.column = Column(), .indent = indent + 2, .is_key = true}) + ": ";
      Node(value[key], indent, true);
    }
  }

  void List(const Json& value, int indent) {
    bool first = true;
    for (const Json& element : value) {
      Lead(first, indent);
      first = false;
      out_ += "- ";
      Node(element, indent + 2, false);
    }
  }

  void Scalar(const Json& value, int indent) {
    if (value.is_string()) {
      // The dash of a list element is its indentation.
      const bool element = out_.ends_with("- ");
      out_ += YamlScalar(value.get<std::string>(),
                         {.column = Column(), .indent = element ? indent : indent + 2});
    } else if (value.is_number_float()) {
      out_ += SixDigits(value.get<double>());
    } else {
      out_ += CompactJson(value);
    }
  }

  std::string out_;
};

// Writes JSON as Python's json does: numbers as repr writes them.
void AppendJson(const Json& value, size_t indent, std::string& out) {
  const std::string line = "\n" + std::string(indent + 2, ' ');
  const bool brackets = value.is_structured() && !value.empty();
  if (value.is_number_float()) {
    out += PythonFloat(value.get<double>());
  } else if (!brackets) {
    out += CompactJson(value);
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      out += (i == 0 ? "[" : ",") + line;
      AppendJson(value[i], indent + 2, out);
    }
  } else {
    bool first = true;
    for (const std::string& key : SortedKeys(value)) {
      out += (std::exchange(first, false) ? "{" : ",") + line + CompactJson(key) + ": ";
      AppendJson(value[key], indent + 2, out);
    }
  }
  if (brackets) out += "\n" + std::string(indent, ' ') + (value.is_array() ? "]" : "}");
}

}  // namespace

std::vector<std::string> SortedKeys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::string YamlText(const Json& value) { return Printer().Document(value); }

std::string SortedJson(const Json& value) {
  std::string text;
  AppendJson(value, 0, text);
  return text + "\n";
}

std::string PythonFloat(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const double size = std::fabs(value);
  const bool plain = value == 0 || (size >= 1e-4 && size < 1e16);
  char text[512];
  const auto form = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const std::string number(text, std::to_chars(text, text + sizeof text, value, form).ptr);
  return plain && number.find('.') == number.npos ? number + ".0" : number;
}

std::string SixDigits(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[64];
  std::snprintf(text, sizeof text, "%.6g", value);
  const std::string plain = text;
  return plain.find_first_of(".e") == std::string::npos ? plain + ".0" : plain;
}

std::string LocalDate(std::string_view rfc3339) {
  const std::optional<Instant> instant = ParseRfc3339(rfc3339);
  if (!instant) return std::string(rfc3339);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*instant).time_since_epoch();
  const std::time_t time = seconds.count();
  std::tm local{};
  ::localtime_r(&time, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
  return text;
}

}  // namespace caip::client
