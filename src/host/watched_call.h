#pragma once
// A system call of a watched replica: what it asks for, and our answer. The Linux side of
// replica_watcher.h.

#include <linux/seccomp.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"

namespace caip::host {

/// A file by its identity, under whatever descriptor or name.
struct FileId {
  uint64_t device = 0;
  uint64_t inode = 0;
  auto operator<=>(const FileId&) const = default;
};

/// nullopt when there is no such file.
std::optional<FileId> IdentifyFile(const std::string& path);

/// What became of a call.
enum class Handled {
  kNotMine,  // it is still to be answered
  kAnswered,
  kNever,  // it must stay without an answer, and so must all that come
};

/// One call whose thread waits in the kernel. Exactly one of the answers ends it.
class WatchedCall {
 public:
  /// `listener` is borrowed.
  WatchedCall(int listener, const seccomp_notif& notice) : listener_(listener), notice_(notice) {}

  int number() const { return notice_.data.nr; }
  uint64_t argument(int index) const { return notice_.data.args[index]; }
  pid_t thread() const { return static_cast<pid_t>(notice_.pid); }

  /// False when the thread was killed: then what was read about it may be somebody else's.
  bool IsWaiting() const;
  /// "/proc/<thread>/<rest>"
  std::string Proc(const std::string& rest) const;
  std::optional<FileId> Identify(int descriptor) const;
  /// Its memory; nullopt where it has none.
  std::optional<std::string> Read(uint64_t address, size_t bytes) const;
  /// A text closed by a NUL, as paths are.
  std::optional<std::string> ReadText(uint64_t address) const;

  /// The buffers of a write, writev or pwrite64; empty when there are none.
  std::vector<iovec> Buffers() const;
  /// Puts bytes into its memory.
  bool Write(uint64_t address, const std::string& bytes) const;

  void GoOn() const;  // the kernel carries it out
  void Return(int64_t value) const;
  void Fail(int error) const;
  /// Gives the process a duplicate and returns its number; an errno when it cannot have one more.
  int ReturnDescriptor(int descriptor, bool close_on_exec) const;

 private:
  void Send(int64_t value, int error, uint32_t flags) const;
  int listener_;
  const seccomp_notif& notice_;
};

/// The next call, nullopt when it has vanished meanwhile. Blocks until there is one.
std::optional<seccomp_notif> ReceiveCall(int listener);

}  // namespace caip::host
