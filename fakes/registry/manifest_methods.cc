// Methods of manifests. A manifest is returned with exactly the bytes and the type of its push.

#include <algorithm>

#include "base/text.h"
#include "fakes/registry/errors.h"
#include "fakes/registry/methods.h"

namespace caip::registry {
namespace {

bool AcceptsType(std::string_view field, std::string_view type) {
  for (const std::string& item : Split(field, ',')) {
    const std::string accepted = LowerCase(Trim(std::string_view(item).substr(0, item.find(';'))));
    if (accepted == type || accepted == "*/*" || accepted == "application/*") return true;
  }
  return false;
}

// A client without the field accepts every type. Docker's registry also answers 404 to a client
// that accepts only other types.
bool IsAccepted(const Request& request, std::string_view type) {
  bool has_field = false;
  for (const auto& [name, value] : request.headers.all()) {
    if (!http::IsSameFieldName(name, "Accept")) continue;
    if (AcceptsType(value, type)) return true;
    has_field = true;
  }
  return !has_field;
}

Response RenderManifest(StoredManifest stored) {
  Response response = EmptyResponse(200);
  response.headers.Add("Content-Type", stored.media_type);
  response.headers.Add("Docker-Content-Digest", stored.digest.text());
  response.headers.Add("ETag", "\"" + stored.digest.text() + "\"");
  ForbidActingAsPage(&response);
  response.body = std::move(stored.bytes);
  return response;
}

Result<std::string> ReadManifestBody(const Request& request) {
  auto bytes = request.ReadBody(images::kManifestBytesMax);
  if (bytes.ok() || bytes.error().code != Code::kResourceExhausted) return bytes;
  return errors::ManifestTooLarge(images::kManifestBytesMax);
}

std::vector<std::string> TagsOf(const Request& request) {
  std::vector<std::string> tags;
  for (const auto& [name, value] : request.query) {
    if (name == "tag") tags.push_back(value);
  }
  return tags;
}

}  // namespace

Result<Response> GetManifest(Registry& registry, const Request& request,
                             const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository in, RepositoryIn(request, path));
  ASSIGN_OR_RETURN(StoredManifest stored, registry.FindManifest(in, path.At("reference")));
  if (!IsAccepted(request, stored.media_type)) {
    return errors::ManifestNotAccepted(stored.media_type);
  }
  return RenderManifest(std::move(stored));
}

Result<Response> PutManifest(Registry& registry, const Request& request,
                             const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository in, RepositoryIn(request, path));
  ASSIGN_OR_RETURN(const std::string bytes, ReadManifestBody(request));
  const std::vector<std::string> tags = TagsOf(request);
  ASSIGN_OR_RETURN(const PushResult pushed,
                   registry.PutManifest(in, path.At("reference"), tags,
                                        request.headers.Get("Content-Type"), bytes));
  Response response = EmptyResponse(201);
  response.headers.Add("Location", PathOf(in) + "/manifests/" + pushed.digest.text());
  response.headers.Add("Docker-Content-Digest", pushed.digest.text());
  if (pushed.subject) response.headers.Add("OCI-Subject", pushed.subject->text());
  for (const std::string& tag : tags) response.headers.Add("OCI-Tag", tag);
  return response;
}

Result<Response> DeleteManifest(Registry& registry, const Request& request,
                                const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository in, RepositoryIn(request, path));
  RETURN_IF_ERROR(registry.RemoveManifest(in, path.At("reference")));
  return EmptyResponse(202);
}

}  // namespace caip::registry
