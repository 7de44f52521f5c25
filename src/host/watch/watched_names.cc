#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

#include "host/watch/reachable_path.h"
#include "host/watch/watched_files.h"
#include "host/watch/watched_process.h"

namespace caip::host {

// Calls that change the names of files and directories.

namespace {

bool IsAtOrBelow(const std::string& path, const std::string& place) {
  return (path + "/").starts_with(place + "/");
}

bool EndsWithSlash(const WatchedCall& call, uint64_t path) {
  const auto text = call.ReadText(path);
  return text && text->ends_with('/');
}

bool IsDirectoryItself(const ReplicaRoot& root, const std::string& path) {
  const auto status = root.StatLink(path);
  return status && S_ISDIR(status->st_mode);
}

}  // namespace

Verdict WatchedFiles::EndSoFarBelow(const std::string& path) {
  for (auto& [id, written] : written_) {
    if (!IsAtOrBelow(written.path, path)) continue;
    if (const Verdict verdict = EndSoFar(written); verdict.kind == Verdict::Kind::kNever) {
      return verdict;
    }
  }
  return {};
}

std::optional<FileId> WatchedFiles::OnlyNameOf(const std::string& path) const {
  const auto status = written_.empty() ? std::nullopt : root_.Stat(path);
  if (!status || !S_ISREG(status->st_mode) || status->st_nlink > 1) return std::nullopt;
  return FileId{status->st_dev, status->st_ino};
}

// What is written to the file from now on changes no state, but takes space.
void WatchedFiles::LoseName(const FileId& file) {
  if (!watcher_.wants_deleted()) {
    written_.erase(file);
  } else if (const auto found = written_.find(file); found != written_.end()) {
    found->second.has_name = false;
  }
}

// For calls that name two files: caip carries out those of which one is watched.
bool WatchedFiles::MayReachName(const WatchedCall& call, int directory, uint64_t text,
                                PathEnd end) const {
  const auto path = call.ReadText(text);
  return path && MayReach(call, root_.caller().Find(), {directory, *path, end});
}

Handled WatchedFiles::Rename(const WatchedCall& call) {
  const bool at = call.number() == SYS_renameat || call.number() == SYS_renameat2;
  const uint64_t from_text = call.argument(at ? 1 : 0);
  const uint64_t to_text = call.argument(at ? 3 : 1);
  const int from_directory = at ? call.descriptor(0) : AT_FDCWD;
  const int to_directory = at ? call.descriptor(2) : AT_FDCWD;
  const auto from = Resolve(call, from_directory, from_text, PathEnd::kDirectoryName);
  const auto to = Resolve(call, to_directory, to_text, PathEnd::kDirectoryName);
  if (!from || !to || !(IsChangeWatched(*from) || IsChangeWatched(*to)) ||
      !MayReachName(call, from_directory, from_text, PathEnd::kDirectoryName) ||
      !MayReachName(call, to_directory, to_text, PathEnd::kDirectoryName)) {
    return Handled::kNotMine;
  }
  const auto flags = static_cast<unsigned>(call.number() == SYS_renameat2 ? call.argument(4) : 0);
  const bool exchanges = (flags & RENAME_EXCHANGE) != 0;
  // "to/" is a new name for a directory only: the kernel refuses the call.
  if (!exchanges && EndsWithSlash(call, to_text) && !IsDirectoryItself(root_, *from)) {
    return Handled::kNotMine;
  }
  if (EndSoFarBelow(*from).kind == Verdict::Kind::kNever) return Handled::kNever;
  if (exchanges && EndSoFarBelow(*to).kind == Verdict::Kind::kNever) return Handled::kNever;
  const FileOperation operation{FileOperation::Kind::kRename, *from, *to};
  if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
  const auto replaced = *from == *to ? std::nullopt : OnlyNameOf(*to);
  if (!root_.Rename(*from, *to, flags)) return Answer(call, operation, -errno);
  if (replaced && !exchanges) LoseName(*replaced);
  for (auto& [id, written] : written_) {
    if (IsAtOrBelow(written.path, *from)) {
      written.path = *to + written.path.substr(from->size());
    } else if (exchanges && IsAtOrBelow(written.path, *to)) {
      written.path = *from + written.path.substr(to->size());
    }
  }
  return Answer(call, operation, 0);
}

Handled WatchedFiles::Delete(const WatchedCall& call) {
  const bool at = call.number() == SYS_unlinkat;
  bool is_directory = at && (call.argument(2) & AT_REMOVEDIR);
#ifdef SYS_rmdir
  is_directory |= call.number() == SYS_rmdir;
#endif
  const auto path = Resolve(call, at ? call.descriptor(0) : AT_FDCWD, call.argument(at ? 1 : 0),
                            is_directory ? PathEnd::kDirectoryName : PathEnd::kName);
  if (!path || !IsChangeWatched(*path)) return Handled::kNotMine;
  const FileOperation operation{FileOperation::Kind::kDelete, *path};
  if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
  const auto removed = OnlyNameOf(*path);
  if (!root_.Remove(*path, is_directory)) return Answer(call, operation, -errno);
  if (removed) LoseName(*removed);
  return Answer(call, operation, 0);
}

Handled WatchedFiles::MakeDirectory(const WatchedCall& call) {
  const bool at = call.number() == SYS_mkdirat;
  const auto path = Resolve(call, at ? call.descriptor(0) : AT_FDCWD, call.argument(at ? 1 : 0),
                            PathEnd::kDirectoryName);
  // One that exists is not made: the kernel says so.
  if (!path || !IsChangeWatched(*path) || root_.Stat(*path)) return Handled::kNotMine;
  const FileOperation operation{FileOperation::Kind::kMakeDirectory, *path};
  if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
  const auto mode = static_cast<mode_t>(call.argument(at ? 2 : 1)) & ~UmaskOf(call) & 01777;
  return Answer(call, operation, root_.MakeDirectory(*path, mode) ? 0 : -errno);
}

Handled WatchedFiles::Link(const WatchedCall& call) {
  const bool at = call.number() == SYS_linkat;
  const bool follows = at && (call.argument(4) & AT_SYMLINK_FOLLOW);
  const PathEnd end = follows ? PathEnd::kFollowed : PathEnd::kName;
  const int directory = at ? call.descriptor(0) : AT_FDCWD;
  const uint64_t from_text = call.argument(at ? 1 : 0);
  const auto from = Resolve(call, directory, from_text, end);
  const auto to = Resolve(call, at ? call.descriptor(2) : AT_FDCWD, call.argument(at ? 3 : 1));
  if (!from || !to || !IsChangeWatched(*to)) return Handled::kNotMine;
  if (!MayReachName(call, directory, from_text, end)) return Handled::kNotMine;
  const FileOperation operation{FileOperation::Kind::kLink, *to, *from};
  if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
  return Answer(call, operation, root_.Link(*from, *to) ? 0 : -errno);
}

Handled WatchedFiles::Symlink(const WatchedCall& call) {
  const bool at = call.number() == SYS_symlinkat;
  const auto text = call.ReadText(call.argument(0));
  const auto path = Resolve(call, at ? call.descriptor(1) : AT_FDCWD, call.argument(at ? 2 : 1));
  if (!text || !path || !IsChangeWatched(*path)) return Handled::kNotMine;
  const FileOperation operation{FileOperation::Kind::kSymlink, *path, *text};
  if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
  return Answer(call, operation, root_.Symlink(*text, *path) ? 0 : -errno);
}

}  // namespace caip::host
