#include "emulator/front/standard_parameters.h"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/json.h"
#include "emulator/api/discovery/api_description.h"
#include "emulator/api/errors.h"
#include "emulator/api/json_messages.h"
#include "emulator/front/partial_response.h"
#include "ml/errors.h"

namespace caip::front {
namespace {

using api::ApiDescription;
using api::ApiMethod;

// Cloud Storage has its own form of errors, and ignores unknown parameters.
bool IsStorage(const ApiDescription& api) { return !api.service_path().empty(); }

// The older form of errors that clients of Cloud Storage parse.
http::Response StorageRefusal(const Error& error) {
  const std::string field = error.violations.empty() ? "" : error.violations.front().field;
  const std::string text =
      error.violations.empty() ? error.message : error.violations.front().description;
  const Json body = {{"error",
                      {{"code", 400},
                       {"message", text},
                       {"errors", Json::array({{{"message", text},
                                                {"domain", "global"},
                                                {"reason", "invalidParameter"},
                                                {"locationType", "parameter"},
                                                {"location", field}}})}}}};
  return http::JsonResponse(400, PrettyJson(body) + "\n");
}

// Numbers instead of names of enums: google.api's client libraries for REST request them.
constexpr std::string_view kEnumNumbers = "json;enum-encoding=int";
constexpr std::string_view kSystemAlt = "$alt";  // the same parameter under another name

Status CheckAlt(const ApiDescription& api, const ApiMethod& method, std::string_view alt) {
  if (alt.empty() || alt == "json" || alt == kEnumNumbers) return Ok{};
  if (alt == "media" && (method.media_download || IsStorage(api))) return Ok{};
  if (alt == "media" || alt == "proto") return api::errors::AltRefused(alt);
  return api::errors::AltUnknown(alt);
}

Status CheckParameters(const ApiDescription& api, const ApiMethod& method,
                       const http::Request& request) {
  if (request.HasQuery("callback")) return api::errors::CallbackRefused();
  RETURN_IF_ERROR(CheckAlt(api, method, request.Query("alt")));
  RETURN_IF_ERROR(CheckAlt(api, method, request.Query(kSystemAlt)));
  const std::string_view format = request.Query("$.xgafv");
  if (!format.empty() && format != "1" && format != "2") {
    return api::errors::ErrorFormatUnknown(format);
  }
  if (IsStorage(api)) return Ok{};  // it ignores unknown parameters
  for (const auto& [name, value] : request.query) {
    const bool standard =
        api::StandardParameterSchemas().contains(name) || name == "trace" || name == kSystemAlt;
    if (!standard && !method.HasParameter(name)) return api::errors::QueryParameterUnknown(name);
  }
  return Ok{};
}

// The checked `fields` of this request; nullopt if it has none.
Result<std::optional<FieldSelection>> ReadFields(const ApiDescription& api, const ApiMethod& method,
                                                 const http::Request& request) {
  if (!request.HasQuery("fields") || request.Query("fields").empty()) {
    return std::optional<FieldSelection>();
  }
  ASSIGN_OR_RETURN(FieldSelection selection, FieldSelection::Parse(request.Query("fields")));
  if (!method.response.empty()) {
    RETURN_IF_ERROR(selection.CheckAgainst(api.schemas(), method.response));
  }
  return std::optional<FieldSelection>(std::move(selection));
}

bool IsJson(const http::Response& response) {
  return response.headers.Get("Content-Type").starts_with("application/json");
}

bool IsMedia(const http::Request& request) {
  return request.Query("alt") == "media" || request.path.starts_with("/download/");
}

// A JSON answer may be written in pieces; collects all of them.
void Gather(http::Response& response) {
  if (!response.write_body) return;
  response.write_body([&](std::string_view piece) {
    response.body += piece;
    return true;
  });
  response.write_body = nullptr;
  response.content_length = -1;
}

void Reduce(const FieldSelection& selection, bool pretty, http::Response& response) {
  Gather(response);
  const auto answer = ParseJson(response.body);
  if (!answer.ok()) return;
  const Json chosen = selection.Of(*answer);
  response.body = pretty ? PrettyJson(chosen) + "\n" : CompactJson(chosen);
}

// $.xgafv=1 requests the form of errors that older libraries parse.
void AddOldErrors(http::Response& response) {
  Gather(response);
  auto answer = ParseJson(response.body);
  if (!answer.ok() || !Member(*answer, "error")) return;
  Json& error = (*answer)["error"];
  if (!error.is_object() || error.contains("errors")) return;
  const bool unauthenticated = response.status == 401;
  const char* reason = response.status == 404   ? "notFound"
                       : response.status == 409 ? "alreadyExists"
                       : response.status == 403 ? "forbidden"
                       : response.status == 501 ? "notImplemented"
                       : unauthenticated        ? "authError"
                                                : "badRequest";
  error["errors"] = Json::array(
      {{{"message", StringOr(error, "message")}, {"domain", "global"}, {"reason", reason}}});
  response.body = PrettyJson(*answer) + "\n";
}

http::Response Refusal(const ApiDescription& api, const Error& error) {
  return IsStorage(api) ? StorageRefusal(error) : api::ErrorResponse(error);
}

// The transcoder of Google's newer APIs also accepts the parameters' names in the message.
http::Request WithJsonNames(const ApiMethod& method, const http::Request& request) {
  http::Request renamed = request;
  for (auto& [name, value] : renamed.query) {
    if (!method.HasParameter(name) && method.HasParameter(api::JsonName(name))) {
      name = api::JsonName(name);
    }
  }
  return renamed;
}

http::Response Answer(const ApiDescription& api, const ApiMethod& method,
                      const http::RouteHandler& inner, const http::Request& request,
                      const http::PathParameters& at) {
  if (const Status status = CheckParameters(api, method, request); !status.ok()) {
    return Refusal(api, status.error());
  }
  const auto selection = ReadFields(api, method, request);
  if (!selection.ok()) return Refusal(api, selection.error());
  http::Response response = inner(request, at);
  if (IsMedia(request) || response.file || !IsJson(response)) return response;
  if (response.status >= 400) {
    if (request.Query("$.xgafv") == "1") AddOldErrors(response);
  } else if (*selection) {
    Reduce(**selection, !IsStorage(api) && request.Query("prettyPrint") != "false", response);
  }
  return response;
}

// The method of a route. Looked up when a request needs it, because parsing a description takes
// longer than starting a job.
class Described {
 public:
  explicit Described(std::string id) : id_(std::move(id)) {}
  // False for most requests to Cloud Storage, which ignores unknown parameters.
  bool IsNeededFor(const http::Request& request) const {
    if (!id_.starts_with("storage.")) return true;
    const std::string_view alt = request.Query("alt");
    const bool has_usual_alt = alt.empty() || alt == "json" || alt == "media";
    return !has_usual_alt || request.HasQuery("fields") || request.HasQuery("callback") ||
           request.HasQuery("$.xgafv");
  }
  const ApiDescription& api() const { return *ApiDescription::Of(id_); }
  const ApiMethod* method() {
    std::call_once(once_, [this] { method_ = api().Find(id_); });
    return method_;
  }

 private:
  std::string id_;
  std::once_flag once_;
  const ApiMethod* method_ = nullptr;
};

}  // namespace

std::vector<http::Route> WithStandardParameters(std::vector<http::Route> routes) {
  for (http::Route& route : routes) {
    if (!ApiDescription::Names(route.id)) continue;
    route.handler = [described = std::make_shared<Described>(route.id),
                     inner = std::move(route.handler)](const http::Request& request,
                                                       const http::PathParameters& at) {
      if (!described->IsNeededFor(request)) return inner(request, at);
      const ApiMethod* method = described->method();
      if (!method) return inner(request, at);
      const ApiDescription& api = described->api();
      if (IsStorage(api)) return Answer(api, *method, inner, request, at);
      return Answer(api, *method, inner, WithJsonNames(*method, request), at);
    };
  }
  return routes;
}

}  // namespace caip::front
