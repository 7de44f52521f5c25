// Methods that list: the version check, tokens, repositories, tags and referrers.

#include <charconv>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "fakes/registry/errors.h"
#include "fakes/registry/methods.h"
#include "http/credentials.h"

namespace caip::registry {
namespace {

constexpr int kTokenSeconds = 3600;

Response JsonOf(const Json& json, const char* type = "application/json") {
  Response response = http::JsonResponse(200, CompactJson(json));
  response.headers.Set("Content-Type", type);
  return response;
}

Result<Page> ReadPage(const Request& request) {
  Page page;
  page.last = std::string(request.Query("last"));
  if (!request.HasQuery("n")) return page;
  const std::string_view text = request.Query("n");
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (!IsDigits(text) || error != std::errc()) return errors::CountInvalid(text);
  page.count = count;
  return page;
}

// The link to the next page (RFC 8288).
void AddNextLink(const Request& request, const Page& page, const Listed& listed,
                 Response* response) {
  if (!listed.has_more) return;
  response->headers.Add("Link", "<" + request.path + "?n=" + std::to_string(*page.count) +
                                    "&last=" + PercentEncoded(listed.items.back()) +
                                    ">; rel=\"next\"");
}

// The page of referrers begins after this one.
Result<std::optional<images::Digest>> ReadLastDigest(const Request& request) {
  if (!request.HasQuery("last")) return std::optional<images::Digest>();
  ASSIGN_OR_RETURN(const images::Digest last, images::Digest::Parse(request.Query("last")));
  return std::optional<images::Digest>(last);
}

void AddNextReferrers(const Request& request, const std::optional<std::string>& type,
                      const ListedReferrers& listed, Response* response) {
  if (!listed.next) return;
  const std::string filter = type ? "artifactType=" + PercentEncoded(*type) + "&" : "";
  response->headers.Add("Link", "<" + request.path + "?" + filter + "last=" +
                                    PercentEncoded(listed.next->text()) + ">; rel=\"next\"");
}

}  // namespace

Result<Response> CheckVersion(Registry&, const Request&, const PathParameters&) {
  return JsonOf(Json::object());
}

// The endpoint of gcr.io that gives tokens for other credentials. The server has admitted the
// client, so its own credentials are good enough.
Result<Response> GetToken(Registry&, const Request& request, const PathParameters&) {
  const http::Credentials shown = http::CredentialsOf(request);
  const std::string token = shown.token.empty() ? "anonymous" : shown.token;
  return JsonOf({{"token", token}, {"access_token", token}, {"expires_in", kTokenSeconds}});
}

Result<Response> ListRepositories(Registry& registry, const Request& request,
                                  const PathParameters&) {
  ASSIGN_OR_RETURN(const Page page, ReadPage(request));
  ASSIGN_OR_RETURN(const Listed listed, registry.Repositories(request.host, page));
  Response response = JsonOf({{"repositories", listed.items}});
  AddNextLink(request, page, listed, &response);
  return response;
}

Result<Response> ListTags(Registry& registry, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository in, RepositoryIn(request, path));
  ASSIGN_OR_RETURN(const Page page, ReadPage(request));
  ASSIGN_OR_RETURN(const Listed listed, registry.Tags(in, page));
  Response response = JsonOf({{"name", in.shown}, {"tags", listed.items}});
  AddNextLink(request, page, listed, &response);
  return response;
}

Result<Response> ListReferrers(Registry& registry, const Request& request,
                               const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository in, RepositoryIn(request, path));
  ASSIGN_OR_RETURN(const images::Digest subject, images::Digest::Parse(path.At("digest")));
  std::optional<std::string> type;
  if (request.HasQuery("artifactType")) type = std::string(request.Query("artifactType"));
  ASSIGN_OR_RETURN(const auto last, ReadLastDigest(request));
  ASSIGN_OR_RETURN(const ListedReferrers listed, registry.Referrers(in, subject, type, last));
  Response response = JsonOf(listed.index, images::kOciIndex);
  if (type) response.headers.Add("OCI-Filters-Applied", "artifactType");
  AddNextReferrers(request, type, listed, &response);
  return response;
}

}  // namespace caip::registry
