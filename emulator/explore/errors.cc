#include "emulator/explore/errors.h"

#include "base/text.h"

namespace caip::explore::errors {

Error BaselineFailed(std::string_view state, std::string_view why) {
  return {Code::kFailedPrecondition, "The job does not succeed in the baseline run: " +
                                         std::string(state) + " " + std::string(why)};
}

Error StorageErrorsNeedObjects() {
  return {Code::kInvalidArgument,
          "--faults storage-errors needs `semantics: object`. A directory does not answer 503: the "
          "file system that mounts a bucket repeats such requests itself."};
}

Error NetworkCutsNeedNetwork() {
  return {
      Code::kInvalidArgument,
      "--faults network-cuts needs `semantics: object` and replicas on machines of their own. A "
      "directory is reached without a network, and processes share the network of this host."};
}

Error NoSuchReplica(std::string_view replica, const std::vector<std::string>& replicas) {
  return {Code::kInvalidArgument, "The job has no replica '" + std::string(replica) + "'; it has " +
                                      Join(replicas, ", ") + "."};
}

}  // namespace caip::explore::errors
