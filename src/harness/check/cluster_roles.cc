#include "harness/check/cluster_roles.h"

#include "ml/cluster.h"
#include "ml/schema/job_json.h"

namespace caip::harness {
namespace {

constexpr char kMachine[] = "n1-standard-4";

Result<ml::ClusterPlan> PlanOf(const Json& input) {
  ASSIGN_OR_RETURN(const ml::Job job, ml::ParseJob({{"jobId", "check"}, {"trainingInput", input}}));
  return ml::PlanCluster(*job.training_input);
}

}  // namespace

bool HasRole(const Json& input, const std::string& role) {
  const auto plan = PlanOf(input);
  if (!plan.ok()) return false;
  for (const ml::ReplicaPlan& replica : plan->replicas) {
    if (ml::RoleKey(replica.id.role) == role) return true;
  }
  return false;
}

bool HasCluster(const Json& input) {
  const auto plan = PlanOf(input);
  return plan.ok() && plan->replicas.size() > 1;
}

bool UsesChief(const Json& input) {
  const auto plan = PlanOf(input);
  return plan.ok() && plan->uses_chief;
}

void AddEveryRole(Json& input, bool evaluator) {
  const std::string machine = StringOr(input, "masterType", kMachine);
  const Json config = input.contains("masterConfig") ? input["masterConfig"] : Json();
  input["scaleTier"] = "CUSTOM";
  input["masterType"] = machine;
  for (const char* role : {"worker", "parameterServer", "evaluator"}) {
    if (std::string(role) == "evaluator" && !evaluator) continue;
    input[std::string(role) + "Type"] = machine;
    input[std::string(role) + "Count"] = std::string(role) == "worker" ? "2" : "1";
    if (!config.is_null()) input[std::string(role) + "Config"] = config;
  }
}

}  // namespace caip::harness
