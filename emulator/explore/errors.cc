#include "emulator/explore/errors.h"

#include "base/text.h"
#include "harness/scenario/report.h"

namespace caip::explore::errors {

Error Interrupted() { return {Code::kCancelled, "Interrupted before the first restart."}; }

Error BaselineFailed(const harness::Evidence& run) {
  return {Code::kFailedPrecondition, "The job does not succeed in the baseline run: " + run.state +
                                         " " + harness::DescribeFailure(run)};
}

Error NothingToCompare() {
  return {Code::kFailedPrecondition,
          "Nothing could be compared: the job reports no steps, and leaves no files in its volumes "
          "or its buckets. Let it print its steps (`step 12 loss 0.3`), describe its lines with "
          "--step-regex, or name the directory that it writes with --out-dir."};
}

Error OtherVolumesNeedMachines(const std::vector<Path>& directories) {
  std::vector<std::string> names;
  for (const Path& directory : directories) names.push_back(directory.string());
  return {Code::kUnimplemented,
          "The command writes " + Join(names, ", ") +
              ", which runs would share, because replicas are processes of this host. See `caip "
              "doctor` for what machines need, or let the command write to {job_dir}."};
}

Error StorageErrorsNeedObjects() {
  return {Code::kInvalidArgument,
          "--faults storage-errors needs `semantics: object`. A directory does not answer 503: the "
          "file system that mounts a bucket repeats such requests itself."};
}

Error NetworkCutsNeedObjects() {
  return {Code::kInvalidArgument,
          "--faults network-cuts needs `semantics: object`. A directory is reached without a "
          "network. --faults network concerns the packets between replicas, too."};
}

Error NetworkFaultsNeedMachines() {
  return {Code::kInvalidArgument,
          "Faults of the network need replicas on machines of their own. Processes share the "
          "network of this host."};
}

Error PowerLossNeedsFiles() {
  return {Code::kInvalidArgument,
          "--faults power-loss needs a job that writes files: a command with a directory, or "
          "`semantics: posix`. A failure of the power changes no object."};
}

Error FullDisksNeedFiles() {
  return {Code::kInvalidArgument,
          "--faults full-disk needs a job that writes files: into volumes, into a directory of "
          "`semantics: posix`, or to the disk of its machine. A bucket is never full."};
}

Error PowerLossNeedsOneReplica() {
  return {
      Code::kInvalidArgument,
      "--faults power-loss needs a job with one replica. Several replicas share their volumes."};
}

Error NoSuchReplica(std::string_view replica, const std::vector<std::string>& replicas) {
  return {Code::kInvalidArgument, "The job has no replica '" + std::string(replica) + "'; it has " +
                                      Join(replicas, ", ") + "."};
}

}  // namespace caip::explore::errors
