#include "fakes/registry/registry_api.h"

#include "base/text.h"
#include "fakes/registry/errors.h"
#include "fakes/registry/methods.h"

namespace caip::registry {
namespace {

struct Served {
  const char* verb;
  const char* pattern;
  const char* id;
  Method method;
};

constexpr Served kServed[] = {
    {"GET", "/v2", "registry.check", CheckVersion},
    {"GET", "/v2/", "registry.check", CheckVersion},
    {"GET", "/v2/token", "registry.token", GetToken},
    {"POST", "/v2/token", "registry.token", GetToken},
    {"GET", "/v2/_catalog", "registry.repositories.list", ListRepositories},
    {"GET", "/v2/{name...}/tags/list", "registry.tags.list", ListTags},
    {"GET", "/v2/{name...}/manifests/{reference}", "registry.manifests.get", GetManifest},
    {"PUT", "/v2/{name...}/manifests/{reference}", "registry.manifests.put", PutManifest},
    {"DELETE", "/v2/{name...}/manifests/{reference}", "registry.manifests.delete", DeleteManifest},
    {"GET", "/v2/{name...}/referrers/{digest}", "registry.referrers.list", ListReferrers},
    {"GET", "/v2/{name...}/blobs/{digest}", "registry.blobs.get", GetBlob},
    {"DELETE", "/v2/{name...}/blobs/{digest}", "registry.blobs.delete", DeleteBlob},
    {"POST", "/v2/{name...}/blobs/uploads", "registry.uploads.start", StartUpload},
    {"POST", "/v2/{name...}/blobs/uploads/", "registry.uploads.start", StartUpload},
    {"GET", "/v2/{name...}/blobs/uploads/{upload}", "registry.uploads.get", GetUpload},
    {"PATCH", "/v2/{name...}/blobs/uploads/{upload}", "registry.uploads.patch", PatchUpload},
    {"PUT", "/v2/{name...}/blobs/uploads/{upload}", "registry.uploads.put", PutUpload},
    {"DELETE", "/v2/{name...}/blobs/uploads/{upload}", "registry.uploads.delete", DeleteUpload},
};

// Clients of Docker's registry look for this field.
Response WithVersion(Response response) {
  response.headers.Set("Docker-Distribution-Api-Version", "registry/2.0");
  return response;
}

Result<Response> CallMethod(Method method, const RegistrySource& source, const Request& request,
                            const PathParameters& path) {
  ASSIGN_OR_RETURN(Registry * registry, source());
  return method(*registry, request, path);
}

}  // namespace

std::vector<http::Route> RegistryRoutes(RegistrySource source) {
  std::vector<http::Route> routes;
  for (const Served& served : kServed) {
    const auto handler = [source, method = served.method](const Request& request,
                                                          const PathParameters& path) {
      auto response = CallMethod(method, source, request, path);
      return WithVersion(response.ok() ? std::move(*response)
                                       : errors::ToResponse(response.error()));
    };
    routes.push_back({served.verb, served.pattern, served.id, handler});
  }
  return routes;
}

bool IsRegistryPath(std::string_view path) {
  if (path == "/v2" || path == "/v2/" || path == "/v2/token" || path == "/v2/_catalog") return true;
  if (!path.starts_with("/v2/")) return false;
  if (path.ends_with("/tags/list")) return true;
  for (const std::string_view part : {"/manifests/", "/blobs/", "/referrers/"}) {
    if (path.find(part, 4) != path.npos) return true;
  }
  return false;
}

http::Response NoRegistryRoute(int status, const http::Request& request, const std::string& allow) {
  return WithVersion(errors::ToResponse(status == 405
                                            ? errors::MethodUnsupported(request.method, allow)
                                            : errors::PathUnknown(request.path)));
}

Result<Repository> RepositoryIn(const Request& request, const PathParameters& path) {
  return FindRepository(request.host, path.At("name"));
}

std::string PathOf(const Repository& repository) { return "/v2/" + repository.shown; }

Response EmptyResponse(int status) {
  Response response;
  response.status = status;
  return response;
}

void ForbidActingAsPage(Response* response) {
  response->headers.Set("X-Content-Type-Options", "nosniff");
  response->headers.Set("Content-Security-Policy", "sandbox");
}

}  // namespace caip::registry
