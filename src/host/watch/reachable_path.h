#pragma once
// Whether the thread that makes a call may follow a path.

#include <optional>

#include "host/watch/caller_rights.h"
#include "host/watch/watched_call.h"
#include "host/watch/watched_process.h"

namespace caip::host {

/// Whether these rights of the call's thread let it search each directory on the way to the path's
/// last name, links included. A last name that does not exist is reachable. True for nullopt,
/// caip's own rights. caip resolves paths with its own rights, which a caller may lack.
bool MayReach(const WatchedCall& call, const std::optional<FileRights>& rights,
              const NamedPath& path);

}  // namespace caip::host
