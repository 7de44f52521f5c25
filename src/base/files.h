#pragma once
// Reads, writes and removes files. After a crash a file has its old contents or the new ones, never
// a part.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/result.h"

namespace caip {

using Path = std::filesystem::path;

/// A file descriptor that closes itself. Move-only.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.Release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { Close(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Close();

 private:
  int fd_ = -1;
};

/// Writes all bytes, in several calls if necessary. On false, errno has the reason.
bool WriteAll(int fd, std::string_view bytes);

Result<std::string> ReadFile(const Path& path);
/// Reads at most `limit` bytes. kOutOfRange if the file is longer.
Result<std::string> ReadFileUpTo(const Path& path, size_t limit);
/// Reads at most `bytes` bytes from `place` on; fewer at the end of the file.
Result<std::string> ReadPart(const Path& path, uint64_t place, size_t bytes);

/// Writes a temporary file in the same directory, syncs it, renames it, and syncs the directory.
/// The new file has `mode` from its first byte on: use 0600 for secrets.
Status WriteFileDurably(const Path& path, std::string_view bytes, unsigned mode = 0644);
/// Replaces a file in one step, without syncs: a power cut may lose the new text.
Status WriteFile(const Path& path, std::string_view bytes);
Status MakeDirectories(const Path& path);
Status SyncDirectory(const Path& path);

/// A temporary directory. The destructor deletes it with its contents.
class TemporaryDirectory {
 public:
  /// Below $TMPDIR, else /tmp. First deletes those with the same prefix that programs of this user
  /// have left there, because they were killed. An error of the system: the directory in $TMPDIR
  /// is missing, full or not writable.
  static Result<TemporaryDirectory> Make(std::string_view prefix);
  /// The same in another directory. The error names it.
  static Result<TemporaryDirectory> MakeIn(const Path& parent, std::string_view prefix);
  /// Deletes directories of this user that an earlier version of a program has left in `parent`,
  /// because it was killed. Their names are the prefix and six letters or digits, without the
  /// number of a process. A directory that a process has locked with flock stays. Use it only where
  /// people do not choose such names.
  static void RemoveWithoutProcess(const Path& parent, std::string_view prefix);
  /// For tests: neither locks it nor deletes others. Ends the process if it cannot be made.
  explicit TemporaryDirectory(std::string_view prefix = "caip-");
  TemporaryDirectory(TemporaryDirectory&& other) noexcept
      : path_(std::exchange(other.path_, Path())), lock_(std::move(other.lock_)) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const Path& path() const { return path_; }

 private:
  struct Made {
    Path path;
    Fd lock = {};
  };
  static Result<TemporaryDirectory> MakeLocked(const Path& parent, std::string_view prefix,
                                               std::string_view place);
  explicit TemporaryDirectory(Made made)
      : path_(std::move(made.path)), lock_(std::move(made.lock)) {}

  Path path_;  // empty: moved from
  Fd lock_;    // says that a program uses the directory, until the program ends
};

/// Removes `name` in the open directory (or AT_FDCWD), with everything below it. Links are not
/// followed, directories are made writable, and the depth of the tree does not matter. A missing
/// name is not an error. If a part cannot be removed, the rest is; the Error and errno have the
/// first reason. Frees the blocks of several files at once, on threads that end before it returns.
Status RemoveTreeAt(int directory, const std::string& name);
/// The same for a path.
Status EnsureRemoved(const Path& path);
/// The same, for callers that can do nothing about an error.
void RemoveTree(const Path& path);

}  // namespace caip
