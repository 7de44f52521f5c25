#pragma once
// Buckets as readable directories: <root>/<bucket>/<object's path> holds an object's bytes as a
// plain file (names.h), and a file put there by hand is an object. Other metadata is kept in
// <root>.db (side_store.h), which may be deleted.

#include <array>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/bucket_tree.h"
#include "fakes/gcs/store/file_sync.h"
#include "fakes/gcs/store/kept_bytes.h"
#include "fakes/gcs/store/listing.h"
#include "fakes/gcs/store/side_store.h"
#include "fakes/gcs/store/temporary_files.h"
#include "fakes/gcs/store/unsaved_changes.h"

namespace caip::gcs {

struct DirectoryStoreOptions {
  Path root;                    // "<state>/buckets"; the metadata is in "<state>/buckets.db"
  bool durable = true;          // false: a power failure may lose acknowledged writes
  bool create_buckets = false;  // the first write to a missing bucket creates it
  Path uploads = {};            // unfinished uploads; "" for "uploads" beside the root
  /// Identifies this start of the host; "" for the kernel's own identification.
  std::string boot = {};
  /// How long small objects wait for the sync of their files (file_sync.h).
  Duration sync_delay = std::chrono::seconds(30);
  Duration temporary_patience = TemporaryFiles::kPatience;
  /// Called between the steps of a commit, for tests that end the process there.
  std::function<void()> between_steps = {};
};

/// Stores each bucket as a directory. A file whose inode, size or modification time has changed
/// becomes a new generation at the next lookup. Symbolic links, devices and sockets are not
/// objects. Any thread.
class DirectoryStore final : public BucketStore {
 public:
  /// `clock` must outlive the store. Removes incomplete files that an earlier process left.
  static Result<std::unique_ptr<DirectoryStore>> Open(DirectoryStoreOptions options,
                                                      const Clock& clock);

  Instant Now() const override { return clock_.Now(); }
  /// Forgets the lists of directories that no listing has used since the last call.
  void ForgetUnusedLists() { cache_.ForgetUnused(); }
  using BucketStore::CreateBucket;
  Result<Bucket> CreateBucket(const Bucket& wanted) override;
  Result<Bucket> GetBucket(const std::string& name) const override;
  Result<Bucket> GetUnsavedBucket(const std::string& name) const override;
  Result<std::vector<Bucket>> ListBuckets() const override;
  Status DeleteBucket(const std::string& name) override;
  Result<Bucket> UpdateBucket(const Bucket& bucket) override;

  Result<std::unique_ptr<ObjectWriter>> NewObject(const std::string& bucket,
                                                  const std::string& name) override;
  Result<std::unique_ptr<ObjectWriter>> ResumeObject(const std::string& bucket,
                                                     const std::string& name,
                                                     const std::string& key) override;
  Status NoteUpload(const std::string& key, const std::string& note) override;
  Result<std::optional<std::string>> UploadNote(const std::string& key) const override;
  void ForgetUpload(const std::string& key) override;

  Result<ObjectInfo> GetObject(const std::string& bucket, const std::string& name,
                               const Version& version = {}) const override;
  Result<std::unique_ptr<ObjectReader>> OpenObject(const std::string& bucket,
                                                   const std::string& name,
                                                   const Version& version = {}) const override;
  Result<Listing> List(const std::string& bucket, const ListQuery& query) const override;
  Status DeleteObject(const std::string& bucket, const std::string& name,
                      const Preconditions& preconditions, const Version& version = {}) override;
  Status CheckDeletion(const std::string& bucket, const std::string& name,
                       const Version& version) const override;
  Result<ObjectInfo> UpdateObject(const ObjectInfo& info,
                                  const Preconditions& preconditions) override;
  Result<ObjectInfo> MoveObject(const std::string& bucket, const std::string& from,
                                const std::string& to, const Preconditions& of_source,
                                const Preconditions& of_target) override;

  /// The local path of gs://bucket/object (or of the directory of gs://bucket/prefix/), whether it
  /// exists or not: for trainers without support for gs://.
  Path PathOf(const std::string& bucket, const std::string& object) const;

 private:
  friend class DirectoryWriter;
  struct Found {
    OpenFile file;
    ObjectRecord record;
    bool staged = false;  // the lookup changed the record: flush before returning it
  };

  // The store's directories, in the order in which they are opened.
  struct Directories {
    Fd root;
    Fd temporary;  // files being written
    Fd versions;   // <bucket>/<generation>: versions that are not live
    Fd uploads;
  };
  DirectoryStore(DirectoryStoreOptions options, const Clock& clock, Directories directories,
                 std::unique_ptr<SideStore> side);

  class KeptVersion;
  class CommitNote;
  using ObjectKey = std::pair<std::string, std::string>;
  using VersionKey = std::tuple<std::string, std::string, int64_t>;  // with the generation
  // Serializes a bucket's changes, and lookups that must not see an unfinished change.
  struct BucketLock {
    std::mutex mutex;
    // Small objects that are being committed, with their records from before, if any. These agree
    // with the files until the new files are in place.
    std::map<ObjectKey, RecordPtr> placing;
    UnsavedChanges<std::string, Bucket> unsaved_buckets;  // by name
    UnsavedChanges<VersionKey, ObjectRecord> unsaved_objects;
    std::set<ObjectKey> unsynced;     // UnsyncedChange
    std::condition_variable settled;  // one of these has ended
    // The changes that wait for one of these, by the order in which they came. Updates that come
    // later wait for them: an object that is updated all the time could not be deleted otherwise.
    std::set<uint64_t> waiting;
    uint64_t changes = 0;  // that came so far
  };
  template <typename Condition>
  static void WaitForChange(BucketLock& its, std::unique_lock<std::mutex>& lock,
                            const Condition& may_begin);
  BucketLock& LockOf(const std::string& bucket) const;
  // A change of objects whose files get or lose their names, until that is on the disk. Lookups see
  // the new records at once, but no flush saves them: after a power failure, a file that has its
  // name back would not belong to its record, and would lose its metadata. Other changes of these
  // objects wait. The caller holds the bucket's lock for Begin and EndLocked, and not for End.
  class UnsyncedChange {
   public:
    UnsyncedChange(DirectoryStore& store, std::string bucket)
        : store_(store), bucket_(std::move(bucket)) {}
    ~UnsyncedChange() { End(); }
    UnsyncedChange(const UnsyncedChange&) = delete;
    UnsyncedChange& operator=(const UnsyncedChange&) = delete;
    void Begin(const std::string& name);
    void End();
    void EndLocked();

   private:
    DirectoryStore& store_;
    const std::string bucket_;
    std::vector<std::string> names_;
  };
  // Waits until none of these objects is being placed or has unsaved metadata. No names: all of the
  // bucket's objects, and its settings.
  std::unique_lock<std::mutex> LockForChange(const std::string& bucket,
                                             const std::vector<std::string>& names) const;
  // Waits until the object is not being placed, and for the changes that came earlier.
  std::unique_lock<std::mutex> LockForUpdate(const std::string& bucket,
                                             const std::string& name) const;
  // Waits until the bucket's settings are on disk, or only for the changes that came earlier.
  std::unique_lock<std::mutex> LockForSettings(const std::string& bucket) const;
  std::unique_lock<std::mutex> LockForSettingsUpdate(const std::string& bucket) const;
  // Replaces a record with unsaved metadata by the one from before. The caller holds the bucket's
  // lock.
  void ShowSaved(ObjectRecord* record) const;
  // The record of an object while it is being placed. The caller holds the bucket's lock.
  const RecordPtr* FindPlacing(const std::string& bucket, const std::string& name) const;
  Result<BucketTree> OpenBucket(const std::string& name) const;
  // kNotFound if the bucket does not exist. Opens nothing.
  Status CheckBucket(const std::string& name) const;
  Status EnsureBucket(const std::string& bucket);
  Result<Bucket> BucketRecord(const std::string& name) const;
  Result<Bucket> SavedBucket(const std::string& name) const;
  Result<BucketRules> RulesFor(const std::string& bucket) const;
  Result<Found> FindLocked(const BucketTree& tree, const std::string& name) const;
  std::optional<Found> FindUnlocked(const std::string& bucket, const std::string& name,
                                    bool unsaved) const;
  RecordPtr FindSaved(const std::string& bucket, const std::string& name) const;
  Result<std::optional<ObjectRecord>> FindVersionRecord(const std::string& bucket,
                                                        const std::string& name,
                                                        const Version& version) const;
  std::unique_ptr<ObjectReader> OpenKept(const std::string& bucket, const std::string& name) const;
  Result<Found> Find(const std::string& bucket, const std::string& name, bool hashed,
                     bool unsaved = false) const;
  Result<Found> FindVersion(const std::string& bucket, const std::string& name,
                            const Version& version) const;
  Result<Found> FindHashed(const std::string& bucket, const std::string& name, Found found) const;
  ObjectRecord Adopt(const std::string& bucket, const std::string& name, const FileIdentity& file,
                     bool stages = true) const;
  Result<std::optional<ObjectInfo>> ListedLocked(FileFinder& finder, const BucketTree& tree,
                                                 const PageEntry& entry,
                                                 std::optional<ObjectRecord> record,
                                                 bool* unhashed) const;
  Result<ObjectInfo> Commit(int directory, const std::string& temporary, ObjectInfo info,
                            const Preconditions& preconditions);
  Result<RecordPtr> PrepareCommit(const BucketTree& tree, const ObjectInfo& info,
                                  const BucketRules& rules, const Preconditions& preconditions);
  Status SaveNewBucket();
  void WithdrawNewBucket(const Bucket& refused);
  Status NoteNewFile(CommitNote& note, ObjectInfo info, const FileIdentity& file);
  Status SaveMoved(const BucketTree& tree, const std::vector<std::string>& touched,
                   UnsyncedChange& change);
  void Withdraw(const Bucket& refused);
  void Withdraw(const ObjectRecord& refused, bool is_live);
  void NoteSaved(const Bucket& bucket);
  void NoteSaved(const ObjectRecord& record);
  RecordPtr FindUnchanged(const BucketTree& tree, const std::string& name) const;

  // directory_uploads.cc. RestoreUploads and CompleteCommits are called when the store opens.
  Status NoteReceived(const std::string& key, uint64_t size) const;
  Status RestoreUploads() const;
  Status RestoreUpload(const std::string& key, const std::string& note) const;
  bool IsCompleteUpload(const std::string& key, const std::string& note) const;
  Status NoteLength(const std::string& key) const;
  Status CutUpload(const std::string& key, uint64_t size) const;
  Status NoteCommit(const std::string& key, const ObjectInfo& info, const BucketRules& rules,
                    ObjectRecord* record);
  void CompleteCommits();
  bool CompleteCommit(const Path& note);

  // A path of the open directory, which nobody can replace.
  Path TemporaryDirectoryPath() const {
    return "/proc/self/fd/" + std::to_string(directories_.temporary.get());
  }
  Status RenewTemporary();
  Result<TemporaryFiles::File> MakeTemporaryFile(const std::string& object);
  Status LinkTemporary(int file, const std::string& temporary, const std::string& object);

  // directory_small_objects.cc. RestoreCommits and RestoreSmallObjects are called when the store
  // opens.
  Status RestoreCommits();
  void RestoreCommit(ObjectRecord commit);
  Result<ObjectInfo> CommitSmall(std::string& temporary, const FileIdentity& file, ObjectInfo info,
                                 const Preconditions& preconditions, std::string bytes);
  Status PlaceSmall(BucketTree& tree, std::string& temporary, const std::string& name,
                    std::vector<std::string>* touched);
  Status RestoreSmallObjects();
  Status RestoreSmallObject(SideStore::SmallObject small);
  Status PlaceOrWithdraw(BucketTree& tree, std::string& temporary, const RecordPtr& record,
                         const RecordPtr& before, std::unique_lock<std::mutex>& lock);
  void StageBefore(const ObjectRecord& failed, const RecordPtr& before);
  Status PlaceLeftover(std::string temporary, const ObjectRecord& record);

  void Step() const {
    if (options_.between_steps) options_.between_steps();
  }
  ObjectRecord NewRecord(ObjectInfo info, const FileIdentity& file, const BucketRules& rules);

  // directory_versions.cc. The caller holds the bucket's lock, except in ClearVersions, which is
  // called when the store opens.
  void ClearVersions();
  void TakeLiveVersionsBack();
  static bool KeepsVersions(const BucketRules& rules);
  // True if the object's file is the one of its record.
  static bool IsInPlace(const BucketTree& tree, const ObjectRecord& record);
  void TakeVersionBack(const BucketTree& tree, const ObjectRecord& live);
  void RemoveVersion(const ObjectInfo& live);
  Status CheckRemoval(const Found& live, const BucketRules& rules) const;
  Status PrepareRemoval(const Found& live, const BucketRules& rules);
  Status SyncFile(const Found& found) const;
  Status KeepVersion(const Found& found, bool noncurrent, const BucketRules& rules);
  Status DeleteVersion(const std::string& bucket, const std::string& name,
                       const Preconditions& preconditions, const Version& version);
  Fd OpenVersions(const std::string& bucket) const;
  Result<Fd> MakeVersions(const std::string& bucket, const std::string& object) const;
  void ClearVersionsOf(const std::string& bucket);
  void RemoveVersionFile(const std::string& bucket, int64_t generation) const;
  void RemoveExpired();
  void ForgetVersions(const std::string& bucket);

  DirectoryStoreOptions options_;
  const Clock& clock_;
  Directories directories_;
  std::unique_ptr<SideStore> side_;
  std::unique_ptr<TemporaryFiles> temporary_files_;
  mutable DirectoryCache cache_;
  mutable KeptBytes kept_bytes_;
  mutable std::array<BucketLock, 64> locks_;
  std::unique_ptr<FileSync> file_sync_;  // the last one: its thread uses the others
};

}  // namespace caip::gcs
