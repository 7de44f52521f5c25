#pragma once
// The rights on files with which caip carries out a watched call: those of the thread that makes
// it. They are rights of one thread of this process, as setfsuid(2) and capset(2) give them.

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <vector>

namespace caip::host {

/// A user and groups by the numbers of this process's user namespace, and capabilities.
struct FileRights {
  uid_t user = 0;   // the one for files (setfsuid)
  gid_t group = 0;  // the one for files (setfsgid)
  std::vector<gid_t> groups = {};
  uint64_t capabilities = 0;  // one bit each; only those that decide about files and directories
};

/// Finds the rights of the thread that makes a call. One thread uses it.
class CallerRights {
 public:
  /// The thread that makes the call, until the next Begin. 0: this thread itself.
  void Begin(pid_t thread);
  /// A thread of the replica is about to set its user or group for files alone.
  void NoteFileUserSet() { has_file_users_ = true; }
  /// nullopt: the same as this thread's, or this process may not take others.
  const std::optional<FileRights>& Find() const;

 private:
  std::optional<FileRights> FindOthers() const;

  pid_t thread_ = 0;
  bool has_file_users_ = false;
  mutable bool is_known_ = false;
  mutable std::optional<FileRights> rights_;
};

/// Gives the calling thread other rights on files for as long as it lives; none for nullopt. Keeps
/// errno at its end. Meanwhile the thread should only make calls on files: it may not read all of
/// /proc. Where the kernel refuses, the thread keeps its own rights.
class TakenRights {
 public:
  explicit TakenRights(const std::optional<FileRights>& rights);
  TakenRights(const TakenRights&) = delete;
  TakenRights& operator=(const TakenRights&) = delete;
  ~TakenRights();

 private:
  void GiveBack();

  bool is_taken_ = false;
  bool has_groups_ = false;  // other ones than this process
};

/// Makes a system call with such rights. Returns 0, or -errno.
template <typename SystemCall>
int64_t ResultWith(const std::optional<FileRights>& rights, SystemCall system_call) {
  const TakenRights taken(rights);
  return system_call() == 0 ? 0 : -errno;
}

}  // namespace caip::host
