#pragma once
// What a watched call is about to do to a file, to be noted and then left to the kernel.

#include <optional>

#include "host/watch/replica_watcher.h"
#include "host/watch/watched_call.h"

namespace caip::host {

/// nullopt for calls that touch no regular file, or none that is there or will be.
std::optional<FileSight> SightOf(const WatchedCall& call);

}  // namespace caip::host
