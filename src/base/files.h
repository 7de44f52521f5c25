#pragma once
// Files, so written that a crash leaves the old text or the new one, never half of it.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

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

/// errno's text behind what was being done: "cannot open '/x': No such file or directory".
/// The code is kNotFound, kPermissionDenied, kResourceExhausted (disk full) or kInternal by errno.
Error SystemError(std::string what, int error_number);

Result<std::string> ReadFile(const Path& path);
/// Reads at most `limit` bytes; kOutOfRange when the file is longer.
Result<std::string> ReadFileUpTo(const Path& path, size_t limit);

/// Temporary file in the same directory, fsync, rename, fsync of the directory. `mode` is the new
/// file's from the first byte on: 0600 for what nobody else may read.
Status WriteFileDurably(const Path& path, std::string_view bytes, unsigned mode = 0644);
/// The same without the syncs: whole or not at all, but a power cut may lose it.
Status WriteFile(const Path& path, std::string_view bytes);
Status MakeDirectories(const Path& path);
Status SyncDirectory(const Path& path);

/// A directory that is gone, with all it held, when this goes. Made below $TMPDIR, else /tmp.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(std::string_view prefix = "caip-");
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  const Path& path() const { return path_; }

 private:
  Path path_;
};

/// Deletes a tree; what is gone already is fine. Makes directories writable where it must.
void RemoveTree(const Path& path);

}  // namespace caip
