#pragma once
// The names of images in SQLite: which manifest a tag means, which manifests a repository has, and
// which blobs it may use. The bytes of manifests are blobs. See image_names.cc for the schema.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "images/digest.h"

namespace caip::images {

/// A manifest or an index of a repository.
struct ManifestRecord {
  Digest digest;
  std::string media_type;
  /// The manifest that this one describes ("subject"), such as the image of a signature.
  std::optional<Digest> subject = {};
  /// The blobs and manifests that it names. A search leaves them out: see Parts().
  std::vector<Digest> parts = {};
};

/// A tag of a repository, or a manifest that has none.
struct ImageName {
  std::string repository;  // "gcr.io/project/image"
  std::string tag;         // "latest"; "" for a manifest without a tag
  Digest digest;
  std::string media_type;

  /// The shortest name that means it, with the tag or, without one, the digest.
  std::string text() const;
};

/// The schema of the file (PRAGMA user_version).
inline constexpr int64_t kImageNamesVersion = 1;

/// A table of names on one file. Any thread, and several processes on one file. A change that
/// returned survives a power cut.
class ImageNames {
 public:
  /// Makes the file if it is missing. kDataLoss: the file is not such a table, or a newer caip
  /// made it.
  static Result<std::unique_ptr<ImageNames>> Open(const Path& file);

  /// Adds the manifest to the repository, and lets the tag mean it from now on.
  Status Set(const std::string& repository, const std::string& tag, const ManifestRecord& manifest);
  /// The same for an image with all its manifests, its own first, and blobs: the repository may use
  /// them from now on. All of it happens, or nothing.
  Status SetImage(const std::string& repository, const std::string& tag,
                  const std::vector<ManifestRecord>& manifests, const std::vector<Digest>& blobs);
  /// kNotFound, with the reason "nameUnknown", for an unknown tag.
  Result<ImageName> Find(const std::string& repository, const std::string& tag);
  /// The tags of a repository, sorted by bytes.
  Result<std::vector<ImageName>> List(const std::string& repository);
  /// All tags, sorted by repository and tag.
  Result<std::vector<ImageName>> ListAll();
  /// The manifests that no tag means, sorted by repository and digest.
  Result<std::vector<ImageName>> ListUntagged();
  /// Removes a tag. Its manifest stays in the repository. kNotFound as Find.
  Status Remove(const std::string& repository, const std::string& tag);

  /// Adds a manifest, and lets the tags mean it from now on: all of it happens, or nothing.
  /// Replaces the media type and the subject of a known one.
  Status AddManifest(const std::string& repository, const ManifestRecord& manifest,
                     const std::vector<std::string>& tags = {});
  /// kNotFound, with the reason "manifestUnknown", for an unknown one.
  Result<ManifestRecord> FindManifest(const std::string& repository, const Digest& digest);
  Result<std::vector<ManifestRecord>> Manifests(const std::string& repository);
  /// The manifests of the repository whose subject is `subject`, sorted by digest.
  Result<std::vector<ManifestRecord>> Referrers(const std::string& repository,
                                                const Digest& subject);
  /// Removes the manifest and all tags that mean it. kNotFound as FindManifest.
  Status RemoveManifest(const std::string& repository, const Digest& digest);
  /// Removes manifests with all their tags, and links to blobs: all of it happens, or nothing. What
  /// is missing is not an error.
  Status Forget(const std::string& repository, const std::vector<Digest>& manifests,
                const std::vector<Digest>& blobs);
  /// What a manifest names, as it was added to any repository. So a manifest whose bytes are
  /// damaged can be removed with its blobs.
  Result<std::vector<Digest>> Parts(const Digest& manifest);
  /// Adds the parts of a manifest that has none yet.
  Status SetParts(const Digest& manifest, const std::vector<Digest>& parts);
  /// The manifests without parts: those that an earlier version has added, and empty indexes.
  Result<std::vector<Digest>> ManifestsWithoutParts();
  /// The repositories that have a manifest, a tag or a blob, sorted.
  Result<std::vector<std::string>> Repositories();

  /// Lets the repository use the blob. A known link is kept.
  Status Link(const std::string& repository, const Digest& blob);
  Result<bool> IsLinked(const std::string& repository, const Digest& blob);
  /// A missing link is not an error.
  Status Unlink(const std::string& repository, const Digest& blob);
  /// The blobs that the repository may use, sorted.
  Result<std::vector<Digest>> Links(const std::string& repository);

 private:
  using Values = std::vector<std::string>;

  explicit ImageNames(const Path& file);
  Status OpenTables();
  // Both want the lock. Each value is a text.
  Status Change(const char* sql, const Values& values);
  Result<std::vector<Values>> Select(const char* sql, const Values& values, int columns);
  Status Transact(const std::vector<std::pair<const char*, Values>>& changes);
  Result<std::vector<ImageName>> SelectNames(const char* sql, const Values& values);
  Result<std::vector<ManifestRecord>> SelectManifests(const char* sql, const Values& values);
  Result<std::vector<Digest>> SelectDigests(const char* sql, const Values& values);

  std::mutex mutex_;
  SqliteDatabase database_;
};

}  // namespace caip::images
