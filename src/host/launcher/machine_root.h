#pragma once
// The file system of a machine: mounts that only its processes see (man 7 mount_namespaces).

#include <string>

#include "host/launcher/networks.h"
#include "host/launcher/protocol.h"

namespace caip::host::launcher {

/// Makes the mounts of the recipe in the calling process's mount namespace, which must be new, and
/// then makes `recipe.root` the root. An empty root: the mounts are made in the host's file system.
/// Targets are looked up inside the new root, also through symbolic links, and are created where
/// they do not exist. `failed_mount`: the target of the mount that failed, if one did.
Outcome MakeRoot(const Recipe& recipe, std::string& failed_mount);

}  // namespace caip::host::launcher
