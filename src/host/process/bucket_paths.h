#pragma once
// Buckets as directories of replicas (ReplicaLaunch::buckets_at).

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

/// Replaces such paths in the command line and the environment of a replica. Returns whether there
/// was one.
bool ReplaceBucketPaths(engine::ReplicaLaunch& launch, const std::string& buckets);

/// Mounts the directory of the buckets in a replica with files of its own. Replaces the paths of
/// another one, and returns a warning if there was one.
std::vector<ReplicaOutput::Remark> ShowBuckets(const Path& buckets, bool has_own_root,
                                               engine::ReplicaLaunch& launch);

}  // namespace caip::host
