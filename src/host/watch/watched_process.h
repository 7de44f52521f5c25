#pragma once
// Facts about the process that makes a watched call: paths, descriptors, ancestors and descendants.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "host/watch/replica_root.h"
#include "host/watch/watched_call.h"

namespace caip::host {

/// What a call takes the last part of a path for.
enum class PathEnd {
  kName,           // the name of any file, which may be a link
  kDirectoryName,  // the same, but a slash may follow the name of a directory
  kFollowed,       // a link stands for the file to which it leads, which may not exist yet
};
/// A path in the memory of a process that makes a call.
struct NamedPath {
  int directory = -1;  // a descriptor of the process, or AT_FDCWD
  std::string text = {};
  PathEnd end = PathEnd::kName;
};
/// The path as the replica sees it, absolute and without links in its directories. nullopt when its
/// directory does not exist, or when the kernel refuses such a path: "file/", "new/" for a file,
/// "directory/.." for a name.
std::optional<std::string> ResolvePath(const WatchedCall& call, const ReplicaRoot& root,
                                       const NamedPath& path);

/// The path of an open file or directory, as the replica sees it. nullopt for pipes and the like.
std::optional<std::string> PathOfDescriptor(const WatchedCall& call, int descriptor);

/// A duplicate of one of the process's descriptors: the same open file with the same position.
Result<Fd> BorrowDescriptor(const WatchedCall& call, int descriptor);

/// The process's umask.
mode_t UmaskOf(const WatchedCall& call);

/// The position of the descriptor in its file; -1 if it has none.
int64_t PositionOf(const WatchedCall& call, int descriptor);

/// The process of the calling thread.
pid_t ProcessOf(const WatchedCall& call);

/// Every process that descends from `ancestor`.
std::vector<pid_t> DescendantsOf(pid_t ancestor);

/// Whether a thread of the process runs, is about to run, or waits for a disk.
bool IsRunning(pid_t process);

/// Duplicates of a process's descriptors of terminals that it has made for others.
std::vector<Fd> TerminalMastersOf(pid_t process);

/// A descriptor under which a process has a file open for writing.
struct FileWriter {
  pid_t process = 0;
  int descriptor = -1;
  bool closes_on_exec = false;
};
std::vector<FileWriter> WritersOf(pid_t process, const FileId& file);
/// nullopt if the file is not open for writing under that descriptor.
std::optional<FileWriter> WriterAt(pid_t process, int descriptor, const FileId& file);

}  // namespace caip::host
