#pragma once
// Backups of state directories: tar archives that `tar` and `sha256sum` can read.
//
//   caip-state-backup.json   the first member: format, version of caip, schemas
//   state/...                the files of a snapshot (snapshot.h)
//   state.sha256             the last member: the digest of every file, as sha256sum prints them
//
// A name of an archive that ends with .gz or .zst compresses it.

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "emulator/app/state/snapshot.h"

namespace caip::app {

inline constexpr std::string_view kBackupNote = "caip-state-backup.json";
inline constexpr std::string_view kBackupSums = "state.sha256";
inline constexpr std::string_view kBackupFolder = "state/";
inline constexpr int64_t kBackupFormat = 1;

/// What was saved or restored.
struct BackupSize {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

struct BackupOptions {
  std::string version;  // of this program
  Instant now;
  SnapshotOptions snapshot = {};
  /// Called when all files are saved but the records of objects, for tests.
  std::function<void()> before_records = {};
};

/// Saves a state, also while an emulator uses it. The archive appears when it is complete and on
/// disk; only its owner may read it, because it has keys. kAlreadyExists: there is such a file.
/// Other errors as Snapshot::Take; what the disk says.
Result<BackupSize> BackUpState(const Path& state, const Path& archive,
                               const BackupOptions& options);

/// Makes a state directory of a backup. The directory must be missing or empty. It appears complete
/// and on disk, or not at all: the files are made beside it, checked against their digests, and
/// renamed. A mount point cannot be renamed: there, the files are made in it, and a process that is
/// killed while they move leaves a directory that PlanMigrations refuses (IsBeingRestored).
/// kDataLoss: the archive is not a backup, is damaged or cut off, or has members that no backup
/// has. kFailedPrecondition: a newer caip made it, or the directory is not empty. kCancelled:
/// `stop`.
Result<BackupSize> RestoreState(const Path& archive, const Path& state,
                                std::string_view own_version, const std::stop_token& stop = {});

/// The line of sha256sum for a file. A name with a line break or a backslash is escaped.
std::string SumLine(std::string_view digest, std::string_view name);

}  // namespace caip::app
