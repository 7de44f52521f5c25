#pragma once
// The texts of the rules of a CustomJob, one maker for each rule, named after the failure. Texts
// that the service is known to write are marked "attested" (docs/service/vertex.md, section 4).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace caip::vertex {

/// "job_spec.worker_pool_specs[1].machine_spec.machine_type"; `rest` may be "".
std::string PoolField(size_t index, std::string_view rest);
/// Violations of a custom job under the names of a resource that has the job's spec in another
/// field: "job_spec.x" becomes "FIELD.x".
std::vector<FieldViolation> WithSpecField(std::vector<FieldViolation> violations,
                                          std::string_view field);

namespace violations {

std::string Required();  // attested
std::string HoldsNul();

// The job.
std::string DisplayNameTooLong(size_t length);
std::string LocationUnknown(std::string_view location, const std::vector<std::string>& known);
std::string LabelsIllegal(std::string_view what);  // attested; `what` is our own last sentence
std::string KmsKeyMalformed(std::string_view key);
std::string KmsKeyElsewhere(std::string_view key_location, std::string_view location);

// Pools.
std::string TooManyPools(size_t count);
std::string FirstPoolEmpty();
std::string TasksOfPool(bool has_both);
std::string ReplicaCountOfFirstPool(int64_t count);
std::string ReplicaCountNotPositive(int64_t count);
std::string TooManyReplicas(int64_t limit);

// Machines.
std::string MachineUnknown(std::string_view machine, std::string_view nearest);
std::string AcceleratorIncomplete();  // attested
std::string AcceleratorCountNegative(int64_t count);
std::string AcceleratorsOfMachineMissing(std::string_view machine,
                                         const std::vector<std::string>& types);
/// Attested, as a plain message.
std::string AcceleratorUnsupported(std::string_view type, std::string_view machine);
std::string AcceleratorCountIllegal(std::string_view type, int64_t count, std::string_view machine,
                                    std::string_view legal);
std::string DiskTypeUnknown(std::string_view type);
std::string DiskSizeOutOfRange(int32_t size_gb);

// Programs.
std::string ImageMalformed(std::string_view uri);
std::string TooManyPackages(size_t count);
std::string PackageMalformed(std::string_view uri, std::string_view why);
std::string ModuleMalformed(std::string_view module);
std::string ArgsTooLong(size_t length);
std::string TooManyEnvVars(size_t count);
std::string EnvVarNameIllegal(std::string_view name);
std::string EnvVarNamesNotUnique();  // attested
std::string EnvVarTooLong(size_t bytes_max);
std::string EnvTooLong(size_t bytes_max);
std::string NotServed(std::string_view field);
/// `source`: "10.0.0.2:/data".
std::string NfsExportUnmapped(std::string_view source);
std::string NfsPathMalformed(std::string_view path);
std::string NfsMountPointMalformed(std::string_view mount_point);
std::string NfsMountPointTaken(std::string_view place, std::string_view other);

// Scheduling.
std::string TimeoutNotPositive(Duration timeout);
std::string MaxWaitNegative(Duration wait);
std::string FlexStartTimeoutTooLong(Duration timeout);
std::string FlexStartWithout(std::string_view accelerator, const std::vector<std::string>& known);
std::string FlexStartMachinesDiffer();
std::string SpotWithTpuPod(std::string_view type, int64_t count);

// Where, and as whom.
std::string OutputMalformed(std::string_view uri, std::string_view why);
std::string ServiceAccountMalformed(std::string_view account);
std::string TensorboardWithoutAccount();  // attested, as a plain message
std::string NetworkMalformed(std::string_view network);
/// `form` is "projects/P/locations/L/tensorboards/T".
std::string NameMalformed(std::string_view name, std::string_view form);

/// True for a violation whose text the service is known to send as a plain message.
bool IsPlain(const FieldViolation& violation);

}  // namespace violations
}  // namespace caip::vertex
