#include "emulator/app/state/state_errors.h"

#include "base/quoting.h"
#include "base/text.h"

namespace caip::app::errors {
namespace {

constexpr const char* kStateFull = "stateFull";

std::string StateText(const Path& state) { return "The state directory " + Quoted(state.string()); }

}  // namespace

Error NotADatabase(const Path& file) {
  return {Code::kDataLoss, Quoted(file.string()) + " is not a database of caip."};
}

Error StoreFailed(Code code, const Path& file, std::string_view why) {
  return {code,
          "The database " + Quoted(file.string()) + " cannot be used: " + std::string(why) + "."};
}

Error StateTooNew(const Path& state, const std::vector<NewerStore>& stores, std::string_view writer,
                  std::string_view own_version) {
  std::string text = StateText(state) + " was written by a newer version of caip";
  if (!writer.empty() && writer != own_version) text += ", " + std::string(writer);
  text += ".";
  for (const NewerStore& store : stores) {
    text += " " + std::string(store.file) + " has version " + std::to_string(store.found) +
            ", and this caip " + std::string(own_version) + " supports versions up to " +
            std::to_string(store.supported) + ".";
  }
  return {Code::kFailedPrecondition,
          text +
              " Use the newer caip, restore a backup that this version made (`caip state "
              "restore`), or name another directory with --state or $CAIP_STATE."};
}

Error NoState(const Path& state) {
  return {Code::kNotFound, StateText(state) +
                               " does not exist. A command that starts an emulator makes it. Name "
                               "another with --state or $CAIP_STATE."};
}

Error StateInUse(const Path& state, std::string_view what, const Error& cause) {
  return {Code::kAborted, StateText(state) + " cannot be " + std::string(what) +
                              " while an emulator uses it. " + cause.message};
}

Error MigrationFailed(std::string_view file, const Path& copy, const Error& cause) {
  return {cause.code, std::string(file) + " cannot be migrated: " + cause.message +
                          " It is unchanged, and " + Quoted(copy.string()) + " has a copy of it."};
}

Error CopiesFailed(const Path& state, const Error& cause) {
  if (cause.code != Code::kResourceExhausted) return cause;
  return {cause.code, "The file system of the state directory " + Quoted(state.string()) +
                          " is full. A migration first copies the old databases. No database was "
                          "migrated. Free space there, and try again. (" +
                          cause.message + ")"};
}

Error StateTooBusy(const Path& state) {
  return {
      Code::kUnavailable,
      StateText(state) +
          " cannot be backed up now: other processes change it all the time, or its objects are "
          "too many to be saved while an emulator waits. End the emulator with `caip stop`, and "
          "try again: a backup without an emulator has no time limit."};
}

Error CannotLink(const Path& file, int error_number) {
  return SystemError("cannot make a link to " + Quoted(file.string()) +
                         " in the state directory, which a backup needs",
                     error_number);
}

Error CannotCopy(const Path& file, int error_number) {
  return SystemError("cannot copy " + Quoted(file.string()) + " within the state directory",
                     error_number);
}

Error BackupStopped() { return {Code::kCancelled, "Interrupted. Nothing was saved."}; }

Error SnapshotFailed(const Path& state, const Error& cause) {
  if (cause.code != Code::kResourceExhausted) return cause;
  return {cause.code,
          "The file system of the state directory " + Quoted(state.string()) +
              " is full. A backup needs room there for a copy of the databases. Nothing "
              "was saved. Free space there, and try again. (" +
              cause.message + ")",
          {},
          kStateFull};
}

Error BackupFailed(const Path& archive, const Error& cause) {
  if (cause.code != Code::kResourceExhausted || cause.reason == kStateFull) return cause;
  return {cause.code, "The file system of the archive " + Quoted(archive.string()) +
                          " is full. Nothing was saved. Free space there, or name a file on "
                          "another file system. (" +
                          cause.message + ")"};
}

Error FileShrank(const Path& file) {
  return {Code::kAborted, Quoted(file.string()) +
                              " was shortened while it was saved. No backup was made. Try again."};
}

Error BackupExists(const Path& archive) {
  return {Code::kAlreadyExists,
          Quoted(archive.string()) + " exists. A backup never replaces a file. Name another file."};
}

Error BackupNotWritten(const Path& archive, int error_number, std::string_view why) {
  if (error_number > 0) return CannotWrite(archive, error_number);
  return {Code::kInternal, "cannot write " + Quoted(archive.string()) + ": " + std::string(why)};
}

Error CompressionMissing(const Path& archive) {
  return {Code::kUnimplemented, "This caip was built without the compression of " +
                                    Quoted(archive.string()) +
                                    ". Name a file that ends with .tar."};
}

Error NotABackup(const Path& archive, std::string_view why) {
  return {Code::kDataLoss, Quoted(archive.string()) + " is not a backup of a state directory: " +
                               std::string(why) + ". `caip state backup` makes backups."};
}

Error BackupCutOff(const Path& archive) {
  return {Code::kDataLoss, "The backup " + Quoted(archive.string()) +
                               " is cut off or damaged. Nothing was restored. Use another backup."};
}

Error BackupMemberUnknown(const Path& archive, std::string_view member) {
  return {Code::kDataLoss, "The backup " + Quoted(archive.string()) + " has a member " +
                               Quoted(member) +
                               " that no backup has. Nothing was restored. Use another backup."};
}

Error BackupDamaged(const Path& archive, std::string_view file) {
  return {Code::kDataLoss, "The backup " + Quoted(archive.string()) +
                               " is damaged: " + Quoted(file) +
                               " differs from what was saved. Nothing was restored. Use another "
                               "backup."};
}

Error BackupTooNew(const Path& archive, std::string_view version, std::string_view own_version) {
  const std::string maker = version.empty()
                                ? "a newer caip than this,"
                                : "caip " + std::string(version) + ", which is newer than this,";
  return {Code::kFailedPrecondition, "The backup " + Quoted(archive.string()) + " was made by " +
                                         maker + " " + std::string(own_version) +
                                         ". Use that caip to restore it."};
}

Error RestoreStopped() { return {Code::kCancelled, "Interrupted. Nothing was restored."}; }

Error RestoreFailed(const Path& state, const Error& cause) {
  if (cause.code != Code::kResourceExhausted) return cause;
  return {cause.code,
          "The file system of the state directory " + Quoted(state.string()) +
              " is full. Nothing was restored. Free space there, or name a directory on "
              "another file system with --state. (" +
              cause.message + ")"};
}

Error StateNotEmpty(const Path& state, std::string_view entry) {
  const std::string what =
      entry.empty() ? " is not a directory." : " is not empty: it has " + Quoted(entry) + ".";
  return {Code::kFailedPrecondition,
          StateText(state) + what +
              " A backup is restored only into a missing or empty directory. Move it away, or name "
              "another with --state or $CAIP_STATE."};
}

Error StateLinkBroken(const Path& state, const Path& target) {
  return {Code::kFailedPrecondition,
          StateText(state) + " is a symbolic link to " + Quoted(target.string()) +
              ", which does not exist. Make that directory, or name another with --state or "
              "$CAIP_STATE."};
}

Error RestoreUnfinished(const Path& state) {
  return {Code::kFailedPrecondition,
          "A backup is being restored into " + Quoted(state.string()) +
              ", or its restoration was interrupted. Wait for `caip state restore`. If it does not "
              "run, delete everything in this directory, and restore the backup again."};
}

Error RestoreRuns(const Path& state) {
  return {Code::kAborted, "Another process is restoring " + Quoted(state.string()) + " now."};
}

Error RestoringElsewhere(const Path& directory) {
  return {Code::kFailedPrecondition,
          "The directory " + Quoted(directory.string()) +
              " exists, and does not belong to you alone. The files of a backup are secret. Remove "
              "the directory, or restore into another place."};
}

Error NotAState(const Path& directory) {
  return {Code::kFailedPrecondition,
          "The directory " + Quoted(directory.string()) +
              " is not a state directory: no emulator has used it. Name another with --state."};
}

}  // namespace caip::app::errors
