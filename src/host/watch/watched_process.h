#pragma once
// The process that makes a watched call, seen from outside: its paths, its descriptors, its
// relatives.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "host/watch/watched_call.h"

namespace caip::host {

/// The path that a call names, absolute and without links in its directories; the last part stays
/// as it is unless `follow`. nullopt when its directory does not exist. `directory` is a descriptor
/// of the process or AT_FDCWD.
std::optional<std::string> ResolvePath(const WatchedCall& call, int directory,
                                       const std::string& path, bool follow);

/// A duplicate of one of the process's descriptors: the same open file, position included.
Result<Fd> BorrowDescriptor(const WatchedCall& call, int descriptor);

/// What its umask takes away.
mode_t UmaskOf(const WatchedCall& call);

/// Where the descriptor stands in its file, -1 if there is none.
int64_t PositionOf(const WatchedCall& call, int descriptor);

/// The process that the calling thread belongs to.
pid_t ProcessOf(const WatchedCall& call);

/// The nearest ancestor that holds a replica together (launcher/replica_init.h), by its name; 1
/// where there is none.
pid_t InitOf(const WatchedCall& call);

/// Every process that descends from `ancestor`.
std::vector<pid_t> DescendantsOf(pid_t ancestor);

/// The descriptors under which a process has the file open for writing.
std::vector<int> WritersOf(pid_t process, const FileId& file);

}  // namespace caip::host
