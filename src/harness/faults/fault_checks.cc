#include "harness/faults/fault_checks.h"

#include <algorithm>

#include "base/text.h"
#include "harness/scenario/scenario_replicas.h"

namespace caip::harness {
namespace {

// Each fault whose `when` is another one's strike comes behind it. A chain that bites its tail has
// no beginning.
std::vector<std::string> Circle(const std::vector<Fault>& faults, const Fault& from) {
  std::vector<std::string> chain = {from.name};
  const Fault* at = &from;
  while (at->when.kind == Trigger::Kind::kFault && chain.size() <= faults.size()) {
    const auto next = std::ranges::find(faults, at->when.pattern, &Fault::name);
    if (next == faults.end()) return {};
    if (next->name == from.name) return chain.size() > 1 ? chain : std::vector<std::string>();
    chain.push_back(next->name);
    at = &*next;
  }
  return {};
}

// Operations that an object store does not know.
void CheckComes(const Trigger& trigger, const Cursor& place) {
  if (trigger.kind != Trigger::Kind::kStorage) return;
  if (trigger.phase == Phase::kMid) {
    place.Wrong(
        "can never come: an object is there whole or not at all; `mid` is for semantics: posix");
  }
  if (trigger.op == "rename") {
    place.Wrong("can never come: an object store renames by copy and delete");
  }
}

// Where storage is a directory, the kernel reads and lists: a call can be refused, not broken off.
void CheckAnswers(const Cursor& parameters) {
  for (const char* way : {"break_after", "stale_listing"}) {
    if (!parameters.Has(way)) continue;
    parameters.At(way).Wrong("is for semantics: object; in a directory calls fail (`status`)");
  }
}

void CheckStorage(const Fault& fault, const Cursor& element, Semantics semantics) {
  if (fault.kind.empty()) return;
  if (semantics == Semantics::kPosix) return CheckAnswers(element.At(fault.kind));
  CheckComes(fault.when, element.At("when"));
  if (fault.until) CheckComes(*fault.until, element.At(fault.kind));
}

// Whether nobody but that replica can bring the moment about.
bool IsDeedOf(const Trigger& trigger, const std::string& replica,
              const std::vector<std::string>& replicas) {
  using Kind = Trigger::Kind;
  const bool anybodys = trigger.replica.empty() || trigger.replica == "any";
  const bool is_deed = trigger.kind == Kind::kStorage || trigger.kind == Kind::kStep ||
                       (trigger.kind == Kind::kLog && !anybodys);  // the service has lines, too
  if (!is_deed || replica.empty()) return false;
  return anybodys ? replicas.size() == 1 && replicas.front() == replica
                  : trigger.replica == replica;
}

// Who is down or stands still does nothing. Of hold, one thread waits and others may go on, unless
// each call of the replica waits for the one before it.
void CheckUntil(const Fault& fault, const Cursor& element, const Scenario& scenario,
                const std::vector<std::string>& replicas) {
  if (!fault.until || !IsDeedOf(*fault.until, fault.replica, replicas)) return;
  const bool is_call = fault.when.kind == Trigger::Kind::kLog ||
                       fault.when.kind == Trigger::Kind::kStep ||
                       scenario.semantics == Semantics::kPosix;
  if (fault.kind == "hold" && !is_call) return;
  const Cursor parameters = element.At(fault.kind);
  const char* key = parameters.Has("down_until") ? "down_until" : "until";
  const bool hangs = fault.kind == "hang" || fault.kind == "hold";
  parameters.At(key).Wrong("can never come: " + fault.replica + (hangs ? " waits" : " is down") +
                           " until it does this itself");
}

// Images come with all they need.
void CheckPrepares(const Fault& fault, const Cursor& element, const Scenario& scenario) {
  if (fault.when.kind != Trigger::Kind::kPrepare || !scenario.submit.empty()) return;
  const Json* packages = Member(scenario.training_input, "packageUris");
  if (scenario.command.empty() && packages && !packages->empty()) return;
  element.At("when").Wrong("can never come: the job has no packages");
}

}  // namespace

std::string StrangeReplica(const Fault& fault, const std::vector<std::string>& replicas) {
  std::vector<std::string> named = {fault.replica, fault.when.replica};
  if (fault.until) named.push_back(fault.until->replica);
  for (const std::string& name : named) {
    if (name.empty() || name == "any") continue;
    if (std::ranges::find(replicas, name) == replicas.end()) return name;
  }
  return "";
}

void CheckFaultsOfJob(const Cursor& faults, const Scenario& scenario) {
  const std::vector<std::string> replicas = ReplicasOf(scenario);
  const std::vector<Cursor> elements = faults.Elements();
  if (elements.size() != scenario.faults.size()) return;  // some could not be read: said already
  for (size_t i = 0; i < elements.size(); ++i) {
    const Fault& fault = scenario.faults[i];
    const std::string strange = replicas.empty() ? "" : StrangeReplica(fault, replicas);
    if (!strange.empty()) {
      elements[i].Wrong("can never come: the job has no " + strange + "; it has " +
                        (replicas.size() > 6 ? replicas.front() + " to " + replicas.back()
                                             : Join(replicas, ", ")));
    }
    CheckStorage(fault, elements[i], scenario.semantics);
    CheckUntil(fault, elements[i], scenario, replicas);
    CheckPrepares(fault, elements[i], scenario);
    if (const auto circle = Circle(scenario.faults, fault); !circle.empty()) {
      elements[i].At("when").Wrong("can never come: " + Join(circle, " and ") +
                                   " wait for each other");
    }
  }
}

}  // namespace caip::harness
