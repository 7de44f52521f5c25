#include "emulator/api/json_messages.h"

#include <cctype>

#include "base/json.h"
#include "base/text.h"
#include "emulator/api/errors.h"
#include "google/errors.h"
#include "ml/errors.h"

namespace caip::api {
namespace {

constexpr size_t kBodyBytesMax = 16u << 20;

}  // namespace

std::string JsonName(std::string_view name) {
  std::string json;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool raises = name[i] == '_' && i + 1 < name.size() && std::islower(name[i + 1]);
    json += raises ? static_cast<char>(std::toupper(name[++i])) : name[i];
  }
  return json;
}

Result<std::string> ReadBodyText(const http::Request& request) {
  auto text = request.ReadBody(kBodyBytesMax);
  if (!text.ok() && text.error().code == Code::kResourceExhausted) {
    return errors::BodyTooLarge(kBodyBytesMax);
  }
  return text;
}

Result<Json> ReadJsonObject(const http::Request& request) {
  ASSIGN_OR_RETURN(const std::string text, ReadBodyText(request));
  if (Trim(text).empty()) return Json::object();
  auto body = ParseJson(text);
  if (!body.ok()) return google::errors::BodyMalformed(body.error());
  if (!body->is_object()) return errors::BodyNoObject();
  return body;
}

std::vector<FieldViolation> UnknownNamesIn(const Json& body) {
  std::vector<FieldViolation> unknown;
  for (const auto& [name, value] : body.items()) {
    unknown.push_back(google::errors::UnknownName(name, ""));
  }
  return unknown;
}

Json ErrorBody(const Error& error) {
  Json body = {{"code", google::HttpStatus(error.code)},
               {"message", error.message},
               {"status", google::StatusName(error.code)}};
  if (!error.violations.empty()) {
    Json violations = Json::array();
    for (const FieldViolation& violation : error.violations) {
      violations.push_back({{"field", violation.field}, {"description", violation.description}});
    }
    body["details"] = Json::array({{{"@type", "type.googleapis.com/google.rpc.BadRequest"},
                                    {"fieldViolations", std::move(violations)}}});
  }
  return {{"error", std::move(body)}};
}

http::Response ErrorResponse(const Error& error) {
  return http::JsonResponse(google::HttpStatus(error.code), PrettyJson(ErrorBody(error)) + "\n");
}

http::Response NoRouteResponse(int status, const http::Request& request, const std::string& allow) {
  const std::string asked = request.method + " " + request.path;
  const Json body = {
      {"error",
       {{"code", status},
        {"message", status == 405 ? "Method not allowed: " + asked + ". Allowed: " + allow + "."
                                  : "Nothing is served at " + asked + "."},
        {"status", status == 405 ? "UNIMPLEMENTED" : "NOT_FOUND"}}}};
  http::Response response = http::JsonResponse(status, PrettyJson(body) + "\n");
  if (status == 405) response.headers.Set("Allow", allow);
  return response;
}

http::Response Respond(const http::Request& request, const Result<Json>& result) {
  if (!result.ok()) return ErrorResponse(result.error());
  const bool compact = request.Query("prettyPrint") == "false";
  return http::JsonResponse(200, compact ? CompactJson(*result) : PrettyJson(*result) + "\n");
}

}  // namespace caip::api
