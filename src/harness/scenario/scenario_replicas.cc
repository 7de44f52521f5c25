#include "harness/scenario/scenario_replicas.h"

namespace caip::harness {

std::vector<std::string> FindReplicas(const Scenario& scenario) {
  if (!scenario.words.empty()) return {};
  std::vector<std::string> replicas = scenario.kind->ReplicasOf(scenario.document);
  for (int rank = 1; rank < scenario.ranks; ++rank) {
    replicas.push_back("worker-" + std::to_string(rank - 1));
  }
  return replicas;
}

bool RunsPackages(const Scenario& scenario) {
  if (!scenario.words.empty()) return false;
  const std::string image = scenario.command.empty() ? "" : "of the command";
  const Json completed = scenario.kind->Complete(scenario.document, {.image = image});
  const bool has_packages = scenario.kind->InstallsPackages(completed);
  return has_packages && (image.empty() || !scenario.kind->RunsImage(completed));
}

}  // namespace caip::harness
