#pragma once
// Objects of the emulator's buckets, for `caip ls`, `cp`, `cat` and `rm`.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/connection.h"
#include "google/gcs_uri.h"
#include "http/message.h"

namespace caip::cli {

struct BucketFile {
  google::GcsUri uri;
  uint64_t bytes = 0;
  std::string updated = {};     // RFC 3339
  std::string generation = {};  // a number
};

/// What is below a prefix, in the order of names.
struct BucketListing {
  std::vector<BucketFile> files;
  std::vector<std::string> folders;  // "logs/": what is before the next slash
};

/// Calls of Cloud Storage's JSON API. Errors have texts for users, with the URI. One thread.
class BucketFiles {
 public:
  explicit BucketFiles(client::Connection& connection) : connection_(connection) {}

  Result<std::vector<std::string>> Buckets();
  /// `deep`: all objects whose names begin with the prefix. Otherwise names that have a slash after
  /// the prefix are folders. kNotFound: there is no such bucket.
  Result<BucketListing> List(const std::string& bucket, const std::string& prefix, bool deep);
  /// nullopt: there is no such object.
  Result<std::optional<BucketFile>> Find(const google::GcsUri& uri);
  /// The objects and folders that a URI with * (not /), ** (also /) or ? in its object name
  /// matches; without them the object of that name. Both empty: none.
  Result<BucketListing> Match(const google::GcsUri& uri);

  /// Gives the object's bytes to `take`, piece by piece, until it returns false.
  Status Read(const google::GcsUri& uri, const std::function<bool(std::string_view)>& take);
  Status Write(const google::GcsUri& uri, http::BodyReader& bytes, uint64_t size);
  Status Copy(const google::GcsUri& from, const google::GcsUri& to);
  Status Remove(const google::GcsUri& uri);
  /// kFailedPrecondition: it has objects.
  Status RemoveBucket(const std::string& bucket);
  /// Removes all versions of all objects, and the bucket. Returns how many objects it had.
  Result<size_t> RemoveAllOf(const std::string& bucket);

 private:
  Result<BucketListing> ListPages(const std::string& bucket, const std::string& query);
  Result<http::ClientResponse> Ask(const http::ClientRequest& request, const std::string& what,
                                   const client::BodySink& sink = nullptr);

  client::Connection& connection_;
};

bool HasWildcard(std::string_view text);
/// Whether the name matches the pattern: * any characters but a slash, ** any characters, ? one
/// character but a slash.
bool MatchesPattern(std::string_view name, std::string_view pattern);

}  // namespace caip::cli
