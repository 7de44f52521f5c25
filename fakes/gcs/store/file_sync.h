#pragma once
// Syncs the files of small objects some time after their commit. Until then, the side store keeps
// their bytes. So one sync of the side store makes many small objects durable: none of them waits
// for syncs of its own file and directory, and a file that is soon replaced is never synced.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "fakes/gcs/store/bucket_tree.h"
#include "fakes/gcs/store/object_record.h"
#include "fakes/gcs/store/side_store.h"

namespace caip::gcs {

/// Objects up to this size are committed with their bytes.
inline constexpr uint64_t kSmallObjectBytes = 64 << 10;

/// Waits until many objects are in place, or until the first of them has been so for `delay`. Then
/// it syncs their files in the order of their numbers, and the side store forgets their bytes. Any
/// thread.
class FileSync {
 public:
  /// Locks a bucket against changes of its files.
  using BucketLocker = std::function<std::unique_lock<std::mutex>(const std::string& bucket)>;

  /// `side`, the descriptor of the store's root and what `lock_bucket` uses must outlive it.
  FileSync(int root, SideStore& side, Duration delay, BucketLocker lock_bucket);
  /// Ends after a few files: what is not synced stays in the side store.
  ~FileSync();
  FileSync(const FileSync&) = delete;
  FileSync& operator=(const FileSync&) = delete;

  /// The object that was staged with this number has its file now.
  void AddPlaced(uint64_t sequence, const ObjectRecord& record);
  /// The object that was staged with this number does not exist.
  void Skip(uint64_t sequence);
  /// Waits 20 ms instead of the delay, and syncs some files even if it ends meanwhile. For objects
  /// that earlier processes left: many short commands would leave ever more.
  void SyncSoon();
  /// True if the side store keeps so many bytes that further objects sync their files themselves.
  bool IsBehind() const;

 private:
  struct SmallFile {
    std::string bucket;
    std::string name;
    FileIdentity identity;
    uint64_t sequence;
    uint64_t bytes() const;
  };
  void Run();
  void SyncOnce(std::unique_lock<std::mutex>& lock);
  size_t SyncFirst(const std::vector<SmallFile>& files);
  bool SyncFile(const SmallFile& file, std::set<std::string>* directories) const;
  bool SyncDirectory(const std::string& path) const;
  Result<OpenFile> OpenLocked(const SmallFile& file) const;
  void MarkDone(uint64_t sequence);

  int root_;
  SideStore& side_;
  Duration delay_;
  BucketLocker lock_bucket_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<SmallFile> files_;  // in place, not synced
  std::set<uint64_t> done_;       // in place or skipped, although an earlier one is not
  uint64_t all_done_;             // this one and all earlier ones are in place or skipped
  uint64_t bytes_ = 0;            // of those that are not synced
  bool soon_ = false;
  bool stopping_ = false;
  std::thread thread_;  // begins with the first object
};

}  // namespace caip::gcs
