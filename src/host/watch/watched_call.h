#pragma once
// A system call of a watched replica and its answer: the Linux side of replica_watcher.h. Calls
// come from the kernel or from a library in the replica's programs (call_source.h).

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "host/watch/replica_root.h"
#include "host/watch/replica_watcher.h"

namespace caip::host {

/// The identity of a file, independent of its descriptors and names.
struct FileId {
  uint64_t device = 0;
  uint64_t inode = 0;
  auto operator<=>(const FileId&) const = default;
};

/// nullopt if the file does not exist.
std::optional<FileId> IdentifyFile(const std::string& path);

/// The result of handling a call.
enum class Handled {
  kNotMine,  // the call still needs an answer
  kAnswered,
  kNever,  // neither this call nor a later one may be answered
};

/// The number and arguments of a call, and its thread.
struct CallFacts {
  int number = 0;  // SYS_openat, ...
  pid_t thread = 0;
  uint64_t arguments[6] = {};
};

/// Sends the answer of one call to the thread that waits for it.
class AnswerPath {
 public:
  virtual ~AnswerPath() = default;
  /// False if the thread was killed.
  virtual bool IsWaiting() const = 0;
  virtual void GoOn() const = 0;
  /// Returns `value`, or fails with `error` if that is not 0.
  virtual void Return(int64_t value, int error) const = 0;
  virtual int ReturnDescriptor(int descriptor, bool close_on_exec) const = 0;
  /// Lets close() fail. The file is closed nevertheless, as on Linux.
  virtual void FailClose(int descriptor, int error) const = 0;
};

/// One call whose thread waits. Exactly one of the answers ends it.
class WatchedCall {
 public:
  /// `path` must outlive the call.
  WatchedCall(const CallFacts& facts, const AnswerPath& path) : facts_(facts), path_(path) {}

  int number() const { return facts_.number; }
  uint64_t argument(int index) const { return facts_.arguments[index]; }
  /// An argument that is a descriptor, or AT_FDCWD.
  int descriptor(int index) const { return static_cast<int>(argument(index)); }
  pid_t thread() const { return facts_.thread; }

  /// False if the thread was killed. Facts that were read before may then belong to another thread.
  bool IsWaiting() const { return path_.IsWaiting(); }
  /// Returns "/proc/<thread>/<rest>".
  std::string Proc(const std::string& rest) const;
  std::optional<FileId> Identify(int descriptor) const;
  /// Reads the thread's memory; nullopt if the address is not mapped.
  std::optional<std::string> Read(uint64_t address, size_t bytes) const;
  /// Reads the thread's memory to a place of this process. False if the address is not mapped.
  bool Read(uint64_t address, size_t bytes, char* to) const;
  /// Reads a text that ends with a NUL, such as a path.
  std::optional<std::string> ReadText(uint64_t address) const;

  /// The buffers of a write, writev or pwrite64; empty if there are none.
  std::vector<iovec> Buffers() const;
  /// Writes bytes into the thread's memory.
  bool Write(uint64_t address, const std::string& bytes) const;

  void GoOn() const { path_.GoOn(); }  // carries out the call unchanged
  void Return(int64_t value) const { path_.Return(value, 0); }
  void Fail(int error) const { path_.Return(-1, error); }
  void FailClose(int descriptor, int error) const { path_.FailClose(descriptor, error); }
  /// Returns a duplicate of the descriptor to the process, and its number; an errno if the process
  /// cannot have one more.
  int ReturnDescriptor(int descriptor, bool close_on_exec) const {
    return path_.ReturnDescriptor(descriptor, close_on_exec);
  }

 private:
  const CallFacts facts_;
  const AnswerPath& path_;
};

/// The file that a call is about to open, rename or delete. nullopt for other calls, and for files
/// that are not regular, or neither exist nor will be created.
std::optional<FileAccess> ParseFileAccess(const WatchedCall& call, const ReplicaRoot& root);

}  // namespace caip::host
