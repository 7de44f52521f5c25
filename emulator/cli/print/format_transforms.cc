#include "emulator/cli/print/format_transforms.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "client/yaml_text.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

using Bound = std::vector<std::optional<std::string>>;  // in the order of the parameters

// Whether Python treats the value as false.
bool IsEmpty(const Json& value) {
  if (value.is_structured() || value.is_null()) return value.empty();
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  if (value.is_boolean()) return !value.get<bool>();
  return value.is_number() && value.get<double>() == 0;
}

std::string Or(const Bound& bound, size_t at, std::string_view otherwise) {
  return bound[at].value_or(std::string(otherwise));
}

Json Basename(const Json& value, const Bound& bound) {
  if (IsEmpty(value)) return Or(bound, 0, "");
  if (value.is_array()) {
    Json names = Json::array();
    for (const Json& element : value) names.push_back(Basename(element, {std::nullopt}));
    return names;
  }
  const std::string text = PythonText(value);
  const size_t slash = text.rfind('/');
  const size_t cut = slash == std::string::npos ? text.rfind('\\') : slash;
  return cut == std::string::npos ? text : text.substr(cut + 1);
}

// %f and %3f are fractions of the second, which strftime does not know.
std::string WithFractions(const std::string& format, Instant instant) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(
      instant - std::chrono::floor<std::chrono::seconds>(instant));
  char digits[24];
  std::snprintf(digits, sizeof digits, "%06lld", static_cast<long long>(micros.count()));
  std::string text = ReplaceAll(format, "%f", digits);
  for (int count = 1; count <= 6; ++count) {
    text = ReplaceAll(text, "%" + std::to_string(count) + "f",
                      std::string_view(digits, static_cast<size_t>(count)));
  }
  return text;
}

std::optional<Instant> InstantOf(const Json& value, double units_a_second) {
  if (value.is_number()) {
    const std::chrono::duration<double> since(value.get<double>() / units_a_second);
    return Instant(std::chrono::duration_cast<Instant::duration>(since));
  }
  return value.is_string() ? ParseRfc3339(value.get<std::string>()) : std::nullopt;
}

// date(format, unit, undefined, tz). Texts are shown in their own time zone, which is the service's
// Z. Numbers are shown in the reader's time zone.
Json Date(const Json& value, const Bound& bound) {
  const auto instant = InstantOf(value, std::strtod(Or(bound, 1, "1").c_str(), nullptr));
  if (!instant) return Or(bound, 2, "");
  const std::string zone = Or(bound, 3, value.is_number() ? "LOCAL" : "UTC");
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(*instant).time_since_epoch().count();
  std::tm parts{};
  if (zone == "LOCAL") {
    ::localtime_r(&seconds, &parts);
  } else {
    ::gmtime_r(&seconds, &parts);
    parts.tm_zone = "UTC";
  }
  const std::string format = WithFractions(Or(bound, 0, "%Y-%m-%dT%H:%M:%S"), *instant);
  char text[512];
  return std::string(text, std::strftime(text, sizeof text, format.c_str(), &parts));
}

size_t Characters(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

Json Length(const Json& value, const Bound&) {
  if (value.is_string()) return Characters(value.get<std::string>());
  return value.is_structured() ? value.size() : 0;
}

Json YesNo(const Json& value, const Bound& bound) {
  if (IsEmpty(value)) return Or(bound, 1, "No");
  return bound[0] ? Json(*bound[0]) : value;
}

Json Segment(const Json& value, const Bound& bound) {
  const std::string undefined = Or(bound, 1, "");
  if (IsEmpty(value)) return undefined;
  const std::string text = PythonText(value);
  const std::vector<std::string> segments = Split(PercentDecoded(text).value_or(text), '/');
  const long long size = static_cast<long long>(segments.size());
  long long index = std::strtoll(Or(bound, 0, "-1").c_str(), nullptr, 10);
  if (index < 0) index += size;
  if (index < 0 || index >= size) return undefined;
  const std::string& segment = segments[static_cast<size_t>(index)];
  return segment.empty() ? undefined : segment;
}

std::vector<std::string> Elements(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& element : list) texts.push_back(PythonText(element));
  return texts;
}

// list(show, undefined, separator)
Json List(const Json& value, const Bound& bound) {
  const std::string separator = Or(bound, 2, ",");
  if (value.is_array()) return Join(Elements(value), separator);
  if (!value.is_object()) return IsEmpty(value) ? Json(Or(bound, 1, "")) : value;
  const std::string show = Or(bound, 0, "");
  std::vector<std::string> parts;
  for (const std::string& key : client::SortedKeys(value)) {
    const std::string text = PythonText(value[key]);
    parts.push_back(show == "keys" ? key : show == "values" ? text : key + "=" + text);
  }
  return Join(parts, separator);
}

Json JoinParts(const Json& value, const Bound& bound) {
  std::vector<std::string> parts;
  if (value.is_array()) parts = Elements(value);
  if (value.is_object()) parts = client::SortedKeys(value);
  const std::string text = Join(parts, Or(bound, 0, "/"));
  return text.empty() ? Or(bound, 1, "") : text;
}

Json SplitText(const Json& value, const Bound& bound) {
  const std::string separator = Or(bound, 0, "/");
  if (IsEmpty(value) || !value.is_string()) return Or(bound, 1, "");
  Json parts = Json::array();
  const std::string text = value.get<std::string>();
  size_t start = 0;
  for (size_t at; (at = text.find(separator, start)) != text.npos; start = at + separator.size()) {
    parts.push_back(text.substr(start, at - start));
  }
  parts.push_back(text.substr(start));
  return parts;
}

Json Upper(const Json& value, const Bound&) {
  return value.is_string() ? Json(UpperCase(value.get<std::string>())) : value;
}

Json Lower(const Json& value, const Bound&) {
  return value.is_string() ? Json(LowerCase(value.get<std::string>())) : value;
}

struct Definition {
  std::string name;
  std::vector<std::string> parameters;
  Json (*apply)(const Json&, const Bound&);
};

const std::vector<Definition>& Definitions() {
  static const std::vector<Definition> kDefinitions = {
      {"basename", {"undefined"}, Basename},
      {"date", {"format", "unit", "undefined", "tz"}, Date},
      {"join", {"sep", "undefined"}, JoinParts},
      {"len", {}, Length},
      {"list", {"show", "undefined", "separator"}, List},
      {"lower", {}, Lower},
      {"segment", {"index", "undefined"}, Segment},
      {"split", {"sep", "undefined"}, SplitText},
      {"upper", {}, Upper},
      {"yesno", {"yes", "no"}, YesNo},
  };
  return kDefinitions;
}

bool IsNumber(const std::string& text, bool whole) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() &&
         (!whole || number == std::floor(number));
}

// The rules of single arguments. gcloud accepts any time zone; caip accepts two.
Status CheckArgument(const std::string& transform, const std::string& parameter,
                     const std::string& value) {
  const auto refuse = [&](std::string_view rule) -> Status {
    return errors::TransformArgument(transform, parameter, value, rule);
  };
  if (parameter == "tz" && value != "LOCAL" && value != "UTC") return refuse("LOCAL or UTC");
  if (parameter == "index" && !IsNumber(value, true)) return refuse("an integer");
  if (parameter == "unit" &&
      (!IsNumber(value, false) || std::strtod(value.c_str(), nullptr) <= 0)) {
    return refuse("a positive number");
  }
  if (parameter == "sep" && transform == "split" && value.empty()) return refuse("a text");
  if (parameter == "show" && !value.empty() && value != "keys" && value != "values") {
    return refuse("keys or values");
  }
  return Ok{};
}

Result<Bound> Bind(const Definition& definition, const TransformArguments& arguments) {
  const std::vector<std::string>& parameters = definition.parameters;
  if (arguments.positional.size() > parameters.size()) {
    return errors::TransformTakes(definition.name, parameters);
  }
  Bound bound(parameters.size());
  std::copy(arguments.positional.begin(), arguments.positional.end(), bound.begin());
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::find(parameters.begin(), parameters.end(), name);
    if (found == parameters.end() || bound[static_cast<size_t>(found - parameters.begin())]) {
      return errors::TransformTakes(definition.name, parameters);
    }
    bound[static_cast<size_t>(found - parameters.begin())] = value;
  }
  for (size_t i = 0; i < bound.size(); ++i) {
    if (bound[i]) RETURN_IF_ERROR(CheckArgument(definition.name, parameters[i], *bound[i]));
  }
  return bound;
}

// Formats a value within a list or map: texts have quotes.
std::string Representation(const Json& value) {
  if (!value.is_string()) return value.is_null() ? "None" : PythonText(value);
  const std::string& text = value.get_ref<const std::string&>();
  const bool has_single = text.find('\'') != text.npos;
  const char quote = has_single && text.find('"') == text.npos ? '"' : '\'';
  std::string quoted(1, quote);
  for (char c : text) {
    if (c == quote || c == '\\') quoted += '\\';
    if (c == '\n' || c == '\t' || c == '\r') {
      quoted += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    } else {
      quoted += c;
    }
  }
  return quoted + quote;
}

}  // namespace

Result<Transform> MakeTransform(const std::string& name, const TransformArguments& arguments) {
  std::vector<std::string> names;
  for (const Definition& definition : Definitions()) {
    if (definition.name == name) {
      ASSIGN_OR_RETURN(const Bound bound, Bind(definition, arguments));
      return Transform{
          [apply = definition.apply, bound](const Json& value) { return apply(value, bound); }};
    }
    names.push_back(definition.name);
  }
  return errors::TransformUnknown(name, names);
}

Json Transformed(Json value, const std::vector<Transform>& transforms) {
  for (const Transform& transform : transforms) {
    if (transform.mapped && value.is_array()) {
      for (Json& element : value) element = transform.apply(element);
    } else if (!transform.mapped || !IsEmpty(value)) {
      value = transform.apply(value);
    }
  }
  return value;
}

std::string PythonText(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_number_float()) return client::PythonFloat(value.get<double>());
  if (!value.is_structured()) return CompactJson(value);
  std::vector<std::string> parts;
  if (value.is_array()) {
    for (const Json& element : value) parts.push_back(Representation(element));
    return "[" + Join(parts, ", ") + "]";
  }
  for (const std::string& key : client::SortedKeys(value)) {
    parts.push_back(Representation(key) + ": " + Representation(value[key]));
  }
  return "{" + Join(parts, ", ") + "}";
}

}  // namespace caip::cli
