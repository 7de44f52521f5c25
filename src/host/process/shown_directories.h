#pragma once
// Directories of this host that replicas see at other paths: the buckets, and what stands for NFS
// servers (ReplicaLaunch::buckets_at and mounts).

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/process/replica_output.h"

namespace caip::host {

/// `text` with each path below `shown` ("/gcs/...") moved below `buckets`. A path begins the text,
/// or follows a blank, a quote or one of = : , ; ( < >.
std::string WithBucketPaths(std::string_view text, std::string_view shown,
                            std::string_view buckets);

/// The same for a mount, whose own path is moved, too.
std::string WithMountPaths(std::string_view text, const run::ShownDirectory& mount);

/// Replaces paths of buckets in the command line and the environment of a replica. Returns whether
/// there was one.
bool ReplaceBucketPaths(engine::ReplicaLaunch& launch, const std::string& buckets);

/// Mounts the buckets of the state directory, and `launch.mounts`, in a replica with files of its
/// own. Replaces the paths of another one, and returns a warning for each that was used.
std::vector<ReplicaOutput::Remark> ShowDirectories(const Path& state, bool has_own_root,
                                                   engine::ReplicaLaunch& launch);

/// Makes the directories of a replica without files of its own below its boot disk
/// (ReplicaLaunch::user_directories). A container may see them as any user, so every user may write
/// its metrics.
Status MakeUserDirectories(const engine::ReplicaLaunch& launch, const Path& boot_disk);

/// kFailedPrecondition: the directory of a mount does not exist.
Status CheckMounts(const std::vector<run::ShownDirectory>& mounts);

}  // namespace caip::host
