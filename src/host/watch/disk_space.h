#pragma once
// The space that files take on the disk of a replica.

#include <sys/types.h>

#include <cstdint>

#include "base/files.h"

namespace caip::host {

/// The bytes that the files below a directory take on its file system.
uint64_t SpaceBelow(const Path& directory);

/// The bytes of files that no name leads to any more: they take space as long as a process has them
/// open. Counts those of the processes that descend from `init`. `disk`: the directory of the disk
/// as they see it; "/": the root of their machine.
uint64_t SpaceOfDeleted(pid_t init, const Path& disk);

}  // namespace caip::host
