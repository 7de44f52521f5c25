#include "emulator/api/discovery/api_description.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "emulator/api/discovery/json_schemas.h"

namespace caip::api {
namespace {

// Splits the text into the words of each line. A line that begins with a blank continues the
// previous line.
std::vector<std::vector<std::string>> Lines(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& line : Split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    if (!line.starts_with(' ')) lines.emplace_back();
    for (const std::string& word : Split(line, ' ')) {
      if (!word.empty()) lines.back().push_back(word);
    }
  }
  return lines;
}

Json TypeSchema(std::string_view type) {
  static const std::map<std::string_view, Json> kScalars = {
      {"string", {{"type", "string"}}},
      {"bool", {{"type", "boolean"}}},
      {"any", {{"type", "any"}}},
      {"int32", {{"type", "integer"}, {"format", "int32"}}},
      {"int64", {{"type", "string"}, {"format", "int64"}}},
      {"double", {{"type", "number"}, {"format", "double"}}},
      {"bytes", {{"type", "string"}, {"format", "byte"}}},
      {"date", {{"type", "string"}, {"format", "date"}}},
      {"datetime", {{"type", "string"}, {"format", "date-time"}}},
      {"timestamp", {{"type", "string"}, {"format", "google-datetime"}}},
      {"duration", {{"type", "string"}, {"format", "google-duration"}}},
      {"fieldmask", {{"type", "string"}, {"format", "google-fieldmask"}}},
  };
  if (const auto scalar = kScalars.find(type); scalar != kScalars.end()) return scalar->second;
  if (type.starts_with('[')) {
    return {{"type", "array"}, {"items", TypeSchema(type.substr(1, type.size() - 2))}};
  }
  if (type.starts_with('{')) {
    const auto member = TypeSchema(type.substr(1, type.size() - 2));
    return {{"type", "object"}, {"additionalProperties", member}};
  }
  return {{"$ref", type}};
}

ApiParameter PathParameter(std::string_view name, std::string_view pattern) {
  Json schema = {{"location", "path"}, {"required", true}, {"type", "string"}};
  if (!pattern.empty()) {
    const std::string all = ReplaceAll(std::string(pattern), "**", ".#");
    schema["pattern"] = "^" + ReplaceAll(ReplaceAll(all, "*", "[^/]+"), "#", "*") + "$";
  }
  return {std::string(name), std::move(schema), true};
}

ApiParameter QueryParameter(std::string_view name, std::string_view type) {
  const bool required = type.ends_with('!');
  if (required) type.remove_suffix(1);
  const bool repeated = type.starts_with('[');
  if (repeated) type = type.substr(1, type.size() - 2);
  Json schema = {{"location", "query"}};
  schema.update(TypeSchema(type));
  if (repeated) schema["repeated"] = true;
  if (required) schema["required"] = true;
  return {std::string(name), std::move(schema), false};
}

// Converts "projects/*/jobs/*" to "projects/{projectsId}/jobs/{jobsId}".
std::string FlatName(std::string_view pattern) {
  std::string flat;
  std::string collection;
  for (const std::string& segment : Split(pattern, '/')) {
    if (!flat.empty()) flat += "/";
    flat += segment.starts_with('*') ? "{" + collection + "Id}" : segment;
    collection = segment;
  }
  return flat;
}

// Parses the {+name=pattern} and {name} of a path.
void ReadPath(std::string_view path, ApiMethod& method) {
  while (!path.empty()) {
    const size_t open = std::min(path.find('{'), path.size());
    method.path += path.substr(0, open);
    method.flat_path += path.substr(0, open);
    path.remove_prefix(open);
    if (path.empty()) return;
    const size_t close = path.find('}');
    const std::string_view inner = path.substr(1, close - 1);
    const size_t equals = std::min(inner.find('='), inner.size());
    const std::string_view pattern = inner.substr(std::min(equals + 1, inner.size()));
    method.path += "{" + std::string(inner.substr(0, equals)) + "}";
    method.flat_path += pattern.empty() ? "{" + std::string(inner) + "}" : FlatName(pattern);
    const size_t sign = inner.starts_with('+') ? 1 : 0;
    method.parameters.push_back(PathParameter(inner.substr(sign, equals - sign), pattern));
    path.remove_prefix(close + 1);
  }
}

std::string Message(const std::string& word) { return word == "-" ? "" : word; }

}  // namespace

bool ApiMethod::HasParameter(std::string_view parameter) const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const ApiParameter& known) { return known.name == parameter; });
}

ApiDescription::ApiDescription(std::string name, std::string version, std::string title,
                               std::string service_path, std::string_view text,
                               void (*more_schemas)(Json&))
    : name_(std::move(name)),
      version_(std::move(version)),
      title_(std::move(title)),
      service_path_(std::move(service_path)),
      text_(text),
      more_schemas_(more_schemas) {
  for (const std::vector<std::string>& words : Lines(text)) {
    if (words.front() == "method") ReadMethod(words);
  }
}

const Json& ApiDescription::schemas() const {
  std::call_once(schemas_read_, [this] {
    for (const std::vector<std::string>& words : Lines(text_)) {
      if (words.front() == "schema") ReadSchema(words);
    }
    if (more_schemas_) more_schemas_(schemas_);
  });
  return schemas_;
}

void ApiDescription::ReadMethod(const std::vector<std::string>& words) {
  assert(words.size() >= 6);
  ApiMethod method;
  method.id = words[1];
  method.http_method = words[2];
  ReadPath(words[3], method);
  // No flat path if it is the same as the path, or if its first segments have no names.
  const bool named = method.flat_path.find("{Id}") == std::string::npos;
  if (!service_path_.empty() || !named) method.flat_path.clear();
  method.request = Message(words[4]);
  method.response = Message(words[5]);
  for (size_t i = 6; i < words.size(); ++i) {
    const size_t colon = words[i].find(':');
    if (words[i] == "+upload") {
      method.media_upload = true;
    } else if (words[i] == "+download") {
      method.media_download = true;
    } else {
      method.parameters.push_back(
          QueryParameter(words[i].substr(0, colon), words[i].substr(colon + 1)));
    }
  }
  methods_.push_back(std::move(method));
}

void ApiDescription::ReadSchema(const std::vector<std::string>& words) const {
  assert(words.size() >= 2);
  Json schema = {{"id", words[1]}, {"type", "object"}};
  for (size_t i = 2; i < words.size(); ++i) {
    const size_t colon = words[i].find(':');
    const Json type = TypeSchema(std::string_view(words[i]).substr(colon + 1));
    if (words[i].starts_with("*:")) {
      schema["additionalProperties"] = type;
    } else {
      schema["properties"][words[i].substr(0, colon)] = type;
    }
  }
  schemas_[words[1]] = std::move(schema);
}

const ApiDescription& ApiDescription::Ml() {
  static const ApiDescription ml("ml", "v1", "AI Platform Training & Prediction API", "",
                                 MlDescriptionText(), AddJobSchemas);
  return ml;
}

const ApiDescription& ApiDescription::Aiplatform() {
  static const ApiDescription aiplatform("aiplatform", "v1", "Vertex AI API", "",
                                         AiplatformDescriptionText(), AddVertexSchemas);
  return aiplatform;
}

const ApiDescription& ApiDescription::AiplatformBeta() {
  static const std::string text =
      ReplaceAll(ReplaceAll(std::string(AiplatformDescriptionText()), " v1/{", " v1beta1/{"),
                 kVertexSchemas, kVertexBetaSchemas);
  static const ApiDescription beta("aiplatform", "v1beta1", "Vertex AI API", "", text,
                                   AddVertexBetaSchemas);
  return beta;
}

const ApiDescription& ApiDescription::Storage() {
  static const ApiDescription storage("storage", "v1", "Cloud Storage JSON API", "storage/v1/",
                                      StorageDescriptionText(), nullptr);
  return storage;
}

const ApiDescription& ApiDescription::Logging() {
  static const ApiDescription logging("logging", "v2", "Cloud Logging API", "",
                                      LoggingDescriptionText(), nullptr);
  return logging;
}

std::span<const ApiDescription* const> ApiDescription::All() {
  static const std::array<const ApiDescription*, 5> all = {&Ml(), &Storage(), &Logging(),
                                                           &Aiplatform(), &AiplatformBeta()};
  return all;
}

bool ApiDescription::Names(std::string_view method_id) {
  return method_id.starts_with("ml.") || method_id.starts_with("storage.") ||
         method_id.starts_with("logging.") || method_id.starts_with("aiplatform.");
}

// Looks only at the name, so that an API that is not called is not parsed.
const ApiDescription* ApiDescription::Of(std::string_view method_id) {
  if (method_id.starts_with("ml.")) return &Ml();
  if (method_id.starts_with("storage.")) return &Storage();
  if (method_id.starts_with("logging.")) return &Logging();
  if (method_id.starts_with("aiplatform.")) return &Aiplatform();
  return nullptr;
}

const ApiMethod* ApiDescription::Find(std::string_view method_id) const {
  for (const ApiMethod& method : methods_) {
    if (method.id == method_id) return &method;
  }
  return nullptr;
}

const Json& StandardParameterSchemas() {
  const auto query = [](const char* type) { return Json{{"location", "query"}, {"type", type}}; };
  static const Json schemas = [&] {
    Json all = Json::object();
    all["$.xgafv"] = query("string");
    all["$.xgafv"]["enum"] = {"1", "2"};
    for (const char* name : {"access_token", "alt", "callback", "fields", "key", "oauth_token"}) {
      all[name] = query("string");
    }
    all["alt"]["default"] = "json";
    all["alt"]["enum"] = {"json", "media", "proto"};
    all["prettyPrint"] = query("boolean");
    all["prettyPrint"]["default"] = "true";
    for (const char* name : {"quotaUser", "uploadType", "upload_protocol"}) {
      all[name] = query("string");
    }
    return all;
  }();
  return schemas;
}

std::string RoutePattern(const ApiMethod& method) {
  // A parameter has the singular name of its collection: {jobsId} becomes {job}.
  const std::string pattern = ReplaceAll("/" + method.flat_path, "sId}", "}");
  return ReplaceAll(pattern, "{studie}", "{study}");
}

}  // namespace caip::api
