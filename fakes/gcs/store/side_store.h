#pragma once
// The metadata that a file cannot hold: generation, checksums, content type and so on. It is kept
// in a SQLite file, which may be deleted while it is not in use; generations then start again.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/files.h"
#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {

/// The schema of the file (PRAGMA user_version). Tables were added without a new number: versions
/// of caip before 0.2 delete all records of a file with another one.
inline constexpr int64_t kSideStoreVersion = 1;

/// Brings a file of an earlier version of caip to this schema.
Status MigrateSideStore(const Path& file);

/// Records of objects and buckets. Every Find sees staged changes at once, and returns nullopt or
/// nullptr if there is no record; an Error means that the file could not be read, never kNotFound.
/// Flush writes staged changes to disk; threads that flush at the same time share one transaction
/// and one sync. Any thread. A thread that stages for a bucket holds that bucket's lock.
///
/// It also keeps the bytes of small objects whose files are not on disk yet (file_sync.h).
class SideStore {
 public:
  /// Creates the file if it is missing or not a database (the old one is kept as <file>.broken).
  /// kFailedPrecondition: a newer caip wrote it.
  /// `durable`: a flush survives a power failure, not only the end of the process.
  /// `boot` identifies this start of the host; it is stored with each flush.
  static Result<std::unique_ptr<SideStore>> Open(const Path& file, bool durable, int64_t boot);
  ~SideStore();  // flushes staged changes

  Result<RecordPtr> FindObject(const std::string& bucket, const std::string& name);
  /// The same for many names at once, in their order.
  Result<std::vector<std::optional<ObjectRecord>>> FindObjects(
      const std::string& bucket, const std::vector<std::string>& names);
  void StageObject(const ObjectRecord& record);
  void StageRemoval(const std::string& bucket, const std::string& name);

  /// Keeps what is staged for the object out of every flush until ReleaseObject, although each Find
  /// sees it: the new name of its file, or the removal of its name, is not on the disk yet.
  void HoldObject(const std::string& bucket, const std::string& name);
  void ReleaseObject(const std::string& bucket, const std::string& name);

  /// Stages an object with its bytes. Returns its sequence number: 1, 2 and so on.
  uint64_t StageSmallObject(RecordPtr record, std::string bytes);
  /// Forgets the bytes of all objects up to this sequence number: their files are on disk.
  void StageSynced(uint64_t sequence);
  /// The objects of earlier processes whose bytes are kept. Numbers begin after theirs.
  struct SmallObject {
    ObjectRecord record;
    std::string bytes;
    uint64_t sequence = 0;
  };
  Result<std::vector<SmallObject>> SmallObjects();
  /// The same without bytes. The records have only the names and the files.
  Result<std::vector<SmallObject>> SmallObjectFiles();
  uint64_t last_sequence() const { return last_sequence_; }

  /// Notes that a file is about to become this object, which has no other record yet. If the
  /// process ends before the object's record is on disk, the next one finds it here.
  void StageCommit(RecordPtr record);
  /// That commit has ended: the record is staged, or the file did not become the object.
  void StageCommitEnd(const ObjectRecord& record);
  /// The notes of commits that did not end. Reads the disk.
  Result<std::vector<ObjectRecord>> UnfinishedCommits();

  /// True if the host has not started again since the last flush of an earlier process.
  bool is_same_boot() const { return is_same_boot_; }
  /// True if emulators note how many bytes of an unfinished upload they have confirmed, and have
  /// done so since all uploads got a note. Set when the store opens, before other calls.
  bool has_upload_notes() const { return has_upload_notes_; }
  Status SetUploadNotes(bool all);

  Result<std::optional<Bucket>> FindBucket(const std::string& name);
  void StageBucket(const Bucket& bucket);
  /// The rules of a bucket whose record is in memory; nullopt if it is not.
  std::optional<BucketRules> FindRules(const std::string& bucket);

  /// Versions that are not live. VersionsFrom and ExpiredVersions read the disk, so callers flush
  /// first.
  Result<std::optional<ObjectRecord>> FindVersion(const std::string& bucket,
                                                  const std::string& name, int64_t generation);
  void StageVersion(const ObjectRecord& record);
  void StageVersionRemoval(const std::string& bucket, const std::string& name, int64_t generation);
  /// The name and generation of a version. VersionsFrom lists them in order, from `name` and
  /// `generation` on.
  struct VersionName {
    std::string name;
    int64_t generation = 0;
  };
  Result<std::vector<VersionName>> VersionsFrom(const std::string& bucket, const std::string& name,
                                                int64_t generation, bool soft_deleted, int limit);
  Result<std::vector<ObjectRecord>> ExpiredVersions(Instant hard_delete_time, int limit);
  Result<bool> KnowsGeneration(const std::string& bucket, int64_t generation);  // of a version
  /// The records of objects that have a version with their own generation: a change that kept the
  /// version did not end. Reads the disk.
  Result<std::vector<ObjectRecord>> VersionsOfLiveObjects();

  /// Forgets the bucket, all its objects and their versions. What is staged for it afterwards is
  /// that of a new bucket.
  void StageBucketRemoval(const std::string& name);
  /// `finish` is called when the changes are on disk, before this returns: by this thread, or by
  /// the one that wrote them, so that no thread wakes for it. A thread that passes none never calls
  /// that of another, so it may hold locks that such work needs.
  Status Flush(const std::function<void()>& finish = {});
  /// The record of an object; nullptr: it has none.
  struct ObjectState {
    std::string bucket;
    std::string name;
    RecordPtr record;
  };
  /// As Flush. If the disk refuses the changes, `otherwise` is staged instead of what is staged for
  /// that object, before another thread can save it.
  Status FlushOr(const ObjectState& otherwise, const std::function<void()>& finish = {});

  /// Returns a generation that is larger than every earlier one, even from before a restart. It is
  /// near `now` in microseconds.
  int64_t NextGeneration(Instant now);

  /// Returns a revision that is larger than `present` and than all that this process has given, so
  /// that no two contents of a record have the same one.
  int64_t NextRevision(int64_t present);

 private:
  friend Status MigrateSideStore(const Path& file);
  using ObjectKey = std::pair<std::string, std::string>;
  using VersionKey = std::tuple<std::string, std::string, int64_t>;
  struct StagedBytes {
    RecordPtr record;
    std::string bytes;
  };
  struct Batch {
    std::set<std::string> removed_buckets;   // before the other changes, with all their records
    std::map<std::string, Bucket> buckets;   // new or changed
    std::map<ObjectKey, RecordPtr> objects;  // nullptr: removed
    std::map<VersionKey, std::optional<ObjectRecord>> versions;
    std::map<uint64_t, StagedBytes> small;  // by sequence number
    std::map<int64_t, RecordPtr> commits;   // by the note's generation; nullptr: ended
    uint64_t synced = 0;
    bool empty() const {
      return removed_buckets.empty() && buckets.empty() && objects.empty() && versions.empty() &&
             small.empty() && commits.empty() && synced == 0;
    }
  };
  struct Writer;
  struct Reader;
  struct Waiter;

  SideStore();
  std::optional<RecordPtr> FindUnwritten(const std::string& bucket, const std::string& name) const;
  bool IsRemovalUnwritten(const std::string& bucket) const;
  void Stage(RecordPtr record);
  void TakeStaged();
  Result<std::optional<ObjectRecord>> ReadObject(const std::string& bucket,
                                                 const std::string& name);
  void Remember(RecordPtr record, uint64_t staged_count);
  Status Write(const Batch& batch, int64_t last_generation);
  Status FlushStaged(const ObjectState* otherwise, const std::function<void()>& finish);
  Status WriteStaged(std::unique_lock<std::mutex>& lock, const ObjectState* otherwise,
                     const std::function<void()>& finish);
  static void ReleaseWaiters(const std::vector<Waiter*>& waiters, bool is_committed, bool finishes);
  void PutBack(Batch failed);
  void StageInstead(const ObjectState& otherwise);

  std::mutex mutex_;              // guards the members up to last_sequence_
  std::vector<Waiter*> waiters_;  // threads whose changes wait for a commit
  Batch staged_;
  Batch writing_;  // being committed; Find still uses it
  std::set<ObjectKey> held_;
  std::map<std::string, Bucket> known_buckets_;     // each write looks up its bucket
  std::map<std::string, BucketRules> known_rules_;  // of buckets of known_buckets_
  RecordCache known_objects_;                       // as staged last, or as on disk
  uint64_t staged_count_ = 0;
  uint64_t flushed_count_ = 0;
  bool flushing_ = false;
  int64_t last_generation_ = 0;
  int64_t last_revision_ = 0;
  uint64_t last_sequence_ = 0;
  bool is_same_boot_ = false;
  bool has_upload_notes_ = false;
  int64_t boot_ = 0;
  std::unique_ptr<Writer> writer_;  // used only by the thread that flushes
  std::mutex reader_mutex_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace caip::gcs
