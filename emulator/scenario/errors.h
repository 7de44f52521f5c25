#pragma once
// The errors that stop a scenario from running. A failed expectation is not an error.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "harness/scenario/report.h"

namespace caip::scenario::errors {

// Errors of the job. JobRejected has the code of `cause`.
Error JobRejected(const Error& cause);
Error NoTrainingInput();
/// The file is a config for a job, not a scenario.
Error JobConfig(const Path& file);
/// `where` names the packages: a flag, or a field.
Error PackageInBucket(std::string_view where, std::string_view uri);
/// Of packageUris, which the service reads from buckets only.
Error PackageOfVertexJob(std::string_view uri);
/// The words of a job may not read the standard input, which each run would read again.
Error StandardInputOfJob();
/// `{job_dir}` in the scenario's command is a directory, whatever a flag says.
Error JobDirIsADirectory();
Error PortsOnMachines();
/// A fault names a replica that the job does not have.
Error FaultWithoutReplica(std::string_view fault, std::string_view replica,
                          const std::vector<std::string>& replicas);
Error BucketUnreadable(std::string_view bucket, const Path& from, std::string_view why);
Error NeverStarted(std::string_view replica);
/// The run without faults did not succeed.
Error BaselineRunFailed(const harness::Evidence& run);

/// kUnimplemented: this host cannot inject a fault of the network.
Error NetworkFaultNotInjected(std::string_view why);
/// kUnimplemented: its replicas are processes of this host.
Error ClusterNeedsMachines();
Error NetworkFaultNeedsMachines(std::string_view fault);

// Errors of volumes. VolumeNeedsMachines is kUnimplemented, VolumeTooLarge kFailedPrecondition.
Error VolumeNeedsMachines(const Path& volume);
Error VolumeTooLarge(const Path& volume, uint64_t bytes_max);
Error CannotCopyVolume(const Path& file, int error_number);
Error CannotReadVolume(const Path& file, int error_number);

/// The error of a job API call that a fault refuses with this HTTP status.
Error CallRefused(int status, std::string_view why);

/// kResourceExhausted. No other error of a run has this code.
Error DiskFull(const Path& directory);

// The host prevented a run, so it shows nothing about the trainer. kUnimplemented.
Error ReplicaRefused(std::string_view why);
Error NoDescriptorsForRun(uint64_t limit);
Error TaskPortTaken();
Error TaskPortShared();

// A system call failed.
Error CannotKeep(std::string_view file, int error_number);
Error CannotRestore(const Path& file, int error_number);
Error CannotShare(std::string_view cache, int error_number);

}  // namespace caip::scenario::errors
