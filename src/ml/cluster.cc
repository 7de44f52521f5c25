#include "ml/cluster.h"

#include <algorithm>
#include <cassert>

#include "ml/catalog/catalog.h"

namespace caip::ml {
namespace {

constexpr std::string_view kPrebuiltImages = "gcr.io/cloud-ml-public/training/";
constexpr std::string_view kDefaultTier = "BASIC";
constexpr int kFirstMajorWithChief = 2;  // 2.1 followed 1.15: there never was a 2.0

/// What a role gets, wherever it is written: in the tier or in the job.
struct RoleShape {
  std::string machine_type;
  std::string accelerator_type;
  int64_t accelerator_count = 0;
  int64_t count = 0;
};

RoleShape FromTier(const ScaleTier& tier, Role role) {
  const TierRole* given = tier.Of(role);
  if (!given) return {};
  return {given->machine_type, given->accelerator_type, given->accelerator_count, given->count};
}

RoleShape FromJob(const RoleInput& asked, Role role) {
  RoleShape shape;
  shape.machine_type = asked.machine_type;
  shape.count = role == Role::kMaster ? 1 : asked.count;
  const bool asks_accelerator = asked.config && asked.config->accelerator_config &&
                                asked.config->accelerator_config->count > 0;
  if (asks_accelerator) {
    shape.accelerator_type = asked.config->accelerator_config->type;
    shape.accelerator_count = asked.config->accelerator_config->count;
  } else if (const MachineType* machine = DefaultCatalog().FindMachine(asked.machine_type)) {
    shape.accelerator_type = machine->gpu_type;
    shape.accelerator_count = machine->gpu_count;
  }
  return shape;
}

RoleShape ShapeOf(const TrainingInput& input, Role role) {
  const std::string_view name = input.scale_tier.empty() ? kDefaultTier : input.scale_tier;
  const ScaleTier* tier = DefaultCatalog().FindTier(name);
  if (tier && !tier->IsCustom()) return FromTier(*tier, role);
  return FromJob(input.Of(role), role);
}

// Roles without an image of their own run the master's.
std::string ImageOf(const TrainingInput& input, Role role) {
  if (!input.UsesContainer()) return {};
  const std::optional<ReplicaConfig>& config = input.Of(role).config;
  if (config && !config->image_uri.empty()) return config->image_uri;
  return input.master.config->image_uri;
}

// The table "master versus chief" of docs/service/replica-environment.md, section 2.
bool UsesChief(const TrainingInput& input, bool has_evaluators) {
  if (has_evaluators) return true;
  if (input.UsesContainer()) return input.use_chief_in_tf_config;
  const auto version = ParseRuntimeVersion(input.runtime_version);
  return version && version->first >= kFirstMajorWithChief;
}

// A TPU worker is a node beside the cluster; its type may be left to the service.
void TakeTpu(const RoleShape& shape, ClusterPlan& plan) {
  const TpuRules& rules = DefaultCatalog().tpu();
  const bool named = shape.accelerator_count > 0;
  plan.tpu_type = named ? shape.accelerator_type : rules.default_type;
  plan.tpu_count = named ? shape.accelerator_count : rules.default_count;
}

}  // namespace

std::string HostName(ReplicaId id, std::string_view host_id) {
  std::string name = "cmle-training-";
  name += RoleKey(id.role);
  name += '-';
  name += host_id;
  return name + '-' + std::to_string(id.index);
}

bool IsPrebuiltImage(std::string_view image_uri) { return image_uri.starts_with(kPrebuiltImages); }

bool RunsModuleInContainer(const TrainingInput& input) {
  return input.UsesContainer() && IsPrebuiltImage(input.master.config->image_uri) &&
         !input.python_module.empty();
}

const ReplicaPlan& ClusterPlan::Of(ReplicaId id) const {
  const auto found = std::find_if(replicas.begin(), replicas.end(),
                                  [&](const ReplicaPlan& replica) { return replica.id == id; });
  assert(found != replicas.end());
  return *found;
}

ClusterPlan PlanCluster(const TrainingInput& input) {
  ClusterPlan plan;
  plan.is_container = input.UsesContainer() && !RunsModuleInContainer(input);
  for (Role role : kRoles) {
    const RoleShape shape = ShapeOf(input, role);
    if (role == Role::kWorker && shape.machine_type == DefaultCatalog().tpu().machine_type) {
      TakeTpu(shape, plan);
      continue;
    }
    for (int index = 0; index < shape.count; ++index) {
      plan.replicas.push_back({.id = {role, index},
                               .machine_type = shape.machine_type,
                               .accelerator_type = shape.accelerator_type,
                               .accelerator_count = shape.accelerator_count,
                               .image_uri = ImageOf(input, role),
                               .address = {}});
    }
  }
  const bool has_evaluators =
      !plan.replicas.empty() && plan.replicas.back().id.role == Role::kEvaluator;
  plan.uses_chief = UsesChief(input, has_evaluators);
  return plan;
}

}  // namespace caip::ml
