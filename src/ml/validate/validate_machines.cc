// Scale tier, machine types, counts, disks, accelerators, TPUs.

#include <algorithm>

#include "base/text.h"
#include "ml/limits.h"
#include "ml/validate/validate_parts.h"
#include "ml/validate/violations.h"

namespace caip::ml {
namespace {

constexpr std::string_view kBootDiskTypes[] = {"pd-ssd", "pd-standard"};
constexpr std::string_view kNoAccelerator = "ACCELERATOR_TYPE_UNSPECIFIED";

const AcceleratorConfig* AcceleratorOf(const RoleInput& role) {
  return role.config && role.config->accelerator_config ? &*role.config->accelerator_config
                                                        : nullptr;
}

// With a tier other than CUSTOM the tier alone says which machines and how many.
void ExamineTierLimits(const Examination& exam, Role role) {
  const RoleInput& asked = exam.input.Of(role);
  if (exam.tier == nullptr || exam.is_custom) return;
  if (!asked.machine_type.empty()) {
    exam.Report(violations::OnlyWithCustomTier(RoleField(role, "type"), asked.machine_type,
                                               exam.tier->name));
  }
  if (asked.count > 0 && role != Role::kMaster) {
    exam.Report(violations::OnlyWithCustomTier(RoleField(role, "count"),
                                               std::to_string(asked.count), exam.tier->name));
  }
}

void ExamineType(const Examination& exam, Role role) {
  const std::string& name = exam.input.Of(role).machine_type;
  if (name.empty()) return;
  const MachineType* machine = exam.MachineOf(role);
  if (machine == nullptr) {
    exam.Report(violations::MachineUnknown(role, name));
  } else if (machine->tier_only) {
    exam.Report(violations::MachineOnlyInTiers(role, name));
  }
}

void ExamineCount(const Examination& exam, Role role) {
  const RoleInput& asked = exam.input.Of(role);
  if (role == Role::kMaster) {
    if (exam.is_custom && asked.machine_type.empty()) {
      exam.Report(violations::Required("master_type",
                                       "Scale tier CUSTOM needs the master's "
                                       "machine type, as 'n1-standard-8'."));
    }
    return;
  }
  if (asked.count < 0) {
    exam.Report(violations::CountNegative(role, asked.count));
  } else if (exam.is_custom && asked.count > 0 && asked.machine_type.empty()) {
    exam.Report(violations::CountWithoutType(role, asked.count));
  } else if (exam.is_custom && asked.count == 0 && !asked.machine_type.empty()) {
    exam.Report(violations::TypeWithoutCount(role, asked.machine_type));
  }
}

void ExamineTotal(const Examination& exam) {
  int64_t total = 1;
  for (const Role role : kRoles) {
    const int64_t count =
        role == Role::kMaster ? 0 : std::max<int64_t>(exam.input.Of(role).count, 0);
    total += std::min(count, kReplicasMax);
  }
  if (total > kReplicasMax) exam.Report(violations::TooManyReplicas(kReplicasMax));
}

std::string_view InWords(MachineCategory category) {
  return category == MachineCategory::kLegacy ? "a legacy one" : "one of Compute Engine";
}

// The first role with a machine sets the category; cloud_tpu stands beside both.
void ExamineCategories(const Examination& exam) {
  const MachineType* first = nullptr;
  Role first_role = Role::kMaster;
  for (const Role role : kRoles) {
    const MachineType* machine = exam.MachineOf(role);
    if (machine == nullptr || machine->category == MachineCategory::kTpu) continue;
    if (first == nullptr) {
      first = machine;
      first_role = role;
    } else if (machine->category != first->category) {
      exam.Report(violations::MachinesOfTwoCategories(role, machine->name,
                                                      InWords(machine->category), first_role,
                                                      first->name, InWords(first->category)));
    }
  }
}

void ExamineDisk(const Examination& exam, Role role) {
  const auto& config = exam.input.Of(role).config;
  if (!config || !config->disk_config) return;
  const std::string& type = config->disk_config->boot_disk_type;
  const int32_t size_gb = config->disk_config->boot_disk_size_gb;
  if (!type.empty() && std::find(std::begin(kBootDiskTypes), std::end(kBootDiskTypes), type) ==
                           std::end(kBootDiskTypes)) {
    exam.Report(violations::DiskTypeUnknown(role, type));
  }
  if (size_gb != 0 && (size_gb < kBootDiskGbMin || size_gb > kBootDiskGbMax)) {
    exam.Report(violations::DiskSizeOutOfRange(role, size_gb));
  }
}

void ExamineTpuAccelerator(const Examination& exam, Role role, const AcceleratorConfig& asked) {
  const TpuRules& tpu = exam.options.catalog->tpu();
  if (!tpu.IsTpuType(asked.type)) {
    std::vector<std::string> types = tpu.pod_types;
    for (const auto& [type, counts] : tpu.counts) types.push_back(type);
    std::sort(types.begin(), types.end());
    exam.Report(violations::AcceleratorNotForMachine(role, asked.type, tpu.machine_type, types));
  } else if (!tpu.Allows(asked.type, asked.count)) {
    exam.Report(violations::AcceleratorCountIllegal(role, asked.type, asked.count, tpu.machine_type,
                                                    tpu.CountsInWords(asked.type)));
  }
}

void ExamineGpu(const Examination& exam, Role role, const AcceleratorConfig& asked,
                const MachineType& machine) {
  const auto& legal = machine.accelerator_counts;
  const auto row = legal.find(asked.type);
  if (row == legal.end()) {
    std::vector<std::string> types;
    for (const auto& [type, counts] : legal) types.push_back(type);
    exam.Report(violations::AcceleratorNotForMachine(role, asked.type, machine.name, types));
    return;
  }
  if (std::find(row->second.begin(), row->second.end(), asked.count) != row->second.end()) return;
  std::vector<std::string> counts;
  for (const int64_t count : row->second) counts.push_back(std::to_string(count));
  exam.Report(violations::AcceleratorCountIllegal(role, asked.type, asked.count, machine.name,
                                                  Join(counts, ", ")));
}

void ExamineAccelerator(const Examination& exam, Role role, const AcceleratorConfig& asked) {
  const MachineType* machine = exam.MachineOf(role);
  if (exam.input.Of(role).machine_type.empty()) {
    exam.Report(violations::AcceleratorWithoutMachine(role));
    return;
  }
  if (machine != nullptr && machine->category == MachineCategory::kLegacy) {
    exam.Report(violations::AcceleratorOnLegacyMachine(role, machine->name));
    return;
  }
  if (asked.type.empty() || asked.type == kNoAccelerator) {
    exam.Report(violations::AcceleratorTypeMissing(role));
    return;
  }
  if (asked.count <= 0) {
    exam.Report(violations::AcceleratorCountNotPositive(role, asked.type, asked.count));
    return;
  }
  if (machine == nullptr) return;  // already reported
  if (machine->category == MachineCategory::kTpu) {
    ExamineTpuAccelerator(exam, role, asked);
  } else if (exam.options.catalog->tpu().IsTpuType(asked.type)) {
    exam.Report(violations::TpuOnlyOnTpuWorker(role, asked.type));
  } else {
    ExamineGpu(exam, role, asked, *machine);
  }
}

bool HasGpu(const Examination& exam, Role role) {
  const MachineType* machine = exam.MachineOf(role);
  return (machine != nullptr && machine->gpu_count > 0) ||
         AcceleratorOf(exam.input.Of(role)) != nullptr;
}

}  // namespace

void ExamineMachines(const Examination& exam) {
  if (exam.tier == nullptr) exam.Report(violations::ScaleTierUnknown(exam.input.scale_tier));
  for (const Role role : kRoles) {
    ExamineTierLimits(exam, role);
    ExamineType(exam, role);
    ExamineCount(exam, role);
    ExamineDisk(exam, role);
  }
  ExamineTotal(exam);
  ExamineCategories(exam);
}

void ExamineAccelerators(const Examination& exam) {
  for (const Role role : kRoles) {
    const AcceleratorConfig* asked = AcceleratorOf(exam.input.Of(role));
    if (asked != nullptr) ExamineAccelerator(exam, role, *asked);
  }
}

void ExamineTpu(const Examination& exam) {
  const TpuRules& tpu = exam.options.catalog->tpu();
  if (exam.is_tpu_job) {
    for (const Role role : {Role::kMaster, Role::kParameterServer, Role::kEvaluator}) {
      const std::string& name = exam.input.Of(role).machine_type;
      const bool is_gpu_master = role == Role::kMaster && exam.is_custom && HasGpu(exam, role);
      if (name == tpu.machine_type || is_gpu_master) {
        exam.Report(violations::MachineNotInTpuJobs(role, name));
      }
    }
    const RoleInput& worker = exam.input.worker;
    if (worker.machine_type == tpu.machine_type && worker.count > 1) {
      exam.Report(violations::TpuWorkerCount(worker.count));
    }
  }
  const bool needs_version = exam.is_tpu_job && exam.RunsImage(Role::kWorker);
  for (const Role role : kRoles) {
    const auto& config = exam.input.Of(role).config;
    const std::string version = config ? config->tpu_tf_version : "";
    if (role == Role::kWorker && needs_version) {
      const Runtime* runtime = exam.options.FindRuntime(version);
      if (version.empty()) {
        exam.Report(violations::TpuVersionMissing());
      } else if (runtime == nullptr || !runtime->supports_tpu) {
        exam.Report(violations::RuntimeWithoutTpu("tpu_tf_version", version));
      }
    } else if (!version.empty()) {
      exam.Report(violations::TpuVersionForbidden(role));
    }
  }
}

}  // namespace caip::ml
