#pragma once
// Cloud Storage as typed operations: preconditions, retries of changes, copies, access lists and
// uploads over a BucketStore. The JSON and the XML API parse a request, call an operation and
// render its result.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/service/stored_settings.h"
#include "fakes/gcs/service/uploads.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/glob.h"

namespace caip::gcs {

/// Changes a record in memory, or returns an error. Called again if another writer changed the
/// record meanwhile.
using BucketChange = std::function<Status(Bucket*)>;
using ObjectChange = std::function<Status(ObjectInfo*)>;

/// Selects the buckets of a page: those of `project` and those of no project.
struct BucketQuery {
  std::string project = {};
  std::string prefix = {};
  std::string after = {};  // the last name of the previous page
  size_t limit = 1000;
};

struct BucketPage {
  std::vector<Bucket> buckets;
  std::string next;  // "" on the last page
};

/// A page of objects, and their bucket.
struct ObjectPage {
  Bucket bucket;
  Listing listing;
};

/// Describes a copy. `change` turns the source's metadata into the target's.
struct CopyRequest {
  ObjectName source;
  Version version;
  Preconditions of_source;
  std::string source_key;  // of the source's key, see CustomerKeySha256()
  ObjectName target;
  Preconditions of_target;
  ObjectChange change;
};

/// The state of a rewrite: `made` is set when all bytes are copied, else `token` continues it.
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

/// Describes a composition of up to 32 objects of one bucket. `info` has the client's fields.
struct ComposeRequest {
  ObjectName target;
  std::vector<ComposeSource> sources;
  ObjectInfo info;
  Preconditions preconditions;
  bool delete_sources = false;
};

/// Selects the soft-deleted objects that a bulk restore restores.
struct BulkRestore {
  std::vector<Glob> globs;  // empty: every name
  std::optional<Instant> deleted_after;
  std::optional<Instant> deleted_before;
  bool overwrite = false;
  bool with_acl = false;
};

struct BulkRestored {
  int64_t restored = 0;
  int64_t skipped = 0;
};

/// The resource of an IAM policy: a bucket, one of its managed folders, or an object.
struct PolicyPlace {
  std::string bucket;
  std::string object = {};
  std::string folder = {};
  Version version = {};  // of the object
};

/// A name prefix that ends in "/" and can have an IAM policy.
struct ManagedFolder {
  std::string name;
  std::string create_time;  // RFC 3339
  std::string update_time;  // when its IAM policy changed last
  /// Counts changes of its metadata, which no served method changes.
  static constexpr int64_t kMetageneration = 1;
};

/// Sorted by name.
std::vector<ManagedFolder> ManagedFoldersOf(const Bucket& bucket);

/// Implements the operations of Cloud Storage on buckets and objects. Any thread. `store` must
/// outlive it.
class StorageService {
 public:
  /// `project_number`: of every project. `warn` receives texts for the emulator's log.
  StorageService(BucketStore& store, uint64_t seed, std::string project_number,
                 StoredSettings::Warn warn = {})
      : store_(store),
        sessions_(store, seed),
        project_number_(std::move(project_number)),
        stored_settings_(std::move(warn)) {}

  const std::string& project_number() const { return project_number_; }

  // buckets.cc
  Result<BucketPage> ListBuckets(const BucketQuery& query) const;
  /// kInvalidArgument for an invalid name; kAlreadyExists.
  Result<Bucket> CreateBucket(const Bucket& wanted);
  Result<Bucket> GetBucket(const std::string& name, const Preconditions& conditions = {}) const;
  /// Reads, changes and writes back under the metageneration conditions. Tries again if another
  /// writer changed the bucket meanwhile. Increments the metageneration unless `counts` is false.
  Result<Bucket> ChangeBucket(const std::string& name, const Preconditions& conditions,
                              const BucketChange& change, bool counts = true);
  Result<Bucket> LockRetentionPolicy(const std::string& name, const Preconditions& conditions);
  Status DeleteBucket(const std::string& name, const Preconditions& conditions);

  // objects.cc
  /// `with_folders`: also lists managed folders as prefixes.
  Result<ObjectPage> ListObjects(const std::string& bucket, ListQuery query,
                                 bool with_folders = false) const;
  Result<ObjectInfo> GetObject(const ObjectName& object, const Version& version = {}) const;
  /// Opens the object's bytes. Callers must call CheckKey() before they read.
  Result<std::shared_ptr<ObjectReader>> OpenObject(const ObjectName& object,
                                                   const Version& version = {}) const;
  /// Reads, changes and writes back. Tries again if another writer changed the object meanwhile,
  /// unless there is a metageneration condition. Weakens an unlocked retention only if
  /// `may_weaken_retention` is set.
  Result<ObjectInfo> ChangeObject(const ObjectName& object, const Version& version,
                                  const Preconditions& conditions, const ObjectChange& change,
                                  bool may_weaken_retention = false);
  Status DeleteObject(const ObjectName& object, const Version& version,
                      const Preconditions& conditions);
  Result<ObjectInfo> MoveObject(const ObjectName& from, const std::string& to,
                                const Preconditions& of_source, const Preconditions& of_target);
  /// Restores a soft-deleted version. The version stays soft-deleted, as in the real service.
  Result<ObjectInfo> Restore(const ObjectName& object, int64_t generation,
                             const Preconditions& conditions, bool with_acl);
  Result<BulkRestored> RestoreMany(const std::string& bucket, const BulkRestore& wanted);

  // objects.cc: writing
  /// Stores the bytes up to the body's end as one object.
  Result<ObjectInfo> Insert(const UploadPlan& plan, http::BodyReader& bytes);
  /// The same, but only once for each `key` (hexadecimal digits): a call that repeats an earlier
  /// one, whose answer was lost, returns the object that the earlier one made.
  Result<ObjectInfo> InsertOnce(const UploadPlan& plan, http::BodyReader& bytes,
                                const std::string& key);
  /// True if InsertOnce has begun to make an object for the key, or has made one.
  Result<bool> HasInserted(const std::string& key) const;
  /// True if this object is the one that InsertOnce has made for the key.
  Result<bool> IsInserted(const ObjectName& object, const std::string& key) const;
  /// Resumable uploads; see ResumableSessions.
  Result<std::string> StartUpload(const UploadPlan& plan);
  Result<UploadProgress> ContinueUpload(const UploadPiece& piece, http::BodyReader& bytes) {
    return sessions_.Put(piece.id, piece.range, piece.sums, bytes);
  }
  Status CancelUpload(const std::string& id) { return sessions_.Cancel(id); }
  Result<ObjectInfo> Copy(const CopyRequest& request);
  /// Copies at most `limit` more bytes; the first call has the token "". Only copies to another
  /// location, storage class or key take several steps.
  Result<RewriteProgress> Rewrite(const CopyRequest& request, const std::string& token,
                                  std::optional<uint64_t> limit);
  Result<ObjectInfo> Compose(ComposeRequest request);

  // access_lists.cc
  Result<AccessList> GetAccessList(const AccessListPlace& place) const;
  /// Gives the entity that role; "" removes its entry (kNotFound if it has none).
  Status SetAccessEntry(const AccessListPlace& place, const Preconditions& conditions,
                        const AccessEntry& entry);
  /// kInvalidArgument if the new object has a list in a bucket with uniform access, or a retention
  /// in a bucket that is made for none.
  Status CheckNewObject(const ObjectInfo& info) const;
  Status CheckMayRetain(const ObjectInfo& info) const;
  Status CheckObjectList(const ObjectInfo& info, errors::ListUse use) const;

  // policies.cc
  /// {"bindings","version","etag"}. An object's policy is its access control list in other words
  /// (object_policies.h): kInvalidArgument in a bucket with uniform access.
  Result<Json> GetIamPolicy(const PolicyPlace& place) const;
  /// kFailedPrecondition when `policy` has an etag that is not the current one.
  Result<Json> SetIamPolicy(const PolicyPlace& place, const Json& body,
                            const Preconditions& conditions);
  /// kNotFound when the bucket, the managed folder or the object does not exist.
  Status CheckPolicyPlace(const PolicyPlace& place) const;

  // buckets.cc: notifications and managed folders of a bucket
  Result<std::vector<Json>> ListNotifications(const std::string& bucket) const;
  Result<Json> GetNotification(const std::string& bucket, const std::string& id) const;
  /// `link`: the notification's selfLink without its id.
  Result<Json> InsertNotification(const std::string& bucket, const Json& body,
                                  const std::string& link, const Preconditions& conditions);
  Status DeleteNotification(const std::string& bucket, const std::string& id,
                            const Preconditions& conditions);
  /// Sorted by name.
  Result<std::vector<ManagedFolder>> ListManagedFolders(const std::string& bucket) const;
  Result<ManagedFolder> GetManagedFolder(const ObjectName& folder) const;
  /// kInvalidArgument for an invalid name; kFailedPrecondition unless the bucket has uniform
  /// bucket-level access; kAlreadyExists.
  Result<ManagedFolder> InsertManagedFolder(const ObjectName& folder);
  /// kFailedPrecondition if it holds objects or other folders, unless `allow_non_empty`.
  Status DeleteManagedFolder(const ObjectName& folder, const Preconditions& conditions,
                             bool allow_non_empty);

 private:
  Result<Bucket> CheckedBucket(Bucket stored, const Preconditions& conditions) const;
  Result<Json> GetObjectPolicy(const PolicyPlace& place) const;
  Result<Json> SetObjectPolicy(const PolicyPlace& place, const Json& policy,
                               const Preconditions& conditions);

  BucketStore& store_;
  ResumableSessions sessions_;
  std::string project_number_;
  mutable StoredSettings stored_settings_;
  std::mutex inserting_mutex_;
  std::set<std::string> inserting_;  // keys of InsertOnce; guarded by inserting_mutex_
};

}  // namespace caip::gcs
