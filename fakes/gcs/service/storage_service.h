#pragma once
// Cloud Storage as typed operations: preconditions, retries of changes, copies, access lists and
// uploads over a BucketStore. The JSON and the XML API parse a request, call an operation and
// render its result.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/service/resumable.h"
#include "fakes/gcs/service/uploads.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/glob.h"

namespace caip::gcs {

/// Changes a record in memory, or refuses. It may be called again when another writer was faster.
using BucketChange = std::function<Status(Bucket*)>;
using ObjectChange = std::function<Status(ObjectInfo*)>;

/// Which buckets a page lists: those of `project` and those of no project.
struct BucketQuery {
  std::string project = {};
  std::string prefix = {};
  std::string after = {};  // the last name of the page before
  size_t limit = 1000;
};

struct BucketPage {
  std::vector<Bucket> buckets;
  std::string next;  // "" on the last page
};

/// A page of objects with the bucket whose rules they follow.
struct ObjectPage {
  Bucket bucket;
  Listing listing;
};

/// A copy. `change` applies to the source's metadata what the client sets of the target's.
struct CopyRequest {
  ObjectName source;
  Version version;
  Preconditions of_source;
  std::string source_key;  // SHA-256 of the key that opens the source, as KeyShown() gives it
  ObjectName target;
  Preconditions of_target;
  ObjectChange change;
};

/// Where a rewrite stands: `made` is set when all bytes are copied, else `token` continues it.
struct RewriteProgress {
  uint64_t rewritten = 0;
  uint64_t size = 0;
  std::string token;
  std::optional<ObjectInfo> made;
};

struct ComposeSource {
  std::string name;
  int64_t generation = 0;
  std::optional<int64_t> if_generation_match = {};
};

/// A composition of up to 32 objects of one bucket. `info` has what a client may choose.
struct ComposeRequest {
  ObjectName target;
  std::vector<ComposeSource> sources;
  ObjectInfo info;
  Preconditions preconditions;
  bool delete_sources = false;
};

/// Which soft-deleted objects a bulk restore brings back.
struct BulkRestore {
  std::vector<Glob> globs;  // none: every name
  std::optional<Instant> deleted_after;
  std::optional<Instant> deleted_before;
  bool overwrite = false;
  bool with_acl = false;
};

struct BulkRestored {
  int64_t restored = 0;
  int64_t skipped = 0;
};

/// What an IAM policy belongs to: a bucket, or one of its managed folders. One of an object is that
/// of its bucket.
struct PolicyPlace {
  std::string bucket;
  std::string object = {};
  std::string folder = {};
};

/// A name, with the "/" at its end, that an IAM policy can be given to.
struct ManagedFolder {
  std::string name;
  std::string create_time;  // RFC 3339
};

/// Sorted by name.
std::vector<ManagedFolder> ManagedFoldersOf(const Bucket& bucket);

/// Any thread. `store` must outlive it.
class StorageService {
 public:
  StorageService(BucketStore& store, uint64_t seed) : store_(store), sessions_(store, seed) {}

  // buckets.cc
  BucketPage ListBuckets(const BucketQuery& query) const;
  /// kInvalidArgument for a name against the rules, kAlreadyExists.
  Result<Bucket> CreateBucket(const Bucket& wanted);
  Result<Bucket> GetBucket(const std::string& name, const Preconditions& conditions = {}) const;
  /// Reads, changes and writes back under the metageneration conditions; again when another writer
  /// was faster. metageneration + 1, unless `counts` is false.
  Result<Bucket> ChangeBucket(const std::string& name, const Preconditions& conditions,
                              const BucketChange& change, bool counts = true);
  Result<Bucket> LockRetentionPolicy(const std::string& name, const Preconditions& conditions);
  Status DeleteBucket(const std::string& name, const Preconditions& conditions);

  // objects.cc
  /// `with_folders`: managed folders count as prefixes.
  Result<ObjectPage> ListObjects(const std::string& bucket, ListQuery query,
                                 bool with_folders = false) const;
  Result<ObjectInfo> GetObject(const ObjectName& object, const Version& version = {}) const;
  /// The object's bytes. Whoever reads them checks the key first: CheckKey().
  Result<std::shared_ptr<ObjectReader>> OpenObject(const ObjectName& object,
                                                   const Version& version = {}) const;
  /// Reads, changes and writes back. Without a metageneration condition it tries again when another
  /// writer was faster. A retention that is not locked is shortened or removed only on demand.
  Result<ObjectInfo> ChangeObject(const ObjectName& object, const Version& version,
                                  const Preconditions& conditions, const ObjectChange& change,
                                  bool may_weaken_retention = false);
  Status DeleteObject(const ObjectName& object, const Version& version,
                      const Preconditions& conditions);
  Result<ObjectInfo> MoveObject(const ObjectName& from, const std::string& to,
                                const Preconditions& of_source, const Preconditions& of_target);
  /// Brings a soft-deleted version back. It stays among the soft-deleted ones, as with the service.
  Result<ObjectInfo> Restore(const ObjectName& object, int64_t generation,
                             const Preconditions& conditions, bool with_acl);
  Result<BulkRestored> RestoreMany(const std::string& bucket, const BulkRestore& wanted);

  // writes.cc
  /// Stores the bytes up to the body's end as one object.
  Result<ObjectInfo> Insert(const UploadPlan& plan, http::BodyReader& bytes);
  /// Resumable uploads; see ResumableSessions.
  Result<std::string> StartUpload(const UploadPlan& plan);
  Result<UploadProgress> ContinueUpload(const UploadPiece& piece, http::BodyReader& bytes) {
    return sessions_.Put(piece.id, piece.range, piece.sums, bytes);
  }
  Status CancelUpload(const std::string& id) { return sessions_.Cancel(id); }
  Result<ObjectInfo> Copy(const CopyRequest& request);
  /// One step of a copy of at most `limit` bytes; "" as `token` begins. Only bytes that change
  /// their location, class or key are copied step by step; else one step does it all.
  Result<RewriteProgress> Rewrite(const CopyRequest& request, const std::string& token,
                                  std::optional<uint64_t> limit);
  Result<ObjectInfo> Compose(ComposeRequest request);

  // access.cc
  Result<AccessList> GetAccessList(const AccessListPlace& place) const;
  /// Gives the entity that role; "" takes its entry out (kNotFound where there is none).
  Status SetAccessEntry(const AccessListPlace& place, const Preconditions& conditions,
                        const AccessEntry& entry);
  /// {"bindings","version","etag"}
  Result<Json> GetIamPolicy(const PolicyPlace& place) const;
  /// kFailedPrecondition when `policy` has an etag that is not the current one.
  Result<Json> SetIamPolicy(const PolicyPlace& place, const Json& policy,
                            const Preconditions& conditions);
  /// kNotFound when the bucket or the object does not exist.
  Status CheckPolicyPlace(const PolicyPlace& place) const;

  // bucket_entries.cc
  Result<std::vector<Json>> ListNotifications(const std::string& bucket) const;
  Result<Json> GetNotification(const std::string& bucket, const std::string& id) const;
  /// `link`: the selfLink of a bucket's notifications, up to the id.
  Result<Json> InsertNotification(const std::string& bucket, Json wanted, const std::string& link,
                                  const Preconditions& conditions);
  Status DeleteNotification(const std::string& bucket, const std::string& id,
                            const Preconditions& conditions);
  /// Sorted by name.
  Result<std::vector<ManagedFolder>> ListManagedFolders(const std::string& bucket) const;
  Result<ManagedFolder> GetManagedFolder(const ObjectName& folder) const;
  Result<ManagedFolder> InsertManagedFolder(const ObjectName& folder,
                                            const Preconditions& conditions);
  /// kFailedPrecondition when objects or other folders lie in it, unless `allow_non_empty`.
  Status DeleteManagedFolder(const ObjectName& folder, const Preconditions& conditions,
                             bool allow_non_empty);

 private:
  BucketStore& store_;
  ResumableSessions sessions_;
};

}  // namespace caip::gcs
