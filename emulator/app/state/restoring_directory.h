#pragma once
// Where a restoration makes its files before they become the state: beside it, to be renamed in one
// step. A mount point cannot be renamed, so the files are made in it, and move up one by one.

#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace caip::app {

/// Whether the directory has the files of a restoration that runs, or that was interrupted. It is
/// not a state then.
bool IsBeingRestored(const Path& state);

/// The directory that becomes the state: the target of a symbolic link. kFailedPrecondition: the
/// link's target does not exist.
Result<Path> ResolveState(const Path& directory);

/// kFailedPrecondition unless the directory is missing or empty. The lost+found of a file system
/// does not count.
Status CheckIsEmpty(const Path& state);

/// The directory in which the files are made. The destructor deletes it with its contents.
class RestoringDirectory {
 public:
  /// kAborted: another process restores the same state.
  static Result<RestoringDirectory> Make(const Path& state);
  RestoringDirectory(RestoringDirectory&& other) noexcept;
  RestoringDirectory& operator=(RestoringDirectory&&) = delete;
  ~RestoringDirectory();
  const Path& path() const { return path_; }

  /// Makes its contents the state.
  Status Become(const Path& state);

 private:
  RestoringDirectory(Path path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  static Result<RestoringDirectory> MakeIn(const Path& state);
  static Result<RestoringDirectory> MakeAt(const Path& path, const Path& state);
  Status Rename(const Path& state);
  Status MoveUp(const Path& state);
  Status Empty() const;

  Path path_;  // empty: moved from, or renamed
  Fd fd_;
};

}  // namespace caip::app
