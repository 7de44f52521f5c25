#include "harness/faults/fault_checks.h"

#include <algorithm>

#include "base/text.h"
#include "harness/faults/fault_reader.h"
#include "harness/scenario/scenario_replicas.h"

namespace caip::harness {
namespace {

// Follows the faults that wait for another fault. A chain that ends at its beginning never starts.
std::vector<std::string> FindCircle(const std::vector<Fault>& faults, const Fault& from) {
  std::vector<std::string> chain = {from.name};
  const Fault* at = &from;
  while (chain.size() <= faults.size()) {
    const auto* after = at->when.As<FaultTrigger>();
    if (!after) return {};
    const auto next = std::ranges::find(faults, after->fault, &Fault::name);
    if (next == faults.end()) return {};
    if (next->name == from.name) return chain.size() > 1 ? chain : std::vector<std::string>();
    chain.push_back(next->name);
    at = &*next;
  }
  return {};
}

// Rejects operations that an object store does not have.
void CheckObjectOperation(const Trigger& trigger, const Cursor& place) {
  const auto* operation = trigger.As<StorageTrigger>();
  if (!operation) return;
  if (operation->phase == Phase::kMid) {
    place.Wrong("can never happen: an object appears as a whole; `mid` needs `semantics: posix`");
  }
  if (operation->op == "rename") {
    place.Wrong("can never happen: an object store renames by copy and delete");
  }
}

void CheckOperations(const Fault& fault, const Cursor& element, Semantics semantics) {
  if (semantics == Semantics::kPosix) return;
  CheckObjectOperation(fault.when, element.At("when"));
  if (fault.until) CheckObjectOperation(*fault.until, element.At(fault.kind->name));
}

// Whether that replica alone can cause the event.
bool IsCausedOnlyBy(const Trigger& trigger, const std::string& replica,
                    const std::vector<std::string>& replicas) {
  const bool anybody = trigger.replica.empty() || trigger.replica == "any";
  const bool is_own_act = trigger.Is<StorageTrigger>() || trigger.Is<StepTrigger>() ||
                          (trigger.Is<LogTrigger>() && !anybody);  // the service has lines, too
  if (!is_own_act || replica.empty()) return false;
  return anybody ? replicas.size() == 1 && replicas.front() == replica : trigger.replica == replica;
}

// A replica that is down or frozen does nothing. A hold stops one thread, and others may go on,
// unless each call of the replica waits for the one before it.
void CheckUntilCanHappen(const Fault& fault, const Cursor& element, const Scenario& scenario,
                         const std::vector<std::string>& replicas) {
  if (!fault.until || !IsCausedOnlyBy(*fault.until, fault.replica, replicas)) return;
  const WhileUntil state = fault.kind->while_until;
  const bool is_call = fault.when.Is<LogTrigger>() || fault.when.Is<StepTrigger>() ||
                       scenario.semantics == Semantics::kPosix;
  if (state == WhileUntil::kThreadWaits && !is_call) return;
  UntilPlace(fault, element)
      .Wrong("can never happen: " + fault.replica +
             (state == WhileUntil::kDown ? " is down" : " waits") +
             " until then, and no other replica causes this event");
}

// Images contain all that they need.
void CheckJobHasPackages(const Fault& fault, const Cursor& element, const Scenario& scenario) {
  if (!fault.when.Is<InstallationTrigger>() || !scenario.submit.empty()) return;
  const Json* packages = Member(scenario.training_input, "packageUris");
  if (scenario.command.empty() && packages && !packages->empty()) return;
  element.At("when").Wrong("can never happen: the job has no packages");
}

void CheckFaultOfJob(const Fault& fault, const Cursor& element, const Scenario& scenario,
                     const std::vector<std::string>& replicas) {
  const std::string unknown = replicas.empty() ? "" : FindUnknownReplica(fault, replicas);
  if (!unknown.empty()) {
    element.Wrong("can never happen: " + DescribeMissingReplica(unknown, replicas));
  }
  CheckOperations(fault, element, scenario.semantics);
  CheckUntilCanHappen(fault, element, scenario, replicas);
  CheckJobHasPackages(fault, element, scenario);
  if (fault.kind->check) fault.kind->check(fault, element, scenario);
  if (const auto circle = FindCircle(scenario.faults, fault); !circle.empty()) {
    element.At("when").Wrong("can never happen: " + Join(circle, " and ") + " wait for each other");
  }
}

}  // namespace

std::string FindUnknownReplica(const Fault& fault, const std::vector<std::string>& replicas) {
  std::vector<std::string> named = {fault.replica, fault.when.replica};
  if (fault.until) named.push_back(fault.until->replica);
  for (const std::string& name : named) {
    if (name.empty() || name == "any") continue;
    if (std::ranges::find(replicas, name) == replicas.end()) return name;
  }
  return "";
}

void CheckFaultsOfJob(const Cursor& faults, const Scenario& scenario) {
  const std::vector<std::string> replicas = FindReplicas(scenario);
  const std::vector<Cursor> elements = faults.Elements();
  if (elements.size() != scenario.faults.size()) return;  // some are not valid: reported already
  for (size_t i = 0; i < elements.size(); ++i) {
    const Fault& fault = scenario.faults[i];
    if (fault.kind) CheckFaultOfJob(fault, elements[i], scenario, replicas);
  }
}

}  // namespace caip::harness
