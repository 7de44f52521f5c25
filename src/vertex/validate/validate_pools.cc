// The worker pools: how many, with how many replicas, on what machines.

#include <algorithm>

#include "base/text.h"
#include "vertex/limits.h"
#include "vertex/validate/validate_parts.h"
#include "vertex/validate/violations.h"

namespace caip::vertex {
namespace {

constexpr std::string_view kBootDiskTypes[] = {"pd-ssd", "pd-standard", "hyperdisk-balanced"};

std::string NearestMachine(const std::string& name, const Catalog& catalog) {
  std::vector<std::string> names;
  for (const MachineType& machine : catalog.machines()) names.push_back(machine.name);
  return NearestName(name, names);
}

std::vector<std::string> AcceleratorsOf(const MachineType& machine) {
  std::vector<std::string> types;
  for (const auto& [type, counts] : machine.accelerators) types.push_back(type);
  return types;
}

void ExamineAccelerators(const PoolExamination& exam, const MachineSpec& asked) {
  const bool has_type = asked.HasAcceleratorType();
  const int64_t count = asked.accelerator_count;
  const MachineType* machine = exam.Machine();
  if (count < 0) {
    exam.Report("machine_spec.accelerator_count", violations::AcceleratorCountNegative(count));
    return;
  }
  if (has_type != (count > 0)) {
    exam.Report("machine_spec.accelerator_type", violations::AcceleratorIncomplete());
    return;
  }
  if (machine == nullptr) return;
  if (!has_type) {
    if (!machine->has_own) return;
    exam.Report("machine_spec.accelerator_type",
                violations::AcceleratorsOfMachineMissing(machine->name, AcceleratorsOf(*machine)));
    return;
  }
  const auto legal = machine->accelerators.find(asked.accelerator_type);
  if (legal == machine->accelerators.end()) {
    exam.Report("machine_spec.accelerator_type",
                violations::AcceleratorUnsupported(asked.accelerator_type, machine->name));
  } else if (!legal->second.Has(count)) {
    exam.Report("machine_spec.accelerator_count",
                violations::AcceleratorCountIllegal(asked.accelerator_type, count, machine->name,
                                                    legal->second.InWords()));
  }
}

void ExamineDisk(const PoolExamination& exam) {
  if (!exam.pool.disk) return;
  const DiskSpec& disk = *exam.pool.disk;
  const bool is_known = std::find(std::begin(kBootDiskTypes), std::end(kBootDiskTypes),
                                  disk.boot_disk_type) != std::end(kBootDiskTypes);
  if (!disk.boot_disk_type.empty() && !is_known) {
    exam.Report("disk_spec.boot_disk_type", violations::DiskTypeUnknown(disk.boot_disk_type));
  }
  const int32_t size = disk.boot_disk_size_gb;
  if (size != 0 && (size < kBootDiskGbMin || size > kBootDiskGbMax)) {
    exam.Report("disk_spec.boot_disk_size_gb", violations::DiskSizeOutOfRange(size));
  }
}

void ExamineReplicaCount(const PoolExamination& exam) {
  const int64_t count = exam.pool.ReplicaCount();
  if (exam.index == 0 && count != 1) {
    exam.Report("replica_count", violations::ReplicaCountOfFirstPool(count));
  } else if (count < 1) {
    exam.Report("replica_count", violations::ReplicaCountNotPositive(count));
  }
}

void ExamineTotal(const Examination& exam) {
  int64_t total = 0;
  for (const WorkerPoolSpec& pool : exam.spec.pools) {
    total += std::clamp<int64_t>(pool.ReplicaCount(), 0, kReplicasMax);
  }
  if (total > kReplicasMax) {
    exam.Report({"job_spec.worker_pool_specs", violations::TooManyReplicas(kReplicasMax)});
  }
}

}  // namespace

void PoolExamination::Report(std::string_view field, std::string message) const {
  whole.Report({PoolField(index, field), std::move(message)});
}

const MachineType* PoolExamination::Machine() const {
  return pool.machine ? whole.options.catalog->FindMachine(pool.machine->machine_type) : nullptr;
}

void ExamineMachine(const PoolExamination& exam) {
  const MachineSpec asked = exam.pool.machine.value_or(MachineSpec{});
  if (asked.machine_type.empty()) {
    exam.Report("machine_spec.machine_type", violations::Required());
  } else if (exam.Machine() == nullptr) {
    const std::string nearest = NearestMachine(asked.machine_type, *exam.whole.options.catalog);
    exam.Report("machine_spec.machine_type",
                violations::MachineUnknown(asked.machine_type, nearest));
  }
  ExamineAccelerators(exam, asked);
  ExamineReplicaCount(exam);
  ExamineDisk(exam);
}

void ExaminePools(const Examination& exam) {
  const std::vector<WorkerPoolSpec>& pools = exam.spec.pools;
  if (pools.empty()) {
    exam.Report({"job_spec.worker_pool_specs", violations::Required()});
    return;
  }
  if (pools.size() > kPoolsMax) {
    exam.Report({"job_spec.worker_pool_specs", violations::TooManyPools(pools.size())});
  }
  if (pools.front().IsEmpty()) exam.Report({PoolField(0, ""), violations::FirstPoolEmpty()});
  for (size_t i = 0; i < std::min(pools.size(), kPoolsMax); ++i) {
    if (pools[i].IsEmpty()) continue;
    const PoolExamination pool{exam, i, pools[i]};
    ExamineMachine(pool);
    ExamineProgram(pool);
  }
  ExamineTotal(exam);
}

}  // namespace caip::vertex
