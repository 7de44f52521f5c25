#include "emulator/cli/storage/bucket_files.h"

#include <charconv>
#include <set>
#include <utility>

#include "base/encoding.h"
#include "base/json.h"
#include "emulator/cli/storage/storage_errors.h"

namespace caip::cli {
namespace {

using google::GcsUri;
using http::ClientRequest;
using http::ClientResponse;

constexpr char kWildcards[] = "*?";

std::string BucketPath(const std::string& bucket) {
  return "/storage/v1/b/" + PercentEncoded(bucket);
}

std::string ObjectPath(const GcsUri& uri) {
  return BucketPath(uri.bucket) + "/o/" + PercentEncoded(uri.object);
}

BucketFile FileOf(const std::string& bucket, const Json& resource) {
  BucketFile file{{bucket, StringOr(resource, "name")},
                  0,
                  StringOr(resource, "updated"),
                  StringOr(resource, "generation")};
  const std::string size = StringOr(resource, "size");
  std::from_chars(size.data(), size.data() + size.size(), file.bytes);
  return file;
}

ClientRequest WithoutBody(std::string method, std::string target) {
  return {.method = std::move(method), .target = std::move(target)};
}

}  // namespace

bool HasWildcard(std::string_view text) {
  return text.find_first_of(kWildcards) != std::string_view::npos;
}

// One row for each part of the pattern: whether it matches the name up to each place. Takes time in
// proportion to both lengths, whatever the pattern.
bool MatchesPattern(std::string_view name, std::string_view pattern) {
  std::vector<bool> row(name.size() + 1, false);
  row[0] = true;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const bool is_star = pattern[at] == '*';
    const bool crosses = is_star && pattern.substr(at).starts_with("**");
    at += crosses ? 1 : 0;
    std::vector<bool> next(name.size() + 1, false);
    next[0] = is_star && row[0];
    for (size_t i = 1; i <= name.size(); ++i) {
      const char c = name[i - 1];
      if (is_star) {
        next[i] = row[i] || (next[i - 1] && (crosses || c != '/'));
      } else {
        next[i] = row[i - 1] && (pattern[at] == '?' ? c != '/' : c == pattern[at]);
      }
    }
    row = std::move(next);
  }
  return row.back();
}

Result<ClientResponse> BucketFiles::Ask(const ClientRequest& request, const std::string& what,
                                        const client::BodySink& sink) {
  auto response = connection_.Send(request, sink);
  if (!response.ok() || response->status < 300) return response;
  const auto body = ParseJson(response->body);
  const Json* error = body.ok() ? Member(*body, "error") : nullptr;
  return errors::StorageRefused(what, response->status, error ? StringOr(*error, "message") : "");
}

Result<std::vector<std::string>> BucketFiles::Buckets() {
  ASSIGN_OR_RETURN(const ClientResponse response,
                   Ask(WithoutBody("GET", "/storage/v1/b?project=_"), "buckets"));
  ASSIGN_OR_RETURN(const Json body, ParseJson(response.body));
  std::vector<std::string> names;
  const Json* items = Member(body, "items");
  for (const Json& bucket : items ? *items : Json::array()) {
    names.push_back(StringOr(bucket, "name"));
  }
  return names;
}

Result<BucketListing> BucketFiles::List(const std::string& bucket, const std::string& prefix,
                                        bool deep) {
  return ListPages(bucket, "prefix=" + PercentEncoded(prefix) + (deep ? "" : "&delimiter=%2F"));
}

Result<BucketListing> BucketFiles::ListPages(const std::string& bucket, const std::string& query) {
  BucketListing all;
  std::string token;
  do {
    const std::string target = BucketPath(bucket) + "/o?" + query +
                               (token.empty() ? "" : "&pageToken=" + PercentEncoded(token));
    ASSIGN_OR_RETURN(const ClientResponse response,
                     Ask(WithoutBody("GET", target), Text(GcsUri{bucket, ""})));
    ASSIGN_OR_RETURN(const Json page, ParseJson(response.body));
    const Json* items = Member(page, "items");
    for (const Json& item : items ? *items : Json::array()) {
      all.files.push_back(FileOf(bucket, item));
    }
    const Json* folders = Member(page, "prefixes");
    for (const Json& folder : folders ? *folders : Json::array()) {
      all.folders.push_back(folder.get<std::string>());
    }
    token = StringOr(page, "nextPageToken");
  } while (!token.empty());
  return all;
}

Result<std::optional<BucketFile>> BucketFiles::Find(const GcsUri& uri) {
  const auto response = Ask(WithoutBody("GET", ObjectPath(uri)), Text(uri));
  if (!response.ok() && response.error().code == Code::kNotFound) {
    return std::optional<BucketFile>();
  }
  if (!response.ok()) return response.error();
  ASSIGN_OR_RETURN(const Json resource, ParseJson(response->body));
  return std::optional(FileOf(uri.bucket, resource));
}

Result<BucketListing> BucketFiles::Match(const GcsUri& uri) {
  BucketListing matches;
  const size_t wildcard = uri.object.find_first_of(kWildcards);
  if (wildcard == std::string::npos) {
    ASSIGN_OR_RETURN(auto found, Find(uri));
    if (found) matches.files.push_back(*std::move(found));
    return matches;
  }
  std::string_view pattern = uri.object;
  const bool wants_folders = pattern.ends_with('/');
  if (wants_folders) pattern.remove_suffix(1);
  std::set<std::string> folders;
  ASSIGN_OR_RETURN(BucketListing all, List(uri.bucket, uri.object.substr(0, wildcard), true));
  for (BucketFile& file : all.files) {
    const std::string& name = file.uri.object;
    for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
      if (MatchesPattern(name.substr(0, at), pattern)) folders.insert(name.substr(0, at + 1));
    }
    const bool is_match = !wants_folders && !name.ends_with('/') && MatchesPattern(name, pattern);
    if (is_match) matches.files.push_back(std::move(file));
  }
  matches.folders.assign(folders.begin(), folders.end());
  return matches;
}

Status BucketFiles::Read(const GcsUri& uri, const std::function<bool(std::string_view)>& take) {
  const auto response = Ask(WithoutBody("GET", ObjectPath(uri) + "?alt=media"), Text(uri), take);
  return response.ok() ? Status(Ok{}) : Status(response.error());
}

Status BucketFiles::Write(const GcsUri& uri, http::BodyReader& bytes, uint64_t size) {
  ClientRequest request =
      WithoutBody("POST", "/upload" + BucketPath(uri.bucket) +
                              "/o?uploadType=media&name=" + PercentEncoded(uri.object));
  request.headers.Set("Content-Type", "application/octet-stream");
  request.body_reader = &bytes;
  request.body_size = size;
  const auto response = Ask(request, Text(uri));
  return response.ok() ? Status(Ok{}) : Status(response.error());
}

Status BucketFiles::Copy(const GcsUri& from, const GcsUri& to) {
  const std::string target = ObjectPath(from) + "/rewriteTo/b/" + PercentEncoded(to.bucket) +
                             "/o/" + PercentEncoded(to.object);
  std::string token;
  do {
    ASSIGN_OR_RETURN(
        const ClientResponse response,
        Ask(WithoutBody("POST",
                        token.empty() ? target : target + "?rewriteToken=" + PercentEncoded(token)),
            Text(from) + " to " + Text(to)));
    ASSIGN_OR_RETURN(const Json body, ParseJson(response.body));
    token = StringOr(body, "rewriteToken");
  } while (!token.empty());
  return Ok{};
}

Status BucketFiles::Remove(const GcsUri& uri) {
  const auto response = Ask(WithoutBody("DELETE", ObjectPath(uri)), Text(uri));
  return response.ok() ? Status(Ok{}) : Status(response.error());
}

Status BucketFiles::RemoveBucket(const std::string& bucket) {
  const auto response = Ask(WithoutBody("DELETE", BucketPath(bucket)), Text(GcsUri{bucket, ""}));
  return response.ok() ? Status(Ok{}) : Status(response.error());
}

Result<size_t> BucketFiles::RemoveAllOf(const std::string& bucket) {
  ASSIGN_OR_RETURN(const BucketListing all, ListPages(bucket, "versions=true"));
  std::set<std::string> names;
  for (const BucketFile& file : all.files) {
    names.insert(file.uri.object);
    const std::string target = ObjectPath(file.uri) + "?generation=" + file.generation;
    const auto removed = Ask(WithoutBody("DELETE", target), Text(file.uri));
    const bool is_gone = !removed.ok() && removed.error().code == Code::kNotFound;
    if (!removed.ok() && !is_gone) return removed.error();
  }
  RETURN_IF_ERROR(RemoveBucket(bucket));
  return names.size();
}

}  // namespace caip::cli
