#include "harness/scenario/scenario_replicas.h"

#include <algorithm>

#include "harness/events/replica_name.h"
#include "ml/catalog/catalog.h"

namespace caip::harness {
namespace {

struct RoleNames {
  ml::Role role;
  const char* name;   // in scenarios
  const char* count;  // in a trainingInput
};
constexpr RoleNames kRoleNames[] = {
    {ml::Role::kMaster, "master", ""},
    {ml::Role::kWorker, "worker", "workerCount"},
    {ml::Role::kParameterServer, "ps", "parameterServerCount"},
    {ml::Role::kEvaluator, "evaluator", "evaluatorCount"},
};

// Counts are int64, which JSON may write as text.
int64_t CountIn(const Json& input, const char* key) {
  const Json* count = Member(input, key);
  if (!count) return 0;
  if (count->is_number_integer()) return count->get<int64_t>();
  return count->is_string() ? std::strtoll(count->get<std::string>().c_str(), nullptr, 10) : 0;
}

int64_t CountOf(const RoleNames& role, const Json& input) {
  if (role.role == ml::Role::kMaster) return 1;
  const ml::ScaleTier* tier = ml::DefaultCatalog().FindTier(StringOr(input, "scaleTier"));
  if (!tier || tier->IsCustom()) return CountIn(input, role.count);
  const ml::TierRole* of_tier = tier->Of(role.role);
  return of_tier ? of_tier->count : CountIn(input, role.count);
}

}  // namespace

std::vector<std::string> FindReplicas(const Scenario& scenario) {
  std::vector<std::string> replicas;
  if (!scenario.submit.empty()) return replicas;
  const Json input = scenario.training_input.is_object() ? scenario.training_input : Json::object();
  for (const RoleNames& role : kRoleNames) {
    const int64_t count = std::min<int64_t>(CountOf(role, input), 10'000);
    for (int64_t i = 0; i < count; ++i) {
      replicas.push_back(std::string(role.name) + "-" + std::to_string(i));
    }
  }
  for (int rank = 1; rank < scenario.ranks; ++rank) {
    replicas.push_back("worker-" + std::to_string(rank - 1));
  }
  const Json* tuning = Member(input, "hyperparameters");
  if (!tuning) return replicas;
  return NamesInTrials(replicas, std::clamp<int64_t>(IntOr(*tuning, "maxTrials", 1), 1, 1000));
}

}  // namespace caip::harness
