#include "grpc/http_rule.h"

#include <algorithm>
#include <optional>

#include "base/encoding.h"
#include "base/text.h"
#include "grpc/errors.h"

namespace caip::grpc {
namespace {

// A part of a pattern: a text, or a field whose value fits a template.
struct PatternPart {
  std::string text;   // of the path; "" for a field
  std::string field;  // "custom_job.name"
  std::string shape;  // "projects/*/locations/*"
};

std::vector<PatternPart> ParsePattern(std::string_view pattern) {
  std::vector<PatternPart> parts;
  while (!pattern.empty()) {
    const size_t open = std::min(pattern.find('{'), pattern.size());
    if (open > 0) parts.push_back({std::string(pattern.substr(0, open)), "", ""});
    pattern.remove_prefix(open);
    if (pattern.empty()) break;
    const size_t close = pattern.find('}');
    const std::string_view inside = pattern.substr(1, close - 1);
    const size_t equals = inside.find('=');
    const std::string_view shape = equals == inside.npos ? "*" : inside.substr(equals + 1);
    parts.push_back({"", std::string(inside.substr(0, equals)), std::string(shape)});
    pattern.remove_prefix(close + 1);
  }
  return parts;
}

bool FitsShape(std::string_view value, std::string_view shape) {
  const std::vector<std::string> have = Split(value, '/');
  const std::vector<std::string> want = Split(shape, '/');
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i] == "**") return true;
    if (i >= have.size() || have[i].empty()) return false;
    if (want[i] != "*" && want[i] != have[i]) return false;
  }
  return have.size() == want.size();
}

// Removes a field from the message and returns its value as text; nullopt if it has none.
std::optional<std::string> TakeField(Json& message, std::string_view path) {
  Json* holder = &message;
  const std::vector<std::string> names = Split(path, '.');
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    const auto found = holder->find(JsonFieldName(names[i]));
    if (found == holder->end() || !found->is_object()) return std::nullopt;
    holder = &*found;
  }
  const auto found = holder->find(JsonFieldName(names.back()));
  if (found == holder->end()) return std::nullopt;
  std::string value = found->is_string() ? found->get<std::string>() : CompactJson(*found);
  holder->erase(found);
  return value;
}

// Objects become dotted names, and arrays repeated parameters.
Status AddParameters(const std::string& name, const Json& value, RestRequest& request) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      RETURN_IF_ERROR(AddParameters(name.empty() ? key : name + "." + key, member, request));
    }
  } else if (value.is_array()) {
    for (const Json& element : value) {
      if (element.is_structured()) return errors::FieldNotInQuery(name);
      RETURN_IF_ERROR(AddParameters(name, element, request));
    }
  } else {
    request.query.emplace_back(name,
                               value.is_string() ? value.get<std::string>() : CompactJson(value));
  }
  return Ok{};
}

// In a value of several segments, %2F stands for a slash that separates none (http.proto, "Path
// template syntax").
std::string EscapeValue(const std::string& value, std::string_view shape) {
  const std::string escaped = PercentEncoded(value, "/");
  if (shape.find('/') == shape.npos) return escaped;
  return ReplaceAll(ReplaceAll(escaped, "%252F", "%2F"), "%252f", "%2f");
}

Result<std::string> BuildPath(const HttpRule& rule, Json& rest) {
  std::string path;
  for (const PatternPart& part : ParsePattern(rule.pattern)) {
    path += part.text;
    if (part.field.empty()) continue;
    const std::string value = TakeField(rest, part.field).value_or("");
    if (!FitsShape(value, part.shape)) {
      return errors::NameDoesNotFit(part.field, value, part.shape);
    }
    path += EscapeValue(value, part.shape);
  }
  return path;
}

Result<RestRequest> BindByRule(const HttpRule& rule, Json rest) {
  ASSIGN_OR_RETURN(std::string path, BuildPath(rule, rest));
  RestRequest request{rule.verb, std::move(path), {}, ""};
  if (rule.body == "*") {
    request.body = CompactJson(rest);
    return request;
  }
  if (!rule.body.empty()) {
    const auto found = rest.find(JsonFieldName(rule.body));
    request.body = found == rest.end() ? "{}" : CompactJson(*found);
    if (found != rest.end()) rest.erase(found);
  }
  RETURN_IF_ERROR(AddParameters("", rest, request));
  return request;
}

}  // namespace

Result<RestRequest> BindMessage(const std::vector<HttpRule>& rules, const Json& message) {
  std::optional<Error> first;
  for (const HttpRule& rule : rules) {
    auto bound = BindByRule(rule, message);
    if (bound.ok()) return bound;
    if (!first) first = bound.error();
  }
  if (!first) return errors::NoRule();
  return *first;
}

std::string JsonFieldName(std::string_view name) {
  std::string json;
  bool is_upper = false;
  for (const char c : name) {
    if (c == '_') {
      is_upper = true;
      continue;
    }
    json += is_upper ? UpperCase({&c, 1}) : std::string(1, c);
    is_upper = false;
  }
  return json;
}

}  // namespace caip::grpc
