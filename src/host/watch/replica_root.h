#pragma once
// The file system that a watched replica sees: the host's, or that of its machine.

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/files.h"
#include "host/watch/caller_rights.h"

namespace caip::host {

/// Carries out file operations by the paths of a replica. Paths are absolute. Symbolic links never
/// lead out of the replica's file system. Failures set errno. Resolve, Stat, StatLink and Open with
/// O_PATH have the rights of this process, and all others those of caller(). These do not depend on
/// the caller's rights to search directories above the file's own: see reachable_path.h.
class ReplicaRoot {
 public:
  /// The file system of this process.
  ReplicaRoot() = default;
  /// That of another process.
  static ReplicaRoot Of(pid_t process);

  /// The thread for which files are opened and changed; at first, this process's own.
  CallerRights& caller() { return caller_; }
  const CallerRights& caller() const { return caller_; }

  /// The path of an existing file, without links; nullopt if it does not exist.
  std::optional<std::string> Resolve(const std::string& path) const;
  /// nullopt if the file does not exist.
  std::optional<struct stat> Stat(const std::string& path) const;
  /// The same, but of a link itself.
  std::optional<struct stat> StatLink(const std::string& path) const;
  /// As open(2). The descriptor closes on exec.
  Fd Open(const std::string& path, int flags, mode_t mode) const;
  /// As renameat2(2).
  bool Rename(const std::string& from, const std::string& to, unsigned flags) const;
  bool Remove(const std::string& path, bool is_directory) const;
  /// As mkdir(2), whatever this process's umask is.
  bool MakeDirectory(const std::string& path, mode_t mode) const;
  /// Gives the file that exists a second name.
  bool Link(const std::string& existing, const std::string& path) const;
  /// Makes a symbolic link with that text.
  bool Symlink(const std::string& text, const std::string& path) const;

 private:
  /// A directory and a name in it. Links of a path's directories were followed inside the root.
  struct Place {
    Fd held;
    int directory;  // AT_FDCWD: the name is a whole path
    std::string name;
  };
  std::optional<Place> PlaceOf(const std::string& path) const;
  Fd OpenForCaller(const std::string& path, int flags, mode_t mode) const;
  bool IsName(const std::string& path, int file) const;

  bool is_own_ = true;  // the root of this process
  Fd root_;             // else; not valid: the other process has ended, and every call fails
  CallerRights caller_;
};

}  // namespace caip::host
