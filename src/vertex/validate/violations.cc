#include "vertex/validate/violations.h"

#include "base/quoting.h"
#include "base/text.h"
#include "base/time_text.h"
#include "google/labels.h"
#include "vertex/limits.h"

namespace caip::vertex {
namespace {

constexpr std::string_view kUnsupportedStart = "Accelerator \"";
constexpr std::string_view kUnsupportedMiddle = "\" is not supported for machine type \"";

std::string Words(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

}  // namespace

std::string PoolField(size_t index, std::string_view rest) {
  const std::string pool = "job_spec.worker_pool_specs[" + std::to_string(index) + "]";
  return rest.empty() ? pool : pool + "." + std::string(rest);
}

std::vector<FieldViolation> WithSpecField(std::vector<FieldViolation> violations,
                                          std::string_view field) {
  constexpr std::string_view kJobSpec = "job_spec";
  for (FieldViolation& violation : violations) {
    const std::string& old = violation.field;
    const bool is_of_spec = old == kJobSpec || old.starts_with(std::string(kJobSpec) + ".");
    if (is_of_spec) violation.field = std::string(field) + old.substr(kJobSpec.size());
  }
  return violations;
}

namespace violations {

std::string Required() { return "Required field is not set."; }

std::string HoldsNul() {
  return "The text has a NUL character, which no command line can hold. Remove it.";
}

std::string DisplayNameTooLong(size_t length) {
  return Words({"The display name has ", std::to_string(length), " characters. At most ",
                std::to_string(kDisplayNameMax), " are allowed."});
}

std::string LocationUnknown(std::string_view location, const std::vector<std::string>& known) {
  return Words({Quoted(location),
                " is not a region of custom training. Use one of: ", Join(known, ", "), "."});
}

std::string LabelsIllegal(std::string_view what) {
  return Words({"There can be no more than ", std::to_string(google::kLabelsMax),
                " labels attached to a single resource. Label keys and values can only contain "
                "lowercase letters, numbers, dashes and underscores. Label keys must start with a "
                "letter. Both have at most ",
                std::to_string(google::kLabelLengthMax), " characters. ", what});
}

std::string KmsKeyMalformed(std::string_view key) {
  return Words({"The key name ", Quoted(key),
                " is malformed. It must have the form "
                "projects/P/locations/REGION/keyRings/RING/cryptoKeys/KEY."});
}

std::string KmsKeyElsewhere(std::string_view key_location, std::string_view location) {
  return Words({"The key is in location ", Quoted(key_location), ", but the job's location is ",
                Quoted(location), ". Both must be the same."});
}

std::string TooManyPools(size_t count) {
  return Words({"The job has ", std::to_string(count), " worker pools. At most ",
                std::to_string(kPoolsMax),
                " are allowed: the chief, workers, parameter servers or reducers, evaluators."});
}

std::string FirstPoolEmpty() {
  return "The first worker pool is empty. It must have a machine and a program; only later pools "
         "may be {}.";
}

std::string TasksOfPool(bool has_both) {
  return Words({"Exactly one of container_spec and python_package_spec must be set, but ",
                has_both ? "both are. Remove one of them." : "none is. Set one of them."});
}

std::string ReplicaCountOfFirstPool(int64_t count) {
  return Words({"The first worker pool has ", std::to_string(count),
                " replicas. It must have exactly 1; put the others into the second pool."});
}

std::string ReplicaCountNotPositive(int64_t count) {
  return Words({"The replica count ", std::to_string(count),
                " is not positive. Use 1 or more, or leave the whole pool empty: {}."});
}

std::string TooManyReplicas(int64_t limit) {
  return Words({"The worker pools have more than ", std::to_string(limit),
                " replicas together. Use fewer."});
}

std::string MachineUnknown(std::string_view machine, std::string_view nearest) {
  const std::string advice = nearest.empty() ? "Use a type such as n1-standard-4."
                                             : Words({"The nearest one is ", Quoted(nearest), "."});
  return Words({Quoted(machine), " is not a machine type of custom training. ", advice});
}

std::string AcceleratorIncomplete() {
  return "Both `accelerator_type` and `accelerator_count` should be specified or none.";
}

std::string AcceleratorCountNegative(int64_t count) {
  return Words({"The accelerator count ", std::to_string(count), " is negative. Use 1 or more."});
}

std::string AcceleratorsOfMachineMissing(std::string_view machine,
                                         const std::vector<std::string>& types) {
  return Words({"The machine type ", Quoted(machine),
                " comes with accelerators, which must be named. Set accelerator_type to ",
                Join(types, " or "), ", and accelerator_count."});
}

std::string AcceleratorUnsupported(std::string_view type, std::string_view machine) {
  return Words({kUnsupportedStart, type, kUnsupportedMiddle, machine, "\""});
}

std::string AcceleratorCountIllegal(std::string_view type, int64_t count, std::string_view machine,
                                    std::string_view legal) {
  return Words({"The machine type ", Quoted(machine), " cannot have ", std::to_string(count), " ",
                type, ". Legal counts: ", legal, "."});
}

std::string DiskTypeUnknown(std::string_view type) {
  return Words({Quoted(type),
                " is not a type of boot disks. Use pd-ssd, pd-standard or hyperdisk-balanced."});
}

std::string DiskSizeOutOfRange(int32_t size_gb) {
  return Words({"The boot disk of ", std::to_string(size_gb), " GB is out of range. Use ",
                std::to_string(kBootDiskGbMin), " to ", std::to_string(kBootDiskGbMax), " GB."});
}

std::string ImageMalformed(std::string_view uri) {
  return Words({Quoted(uri),
                " is not a container image. It must have the form REGISTRY/PATH:TAG or "
                "REGISTRY/PATH@DIGEST, for example us-docker.pkg.dev/my-project/images/train:v1."});
}

std::string TooManyPackages(size_t count) {
  return Words({"The worker pool has ", std::to_string(count), " package URIs. At most ",
                std::to_string(kPackagesMax), " are allowed."});
}

std::string PackageMalformed(std::string_view uri, std::string_view why) {
  return Words({"The package ", Quoted(uri), " is not an object in Cloud Storage. ", why});
}

std::string ModuleMalformed(std::string_view module) {
  return Words({Quoted(module),
                " is not a Python module. Give names joined by dots, without path and without "
                ".py: trainer.task"});
}

std::string ArgsTooLong(size_t length) {
  return Words({"The arguments have ", std::to_string(length), " characters together. At most ",
                std::to_string(kArgsMax), " are allowed."});
}

std::string TooManyEnvVars(size_t count) {
  return Words({"The worker pool has ", std::to_string(count), " environment variables. At most ",
                std::to_string(kEnvVarsMax), " are allowed."});
}

std::string EnvVarNameIllegal(std::string_view name) {
  return Words({Quoted(name),
                " is not a name of an environment variable. Use letters, digits and underscores, "
                "and no digit at the start."});
}

std::string EnvVarNamesNotUnique() { return "EnvVar names must be unique."; }

std::string EnvVarTooLong(size_t bytes_max) {
  return "The value has more than " + std::to_string(bytes_max) +
         " bytes once its references $(NAME) are replaced. No program can be started with it. "
         "Shorten it, or put it into a file.";
}

std::string EnvTooLong(size_t bytes_max) {
  return "The values have more than " + std::to_string(bytes_max) +
         " bytes together once their references $(NAME) are replaced. No program can be started "
         "with them. Shorten them, or put them into a file.";
}

std::string NotServed(std::string_view field) {
  return Words({"caip does not serve ", Quoted(field), ". Remove the field."});
}

std::string NfsExportUnmapped(std::string_view source) {
  return Words({"No directory of this host stands for the NFS export ", Quoted(source),
                ". Map it to one below nfs_exports of config.yaml, or remove nfsMounts."});
}

std::string NfsPathMalformed(std::string_view path) {
  return Words(
      {"The path ", Quoted(path), " is not absolute. Begin it with '/', and leave out '..'."});
}

std::string NfsMountPointMalformed(std::string_view mount_point) {
  return Words({"The mount point ", Quoted(mount_point),
                " is not below /mnt/nfs/. Name a directory there, such as 'data'."});
}

std::string NfsMountPointTaken(std::string_view place, std::string_view other) {
  return Words({"The mount at ", Quoted(place), " and that at ", Quoted(other),
                " are not beside each other. Give each mount a directory of its own."});
}

std::string TimeoutNotPositive(Duration timeout) {
  return Words({"The timeout ", Quoted(ProtoDuration(timeout)),
                " is not positive. Use more than '0s', or omit it for seven days."});
}

std::string MaxWaitNegative(Duration wait) {
  return Words({"The maximum wait duration ", Quoted(ProtoDuration(wait)),
                " is negative. Use '0s' to wait without a limit."});
}

std::string FlexStartTimeoutTooLong(Duration timeout) {
  return Words({"The timeout ", Quoted(ProtoDuration(timeout)),
                " is too long for the strategy FLEX_START. Use at most ",
                Quoted(ProtoDuration(kFlexStartTimeoutMax)), "."});
}

std::string FlexStartWithout(std::string_view accelerator, const std::vector<std::string>& known) {
  return Words({"The strategy FLEX_START needs accelerators, but the pool has ",
                accelerator.empty() ? "none" : accelerator, ". Use one of: ", Join(known, ", "),
                "."});
}

std::string FlexStartMachinesDiffer() {
  return "The strategy FLEX_START needs the same machine in all worker pools. Repeat the "
         "machine_spec of the first pool.";
}

std::string SpotWithTpuPod(std::string_view type, int64_t count) {
  return Words({"The strategy SPOT cannot be used with a TPU pod (", std::to_string(count), " ",
                type, "). Use a single TPU device, or another strategy."});
}

std::string OutputMalformed(std::string_view uri, std::string_view why) {
  return Words(
      {"The output directory ", Quoted(uri), " is not a location in Cloud Storage. ", why});
}

std::string ServiceAccountMalformed(std::string_view account) {
  return Words({"The service account ", Quoted(account),
                " is malformed. Give its e-mail address, as in "
                "trainer@my-project.iam.gserviceaccount.com."});
}

std::string TensorboardWithoutAccount() {
  return "custom_job.job_spec.service_account must be specified when uploading to TensorBoard";
}

std::string NetworkMalformed(std::string_view network) {
  return Words({"The network ", Quoted(network),
                " is malformed. It must have the form projects/NUMBER/global/networks/NAME, with "
                "the project's number."});
}

std::string NameMalformed(std::string_view name, std::string_view form) {
  return Words({"The name ", Quoted(name), " is malformed. It must have the form ", form, "."});
}

bool IsPlain(const FieldViolation& violation) {
  const std::string& text = violation.description;
  if (text == TensorboardWithoutAccount()) return true;
  return text.starts_with(kUnsupportedStart) && text.find(kUnsupportedMiddle) != text.npos;
}

}  // namespace violations
}  // namespace caip::vertex
