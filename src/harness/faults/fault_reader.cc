#include "harness/faults/fault_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/faults/fault_texts.h"
#include "harness/faults/trigger_reader.h"
#include "harness/scenario/scenario_replicas.h"
#include "harness/scenario/scenario_texts.h"

namespace caip::harness {
namespace {

std::vector<std::string> FaultKindNames() {
  std::vector<std::string> names;
  for (const FaultKind& kind : FaultKinds()) names.push_back(kind.name);
  return names;
}

void ReadFaultParameters(const FaultKind& kind, const Cursor& parameters, Fault& fault) {
  fault.action = kind.read(parameters);
  if (!parameters.MustBeMap()) return;
  parameters.OnlyKeys(kind.parameters);
  for (const std::string& name : kind.required) {
    if (!parameters.Has(name)) parameters.Wrong(texts::ParameterMissing(kind.name, name));
  }
  for (const auto& [key, member] : parameters.Members()) {
    if (key == "replica") fault.replica = ReadReplica(member);
    if (key == "peer") fault.peer = ReadPeer(member);
    if (key == "until" || key == "down_until") fault.until = ReadTrigger(member);
  }
}

void ReadFaultKind(const Cursor& element, Fault& fault) {
  const std::vector<std::string> kinds = FaultKindNames();
  std::vector<std::string> known = kinds;
  known.insert(known.end(), {"name", "when", "if_reached"});
  element.OnlyKeys(known);
  for (const auto& [key, member] : element.Members()) {
    const FaultKind* kind = FindFaultKind(key);
    if (!kind) continue;
    if (fault.kind) member.Wrong(texts::TwoFaultKinds());
    if (fault.kind) continue;
    fault.kind = kind;
    ReadFaultParameters(*kind, member, fault);
  }
  if (!fault.kind) element.Wrong(texts::FaultKindMissing(kinds));
}

// The triggers of a fault, each with its place in the file.
std::vector<std::pair<const Trigger*, Cursor>> TriggersOfFault(const Fault& fault,
                                                               const Cursor& element) {
  std::vector<std::pair<const Trigger*, Cursor>> triggers;
  if (element.Has("when")) triggers.emplace_back(&fault.when, element.At("when"));
  if (!fault.until) return triggers;
  triggers.emplace_back(&*fault.until, UntilPlace(fault, element));
  return triggers;
}

template <typename Kind>
bool IsOfKind(const Trigger& trigger) {
  return trigger.Is<Kind>();
}

struct OccasionRule {
  FaultOccasion occasion;
  bool (*fits)(const Trigger& when);
  const char* needs;
};
constexpr OccasionRule kOccasionRules[] = {
    {FaultOccasion::kStorageOperation, IsOfKind<StorageTrigger>,
     "a storage operation: before, after or mid"},
    {FaultOccasion::kInstallation, IsOfKind<InstallationTrigger>,
     "an installation of packages: `prepare: 1`"},
    {FaultOccasion::kApiCall, IsOfKind<ApiCallTrigger>, "a call: `api: projects.jobs.get`"},
    {FaultOccasion::kLogLine, IsOfKind<LogTrigger>, "a log line: `log: REGEX`"},
};

// At installations and calls, only their own kinds of faults can be injected.
void CheckOccasion(const FaultKind& kind, const Trigger& when, const Cursor& place) {
  for (const OccasionRule& rule : kOccasionRules) {
    if (kind.occasion == rule.occasion) {
      if (!rule.fits(when)) place.Wrong(texts::EventDoesNotFit(kind.name, rule.needs));
      return;
    }
  }
  if (when.Is<InstallationTrigger>() || when.Is<ApiCallTrigger>()) {
    place.Wrong(texts::NotAtThisEvent(kind.name));
  }
}

// Checks triggers that name other faults, and `until`s. This needs all faults of the scenario.
void CheckFaultReferences(const std::vector<std::pair<Fault, Cursor>>& read,
                          const std::set<std::string>& names) {
  for (const auto& [fault, element] : read) {
    for (const auto& [trigger, place] : TriggersOfFault(fault, element)) {
      const bool is_until = trigger != &fault.when;
      if (is_until && trigger->Is<TimeTrigger>()) {
        place.Wrong(texts::UntilIsTime());
      }
      for (const std::string& awaited : AwaitedFaults(*trigger)) {
        if (!names.contains(awaited)) {
          place.Wrong(texts::UnknownFault(awaited));
        } else if (awaited == fault.name && !is_until) {
          place.Wrong(texts::FaultWaitsForItself());
        }
      }
    }
  }
}

// In a trigger that names no replica, `trial: 2` means the fault's own replica in that trial.
void ResolveTrial(Fault& fault, Trigger& trigger) {
  if (!trigger.replica.starts_with('/')) return;
  const std::string trial = trigger.replica;
  if (fault.replica.find('/') == fault.replica.npos && &trigger == &fault.when) {
    fault.replica += trial;
    const bool is_replica = !fault.peer.empty() && fault.peer != kStoragePeer;
    if (is_replica && fault.peer.find('/') == fault.peer.npos) fault.peer += trial;
  }
  trigger.replica = fault.replica.substr(0, fault.replica.find('/')) + trial;
}

Fault ReadFault(const Cursor& element, std::map<std::string, int>& counts) {
  Fault fault;
  ReadFaultKind(element, fault);
  if (element.Has("when")) {
    fault.when = ReadTrigger(element.At("when"));
  } else {
    element.Wrong(texts::WhenMissing());
  }
  fault.if_reached = element.Has("if_reached") && element.At("if_reached").Flag();
  ResolveTrial(fault, fault.when);
  if (fault.until) ResolveTrial(fault, *fault.until);
  if (fault.kind) CheckOccasion(*fault.kind, fault.when, element.At("when"));
  const std::string kind = fault.kind ? fault.kind->name : "";
  fault.name =
      element.Has("name") ? element.At("name").Text() : kind + " " + std::to_string(++counts[kind]);
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(fault.name, is_control)) {
    element.At("name").Wrong(texts::FaultNameNotPrintable());
  }
  return fault;
}

}  // namespace

Cursor UntilPlace(const Fault& fault, const Cursor& element) {
  const Cursor parameters = element.At(fault.kind->name);
  return parameters.At(parameters.Has("down_until") ? "down_until" : "until");
}

std::vector<Fault> ReadFaults(const Cursor& cursor) {
  std::vector<std::pair<Fault, Cursor>> read;
  std::map<std::string, int> counts;
  std::set<std::string> names;
  if (!cursor.IsList()) cursor.Wrong(texts::NotAList());
  for (const Cursor& element : cursor.IsList() ? cursor.Elements() : std::vector<Cursor>()) {
    if (!element.MustBeMap()) continue;
    Fault fault = ReadFault(element, counts);
    if (!names.insert(fault.name).second) {
      element.Wrong(texts::FaultNameTaken(fault.name));
    }
    read.emplace_back(std::move(fault), element);
  }
  CheckFaultReferences(read, names);
  std::vector<Fault> faults;
  for (auto& [fault, element] : read) faults.push_back(std::move(fault));
  return faults;
}

namespace {

// Follows the faults that wait for other faults. A chain that leads back to its start never starts.
// `chain`: the faults from the start to the one whose trigger is followed.
bool LeadsBack(const std::vector<Fault>& faults, const Fault& at, std::vector<std::string>& chain) {
  for (const std::string& awaited : AwaitedFaults(at.when)) {
    if (awaited == chain.front()) return chain.size() > 1;
    const auto next = std::ranges::find(faults, awaited, &Fault::name);
    const bool is_new = std::ranges::find(chain, awaited) == chain.end();
    if (next == faults.end() || !is_new) continue;
    chain.push_back(awaited);
    if (LeadsBack(faults, *next, chain)) return true;
    chain.pop_back();
  }
  return false;
}

std::vector<std::string> FindCircle(const std::vector<Fault>& faults, const Fault& from) {
  std::vector<std::string> chain = {from.name};
  return LeadsBack(faults, from, chain) ? chain : std::vector<std::string>();
}

// Of a replica's own disk, only changes are watched.
void CheckDiskOperation(const StorageTrigger& operation, const Cursor& place) {
  for (const char* name : {"read", "list", "copy", "move"}) {
    if (operation.op == name) place.Wrong(texts::NotWatchedOnDisks(name));
  }
}

// Rejects operations that an object store, or the watch of a disk, does not have.
void CheckOperation(const Trigger& trigger, const Cursor& place, const Scenario& scenario) {
  const auto* operation = trigger.As<StorageTrigger>();
  if (operation && operation->IsOfDisk()) return CheckDiskOperation(*operation, place);
  if (!operation || scenario.semantics == Semantics::kPosix) return;
  if (!scenario.volumes.empty()) return;  // "*" may be a file
  if (operation->phase == Phase::kMid) {
    place.Wrong(texts::MidOfAnObject());
  }
  if (operation->op == "rename") {
    place.Wrong(texts::RenameOfAnObject());
  }
  for (const char* name : {"truncate", "link", "symlink", "mkdir"}) {
    if (operation->op == name) place.Wrong(texts::OnlyOfFiles(name));
  }
}

void CheckOperations(const Fault& fault, const Cursor& element, const Scenario& scenario) {
  CheckOperation(fault.when, element.At("when"), scenario);
  if (fault.until) CheckOperation(*fault.until, element.At(fault.kind->name), scenario);
}

// Whether only that replica can cause the event.
bool IsCausedOnlyBy(const Trigger& trigger, const std::string& replica,
                    const std::vector<std::string>& replicas) {
  const bool anybody = trigger.replica.empty() || trigger.replica == "any";
  const bool is_own_act = trigger.Is<StorageTrigger>() || trigger.Is<StepTrigger>() ||
                          (trigger.Is<LogTrigger>() && !anybody);  // the service prints lines, too
  if (!is_own_act || replica.empty()) return false;
  return anybody ? replicas.size() == 1 && replicas.front() == replica : trigger.replica == replica;
}

// The replica that does nothing while the fault lasts: of a hold, the one that reaches its event.
// "": it is not known. With `any`, it may be the one that is to end the fault.
std::string FindWaiting(const Fault& fault, const std::vector<std::string>& replicas) {
  const std::string& met_by = fault.when.replica;
  if (fault.kind->while_until != WhileUntil::kThreadWaits || met_by.empty()) return fault.replica;
  if (met_by != "any") return met_by;
  if (replicas.size() == 1) return replicas.front();
  return fault.until->replica == "any" ? "" : fault.until->replica;
}

// A replica that is down or frozen does nothing. One whose files or network fail goes on. A hold
// stops one thread, and others may go on, unless each call of the replica waits for the one before
// it.
void CheckUntilCanHappen(const Fault& fault, const Cursor& element, const Scenario& scenario,
                         const std::vector<std::string>& replicas) {
  if (!fault.until) return;
  const std::string waiting = FindWaiting(fault, replicas);
  if (!IsCausedOnlyBy(*fault.until, waiting, replicas)) return;
  const WhileUntil state = fault.kind->while_until;
  constexpr WhileUntil kGoesOn[] = {WhileUntil::kDiskIsFull, WhileUntil::kVolumesAreFull,
                                    WhileUntil::kNetworkIsFaulty};
  if (std::ranges::find(kGoesOn, state) != std::end(kGoesOn)) return;
  const auto* operation = fault.when.As<StorageTrigger>();
  const bool is_call = fault.when.Is<LogTrigger>() || fault.when.Is<StepTrigger>() ||
                       (operation && (operation->IsOfDisk() || operation->IsOfVolume())) ||
                       scenario.semantics == Semantics::kPosix;
  if (state == WhileUntil::kThreadWaits && !is_call) return;
  const bool may_be_another =
      fault.when.replica == "any" && replicas.size() != 1 && state == WhileUntil::kThreadWaits;
  UntilPlace(fault, element)
      .Wrong(may_be_another ? texts::UntilMayNeverCome(waiting)
                            : texts::UntilNeverComes(waiting, state == WhileUntil::kDown));
}

// A job with images installs no packages.
void CheckJobHasPackages(const Fault& fault, const Cursor& element, const Scenario& scenario) {
  if (!fault.when.Is<InstallationTrigger>() || !scenario.words.empty()) return;
  if (RunsPackages(scenario)) return;
  element.At("when").Wrong(texts::InstallationWithoutPackages());
}

void CheckFaultOfJob(const Fault& fault, const Cursor& element, const Scenario& scenario,
                     const std::vector<std::string>& replicas) {
  const std::string unknown = replicas.empty() ? "" : FindUnknownReplica(fault, replicas);
  if (!unknown.empty()) {
    element.Wrong(texts::NeverHappens(texts::ReplicaMissing(unknown, replicas)));
  }
  CheckOperations(fault, element, scenario);
  CheckUntilCanHappen(fault, element, scenario, replicas);
  CheckJobHasPackages(fault, element, scenario);
  if (fault.kind->check) fault.kind->check(fault, element, scenario);
  if (const auto circle = FindCircle(scenario.faults, fault); !circle.empty()) {
    element.At("when").Wrong(texts::FaultsWaitForEachOther(circle));
  }
}

}  // namespace

std::string FindUnknownReplica(const Fault& fault, const std::vector<std::string>& replicas) {
  std::vector<std::string> named = {fault.replica, fault.when.replica};
  if (fault.until) named.push_back(fault.until->replica);
  if (fault.peer != kStoragePeer) named.push_back(fault.peer);
  for (const std::string& name : named) {
    if (name.empty() || name == "any") continue;
    if (std::ranges::find(replicas, name) == replicas.end()) return name;
  }
  return "";
}

void CheckFaultsOfJob(const Cursor& faults, const Scenario& scenario) {
  const std::vector<std::string> replicas = FindReplicas(scenario);
  const std::vector<Cursor> elements = faults.Elements();
  // some faults are not valid, which was reported
  if (elements.size() != scenario.faults.size()) return;
  for (size_t i = 0; i < elements.size(); ++i) {
    const Fault& fault = scenario.faults[i];
    if (fault.kind) CheckFaultOfJob(fault, elements[i], scenario, replicas);
  }
}

}  // namespace caip::harness
