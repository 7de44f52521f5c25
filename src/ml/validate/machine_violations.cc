// The texts of the rules of machines, accelerators and TPUs.

#include "base/quoting.h"
#include "base/text.h"
#include "ml/limits.h"
#include "ml/validate/violations.h"

namespace caip::ml {
namespace {

FieldViolation About(Role role, std::string_view rest, std::string description) {
  return {RoleField(role, rest), std::move(description)};
}

}  // namespace

std::string RoleField(Role role, std::string_view rest) {
  constexpr std::string_view kNames[] = {"master", "worker", "parameter_server", "evaluator"};
  return std::string(kNames[static_cast<size_t>(role)]) + "_" + std::string(rest);
}

std::string_view RoleInProse(Role role) {
  constexpr std::string_view kNames[] = {"master", "worker", "parameter server", "evaluator"};
  return kNames[static_cast<size_t>(role)];
}

namespace violations {

FieldViolation ScaleTierUnknown(std::string_view tier) {
  return {"scale_tier", "The scale tier " + Quoted(tier) + " is not offered."};
}

FieldViolation OnlyWithCustomTier(std::string field, std::string_view value,
                                  std::string_view tier) {
  const std::string text = Quoted(value) + " can be asked for only with scale tier 'CUSTOM', but " +
                           "the job's is " + Quoted(tier) + ". Set scale_tier to CUSTOM, or " +
                           "remove " + field + ".";
  return {std::move(field), text};
}

FieldViolation MachineUnknown(Role role, std::string_view machine) {
  return About(role, "type",
               "The specified machine type " + Quoted(machine) +
                   " is not available. Use a Compute Engine machine type as 'n1-standard-8', or a "
                   "legacy one as 'large_model'.");
}

FieldViolation MachineOnlyInTiers(Role role, std::string_view machine) {
  return About(role, "type",
               "The machine type " + Quoted(machine) +
                   " is used inside scale tiers only. Use a larger one of its series.");
}

FieldViolation MachinesOfTwoCategories(Role role, std::string_view machine,
                                       std::string_view category, Role other,
                                       std::string_view other_machine,
                                       std::string_view other_category) {
  return About(role, "type",
               "All machine types of a job must be legacy ones, or all Compute Engine's: " +
                   Quoted(machine) + " is " + std::string(category) + ", but " +
                   RoleField(other, "type") + " " + Quoted(other_machine) + " is " +
                   std::string(other_category) + ".");
}

FieldViolation CountNegative(Role role, int64_t count) {
  return About(role, "count",
               "The count " + std::to_string(count) + " is negative. It must be 0 or more.");
}

FieldViolation CountWithoutType(Role role, int64_t count) {
  return About(role, "type",
               "The job asks for " + std::to_string(count) + " replicas of role " +
                   std::string(RoleInProse(role)) + ", but not on which machines. Set " +
                   RoleField(role, "type") + ".");
}

FieldViolation TypeWithoutCount(Role role, std::string_view machine) {
  return About(role, "count",
               "The job names machine type " + Quoted(machine) + " for role " +
                   std::string(RoleInProse(role)) + ", but not how many. Set " +
                   RoleField(role, "count") + " to 1 or more, or remove the type.");
}

FieldViolation TooManyReplicas(int64_t limit) {
  return {"worker_count", "The job asks for more than " + std::to_string(limit) +
                              " replicas, which is more than one machine can emulate."};
}

FieldViolation DiskTypeUnknown(Role role, std::string_view type) {
  return About(role, "config.disk_config.boot_disk_type",
               "The boot disk type " + Quoted(type) +
                   " is not available. Options are [pd-ssd, pd-standard].");
}

FieldViolation DiskSizeOutOfRange(Role role, int32_t size_gb) {
  return About(role, "config.disk_config.boot_disk_size_gb",
               "The boot disk size of " + std::to_string(size_gb) +
                   " GB is out of range. It must be " + std::to_string(kBootDiskGbMin) + " to " +
                   std::to_string(kBootDiskGbMax) + ".");
}

FieldViolation AcceleratorTypeMissing(Role role) {
  return About(role, "config.accelerator_config.type",
               "The accelerator type is required. Name one, as NVIDIA_TESLA_T4, or remove "
               "accelerator_config.");
}

FieldViolation AcceleratorCountNotPositive(Role role, std::string_view type, int64_t count) {
  return About(role, "config.accelerator_config.count",
               "The count " + std::to_string(count) + " of accelerator " + Quoted(type) +
                   " is illegal. It must be 1 or more.");
}

FieldViolation AcceleratorWithoutMachine(Role role) {
  return About(role, "config.accelerator_config",
               "Accelerators need a Compute Engine machine type. Set scale_tier to CUSTOM and " +
                   RoleField(role, "type") + " to one, as 'n1-standard-8'.");
}

FieldViolation AcceleratorOnLegacyMachine(Role role, std::string_view machine) {
  return About(role, "config.accelerator_config",
               "Accelerators cannot be added to the legacy machine type " + Quoted(machine) +
                   ". Use a Compute Engine machine type, or a legacy one that has GPUs, as "
                   "'standard_gpu'.");
}

FieldViolation AcceleratorNotForMachine(Role role, std::string_view type, std::string_view machine,
                                        const std::vector<std::string>& legal_types) {
  const std::string options =
      legal_types.empty() ? "It takes none." : "Options are [" + Join(legal_types, ", ") + "].";
  return About(role, "config.accelerator_config.type",
               "The accelerator " + Quoted(type) + " cannot be used with machine type " +
                   Quoted(machine) + ". " + options);
}

FieldViolation AcceleratorCountIllegal(Role role, std::string_view type, int64_t count,
                                       std::string_view machine, std::string_view legal_counts) {
  return About(role, "config.accelerator_config.count",
               std::to_string(count) + " accelerators " + Quoted(type) +
                   " cannot be used with machine type " + Quoted(machine) + ". Options are [" +
                   std::string(legal_counts) + "].");
}

FieldViolation TpuOnlyOnTpuWorker(Role role, std::string_view type) {
  return About(role, "config.accelerator_config.type",
               "The accelerator " + Quoted(type) +
                   " is a TPU, which only workers of machine type 'cloud_tpu' have.");
}

// The service's own words for the master, missing blank and all.
FieldViolation MachineNotInTpuJobs(Role role, std::string_view machine) {
  const std::string subject =
      role == Role::kMaster ? "masteris" : std::string(RoleInProse(role)) + " is";
  return About(role, "type",
               "The specified machine type for " + subject +
                   " not supported in TPU training jobs: " + std::string(machine));
}

FieldViolation TpuWorkerCount(int64_t count) {
  return {"worker_count", "A job has one worker of machine type 'cloud_tpu', not " +
                              std::to_string(count) +
                              ". Set worker_count to 1; larger TPUs are asked for by "
                              "worker_config.accelerator_config."};
}

// The service's own words.
FieldViolation RuntimeWithoutTpu(std::string field, std::string_view version) {
  return {std::move(field), "The specified runtime version " + Quoted(version) +
                                " is not supported for TPU training. Please specify a different "
                                "runtime version."};
}

FieldViolation TpuVersionMissing() {
  return {"tpu_tf_version",
          "The field is required in a TPU job with a custom container. Set "
          "worker_config.tpu_tf_version to the TensorFlow version of the image, as '2.1'."};
}

FieldViolation TpuVersionForbidden(Role role) {
  return {"tpu_tf_version", RoleField(role, "config.tpu_tf_version") +
                                " can be set only for a worker of machine type 'cloud_tpu' in a "
                                "job with a custom container. Remove it."};
}

}  // namespace violations
}  // namespace caip::ml
