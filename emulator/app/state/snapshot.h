#pragma once
// All that a backup saves, as it was at one instant, also while an emulator uses the state.
//
// The databases are locked against writers together, for as long as it takes to give each file of
// the buckets a second name (a hard link) in another directory, or a copy where it cannot have one.
// An emulator waits meanwhile. Files of objects never change: a new object is a new file. So the
// links keep the bytes of that instant.
// What was being changed at that instant is completed in the snapshot as the next emulator does it
// after a kill.

#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "fakes/gcs/store/moved_records.h"

namespace caip::app {

struct SnapshotOptions {
  bool with_images = true;
  /// The longest time for which an emulator waits. It gives up after ten seconds. A backup
  /// without an emulator has no time limit.
  Duration patience = std::chrono::seconds(8);
  std::stop_token stop = {};
  /// Called when all databases are locked, for tests.
  std::function<void()> when_locked = {};
};

/// A snapshot below <state>. The destructor deletes it. A snapshot of a process that was killed is
/// deleted by the next one.
class Snapshot {
 public:
  /// kFailedPrecondition: a newer caip wrote the state. kUnavailable: the emulator cannot wait for
  /// so long. kCancelled: `stop`. kResourceExhausted: the file system of the state is full.
  static Result<Snapshot> Take(const Path& state, const SnapshotOptions& options);

  const Path& path() const { return directory_.path(); }
  /// All directories and files, below path(), sorted. A directory comes before its contents.
  const std::vector<Path>& entries() const { return entries_; }
  /// The files that were copied.
  const gcs::CopiedInodes& copies() const { return copies_; }

 private:
  explicit Snapshot(TemporaryDirectory directory) : directory_(std::move(directory)) {}
  Status ListEntries();

  TemporaryDirectory directory_;
  std::vector<Path> entries_;
  gcs::CopiedInodes copies_;
};

}  // namespace caip::app
