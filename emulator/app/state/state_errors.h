#pragma once
// The texts of errors about state directories as a whole: versions, copies, backups.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::app::errors {

/// A database of a state directory.
Error NotADatabase(const Path& file);
Error StoreFailed(Code code, const Path& file, std::string_view why);

/// A schema that a newer caip wrote.
struct NewerStore {
  std::string_view file;
  int64_t found = 0;
  int64_t supported = 0;
};
/// kFailedPrecondition. `writer`: the version of caip that used the state last, "" if not recorded.
Error StateTooNew(const Path& state, const std::vector<NewerStore>& stores, std::string_view writer,
                  std::string_view own_version);

/// kNotFound: for commands that need a state.
Error NoState(const Path& state);
/// An emulator uses the state. `what`: "migrated".
Error StateInUse(const Path& state, std::string_view what, const Error& cause);
/// A migration failed. `copy`: the directory with the databases as they were before.
Error MigrationFailed(std::string_view file, const Path& copy, const Error& cause);
/// The old databases could not be copied. Says what to do if the file system is full.
Error CopiesFailed(const Path& state, const Error& cause);

// Backups.
/// The emulator writes objects faster than they are listed, or there are very many. kUnavailable.
Error StateTooBusy(const Path& state);
Error CannotLink(const Path& file, int error_number);
Error CannotCopy(const Path& file, int error_number);
/// kCancelled.
Error BackupStopped();
/// Says what to do if the file system of the state is full. Other errors are unchanged.
Error SnapshotFailed(const Path& state, const Error& cause);
/// The same for the file system of the archive.
Error BackupFailed(const Path& archive, const Error& cause);
Error FileShrank(const Path& file);
Error BackupExists(const Path& archive);
Error BackupNotWritten(const Path& archive, int error_number, std::string_view why);
Error CompressionMissing(const Path& archive);
/// kDataLoss, as the next three. `why` continues "is not a backup of a state directory: ".
Error NotABackup(const Path& archive, std::string_view why);
Error BackupCutOff(const Path& archive);
Error BackupMemberUnknown(const Path& archive, std::string_view member);
/// kCancelled.
Error RestoreStopped();
/// Says what to do if the file system of the state is full. Other errors are unchanged.
Error RestoreFailed(const Path& state, const Error& cause);
/// A file of it has other bytes than were saved.
Error BackupDamaged(const Path& archive, std::string_view file);
/// `version`: of the caip that made it; "" if not known.
Error BackupTooNew(const Path& archive, std::string_view version, std::string_view own_version);
/// `entry`: the name of something in it; "" if it is not a directory.
Error StateNotEmpty(const Path& state, std::string_view entry);
/// kFailedPrecondition: a symbolic link to a directory that does not exist.
Error StateLinkBroken(const Path& state, const Path& target);
/// kFailedPrecondition: a restoration into a mount point was interrupted.
Error RestoreUnfinished(const Path& state);
Error RestoreRuns(const Path& state);
/// The directory for the files of a restoration belongs to another user, or is open to others.
Error RestoringElsewhere(const Path& directory);
/// kFailedPrecondition: the directory has no database and no lock of an emulator.
Error NotAState(const Path& directory);

}  // namespace caip::app::errors
