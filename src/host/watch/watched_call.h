#pragma once
// A system call of a watched replica: what it asks for, and our answer. The Linux side of
// replica_watcher.h. Calls come from the kernel or from a library in the replica's
// programs (call_source.h).

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "host/watch/replica_watcher.h"

namespace caip::host {

/// A file by its identity, under whatever descriptor or name.
struct FileId {
  uint64_t device = 0;
  uint64_t inode = 0;
  auto operator<=>(const FileId&) const = default;
};

/// nullopt when there is no such file.
std::optional<FileId> IdentifyFile(const std::string& path);

/// The result of handling a call.
enum class Handled {
  kNotMine,  // it is still to be answered
  kAnswered,
  kNever,  // it must stay without an answer, and so must all that come
};

/// What is asked, by which thread.
struct CallFacts {
  int number = 0;  // SYS_openat, ...
  pid_t thread = 0;
  uint64_t arguments[6] = {};
};

/// How the answer to one call comes to the thread that waits for it.
class AnswerPath {
 public:
  virtual ~AnswerPath() = default;
  /// False when the thread was killed.
  virtual bool IsWaiting() const = 0;
  virtual void GoOn() const = 0;
  /// `error` 0: the value; else the call fails with it.
  virtual void Return(int64_t value, int error) const = 0;
  virtual int ReturnDescriptor(int descriptor, bool close_on_exec) const = 0;
  /// Of close: it fails, and the file is closed all the same, as Linux has it.
  virtual void FailClose(int descriptor, int error) const = 0;
};

/// One call whose thread waits. Exactly one of the answers ends it.
class WatchedCall {
 public:
  /// `path` is borrowed.
  WatchedCall(const CallFacts& facts, const AnswerPath& path) : facts_(facts), path_(path) {}

  int number() const { return facts_.number; }
  uint64_t argument(int index) const { return facts_.arguments[index]; }
  pid_t thread() const { return facts_.thread; }

  /// False when the thread was killed: then what was read about it may be somebody else's.
  bool IsWaiting() const { return path_.IsWaiting(); }
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

  void GoOn() const { path_.GoOn(); }  // it is carried out as it was asked for
  void Return(int64_t value) const { path_.Return(value, 0); }
  void Fail(int error) const { path_.Return(-1, error); }
  void FailClose(int descriptor, int error) const { path_.FailClose(descriptor, error); }
  /// Gives the process a duplicate and returns its number; an errno when it cannot have one more.
  int ReturnDescriptor(int descriptor, bool close_on_exec) const {
    return path_.ReturnDescriptor(descriptor, close_on_exec);
  }

 private:
  const CallFacts facts_;
  const AnswerPath& path_;
};

// What a watched call is about to do to a file, to be noted and then left to the kernel.

/// nullopt for calls that touch no regular file, or none that is there or will be.
std::optional<FileSight> SightOf(const WatchedCall& call);

}  // namespace caip::host
