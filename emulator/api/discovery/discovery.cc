#include "emulator/api/discovery/discovery.h"

#include "base/json.h"
#include "base/text.h"
#include "emulator/api/errors.h"
#include "emulator/api/json_messages.h"

namespace caip::api {
namespace {

constexpr const char* kScope = "https://www.googleapis.com/auth/cloud-platform";

std::string RootUrl(const http::Request& request) { return request.BaseUrl() + "/"; }

Json MediaUpload(const ApiDescription& api, const ApiMethod& method) {
  const std::string path = "upload/" + api.service_path() + method.path;
  return {{"accept", {"*/*"}},
          {"protocols",
           {{"simple", {{"multipart", true}, {"path", "/" + path}}},
            {"resumable", {{"multipart", true}, {"path", "/resumable/" + path}}}}}};
}

Json MethodJson(const ApiDescription& api, const ApiMethod& method) {
  Json json = {{"id", method.id}, {"path", method.path}};
  if (!method.flat_path.empty()) json["flatPath"] = method.flat_path;
  json["httpMethod"] = method.http_method;
  Json parameters = Json::object();
  Json order = Json::array();
  for (const ApiParameter& parameter : method.parameters) {
    parameters[parameter.name] = parameter.schema;
    if (parameter.schema.contains("required")) order.push_back(parameter.name);
  }
  json["parameters"] = std::move(parameters);
  json["parameterOrder"] = std::move(order);
  if (!method.request.empty()) json["request"] = {{"$ref", method.request}};
  if (!method.response.empty()) json["response"] = {{"$ref", method.response}};
  json["scopes"] = {kScope};
  if (method.media_upload) {
    json["supportsMediaUpload"] = true;
    json["mediaUpload"] = MediaUpload(api, method);
  }
  if (method.media_download) {
    json["supportsMediaDownload"] = true;
    json["useMediaDownloadService"] = true;
  }
  return json;
}

// "ml.projects.jobs.get" is method "get" of resource "jobs" of resource "projects".
void PutMethod(Json& document, const ApiDescription& api, const ApiMethod& method) {
  const std::vector<std::string> words = Split(method.id, '.');
  Json* place = &document;
  for (size_t i = 1; i + 1 < words.size(); ++i) place = &(*place)["resources"][words[i]];
  (*place)["methods"][words.back()] = MethodJson(api, method);
}

std::string RestPath(const ApiDescription& api) {
  return "discovery/v1/apis/" + api.name() + "/" + api.version() + "/rest";
}

Json DirectoryItem(const ApiDescription& api, const std::string& root_url) {
  return {{"kind", "discovery#directoryItem"},
          {"id", api.name() + ":" + api.version()},
          {"name", api.name()},
          {"version", api.version()},
          {"title", api.title()},
          {"discoveryRestUrl", root_url + RestPath(api)},
          {"discoveryLink", "./apis/" + api.name() + "/" + api.version() + "/rest"},
          {"preferred", api.IsStable()}};
}

// GET /discovery/v1/apis
Json Directory(const http::Request& request) {
  Json items = Json::array();
  for (const ApiDescription* api : ApiDescription::All()) {
    const std::string_view name = request.Query("name");
    if (name.empty() || name == api->name()) items.push_back(DirectoryItem(*api, RootUrl(request)));
  }
  Json directory = {{"kind", "discovery#directoryList"}, {"discoveryVersion", "v1"}};
  if (!items.empty()) directory["items"] = std::move(items);
  return directory;
}

const ApiDescription* FindApi(std::string_view name, std::string_view version) {
  for (const ApiDescription* api : ApiDescription::All()) {
    if (api->name() == name && api->version() == version) return api;
  }
  return nullptr;
}

// The API of /$discovery/rest: the Host "storage.googleapis.com" selects storage, and
// "REGION-ml.googleapis.com" ml; else the version decides.
const ApiDescription* SelectApi(const http::Request& request) {
  const std::string_view version = request.Query("version");
  bool is_named = false;
  for (const ApiDescription* api : ApiDescription::All()) {
    const size_t at = request.host.find(api->name() + ".googleapis.com");
    const bool is_regional = at != std::string::npos && at > 0 && request.host[at - 1] == '-';
    if (at != 0 && !is_regional) continue;
    if (version.empty() || version == api->version()) return api;
    is_named = true;
  }
  if (is_named) return nullptr;
  for (const ApiDescription* api : ApiDescription::All()) {
    if (version.empty() || version == api->version()) return api;
  }
  return nullptr;
}

Json RouteJson(const http::Route& route) {
  return {{"id", route.id},
          {"method", route.method},
          {"pattern", route.pattern},
          {"emulated", route.emulated}};
}

}  // namespace

Json DiscoveryDocument(const ApiDescription& api, const std::set<std::string>& served,
                       const std::string& root_url) {
  const std::string& path = api.service_path();
  Json document = {{"kind", "discovery#restDescription"},
                   {"discoveryVersion", "v1"},
                   {"id", api.name() + ":" + api.version()},
                   {"name", api.name()},
                   {"version", api.version()},
                   {"title", api.title()},
                   {"description", api.title() + ", as caip serves it."},
                   {"protocol", "rest"},
                   {"rootUrl", root_url},
                   {"servicePath", path},
                   {"baseUrl", root_url + path},
                   {"basePath", path.empty() ? "" : "/" + path},
                   {"batchPath", path.empty() ? "batch" : "batch/storage/v1"},
                   {"ownerDomain", "google.com"},
                   {"ownerName", "Google"},
                   {"fullyEncodeReservedExpansion", true},
                   {"auth", {{"oauth2", {{"scopes", {{kScope, {{"description", "All data"}}}}}}}}},
                   {"parameters", StandardParameterSchemas()},
                   {"schemas", api.schemas()},
                   {"resources", Json::object()}};
  for (const ApiMethod& method : api.methods()) {
    if (served.contains(method.id)) PutMethod(document, api, method);
  }
  return document;
}

std::vector<http::Route> DiscoveryRoutes(const http::Router& router) {
  const auto answer = [&router](const http::Request& request, const ApiDescription* api,
                                std::string_view asked) {
    if (!api) return ErrorResponse(errors::ApiUnknown(asked));
    std::set<std::string> served;
    for (const http::Route& route : router.routes()) served.insert(route.id);
    return Respond(request, DiscoveryDocument(*api, served, RootUrl(request)));
  };
  return {
      {"GET", "/discovery/v1/apis", "discovery.apis.list",
       [](const http::Request& request, const http::PathParameters&) {
         return Respond(request, Directory(request));
       }},
      {"GET", "/discovery/v1/apis/{api}/{version}/rest", "discovery.apis.getRest",
       [answer](const http::Request& request, const http::PathParameters& at) {
         const std::string& api = at.At("api");
         const std::string& version = at.At("version");
         return answer(request, FindApi(api, version), api + " " + version);
       }},
      {"GET", "/$discovery/rest", "discovery.rest",
       [answer](const http::Request& request, const http::PathParameters&) {
         return answer(request, SelectApi(request), request.Query("version"));
       }},
  };
}

http::Route RouteListRoute(const http::Router& router) {
  return {"GET", "/emulator/v1/routes", "emulator.routes",
          [&router](const http::Request& request, const http::PathParameters&) {
            Json shown = Json::array();
            for (const http::Route& route : router.routes()) shown.push_back(RouteJson(route));
            return Respond(request, Json{{"routes", std::move(shown)}});
          }};
}

}  // namespace caip::api
