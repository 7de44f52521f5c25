#include "harness/faults/trigger_reader.h"

#include <algorithm>
#include <optional>

#include "harness/faults/fault_texts.h"
#include "harness/faults/network_fault.h"
#include "harness/scenario/job_kind.h"
#include "harness/scenario/scenario_texts.h"

namespace caip::harness {
namespace {

const std::vector<std::string> kStates = {"QUEUED", "PREPARING",  "RUNNING",  "SUCCEEDED",
                                          "FAILED", "CANCELLING", "CANCELLED"};
const std::vector<std::string> kCalls = {"projects.jobs.create", "projects.jobs.get",
                                         "projects.jobs.list", "projects.jobs.cancel",
                                         "projects.jobs.patch"};

// Reads {create: GLOB}, or for `mid` {write: GLOB, bytes: N}.
template <Phase kPhase>
Trigger::Kind ReadStorageTrigger(const Cursor& cursor) {
  StorageTrigger trigger{.phase = kPhase};
  bool has_bytes = false;
  if (!cursor.MustBeMap()) return trigger;
  std::vector<std::string> known = OperationNames();
  if (kPhase == Phase::kMid) known = {"write", "create", "overwrite", "bytes"};
  cursor.OnlyKeys(known);
  for (const auto& [key, member] : cursor.Members()) {
    if (key == "bytes") {
      trigger.bytes = static_cast<uint64_t>(member.Integer(0));
      has_bytes = true;
      continue;
    }
    if (!trigger.op.empty()) {
      member.Wrong(texts::TwoOperations());
    }
    trigger.op = key;
    trigger.glob = ObjectGlob(member.Text());
  }
  if (kPhase == Phase::kMid && !has_bytes) {
    cursor.Wrong(texts::BytesMissing());
  }
  if (trigger.op.empty()) {
    cursor.Wrong(texts::OperationMissing(known));
  }
  return trigger;
}

Trigger::Kind ReadLogTrigger(const Cursor& cursor) {
  LogTrigger trigger{cursor.Text()};
  if (const auto problem = RegexProblem(trigger.regex)) {
    cursor.Wrong(texts::RegexNotValid(*problem));
  }
  return trigger;
}

Trigger::Kind ReadStepTrigger(const Cursor& cursor) { return StepTrigger{cursor.Integer(0)}; }

Trigger::Kind ReadMetricTrigger(const Cursor& cursor) { return MetricTrigger{cursor.Text()}; }

Trigger::Kind ReadStateTrigger(const Cursor& cursor) {
  StateTrigger trigger{StateNamed(cursor.Text())};
  if (std::ranges::find(kStates, trigger.state) == kStates.end()) {
    cursor.Wrong(texts::UnknownState(trigger.state, kStates));
  }
  return trigger;
}

Trigger::Kind ReadBootTrigger(const Cursor& cursor) {
  return BootTrigger{cursor.Integer(1, kBootsMax)};
}

Trigger::Kind ReadFaultTrigger(const Cursor& cursor) { return FaultTrigger{cursor.Text()}; }

Trigger::Kind ReadTimeTrigger(const Cursor& cursor) { return TimeTrigger{cursor.Time()}; }

Trigger::Kind ReadInstallationTrigger(const Cursor& cursor) {
  return InstallationTrigger{cursor.Integer(1, kAttemptsMax)};
}

Trigger::Kind ReadApiCallTrigger(const Cursor& cursor) {
  ApiCallTrigger trigger{cursor.Text()};
  if (std::ranges::find(kCalls, trigger.method) == kCalls.end()) {
    cursor.Wrong(texts::UnknownApiCall(trigger.method, kCalls));
  }
  return trigger;
}

/// A kind of trigger: its key in a scenario, and the reader of its value.
struct TriggerKind {
  const char* name;
  Trigger::Kind (*read)(const Cursor& value);
};
constexpr TriggerKind kTriggerKinds[] = {
    {"before", ReadStorageTrigger<Phase::kBefore>},
    {"after", ReadStorageTrigger<Phase::kAfter>},
    {"mid", ReadStorageTrigger<Phase::kMid>},
    {"log", ReadLogTrigger},
    {"step", ReadStepTrigger},
    {"metric", ReadMetricTrigger},
    {"state", ReadStateTrigger},
    {"start", ReadBootTrigger},
    {"fault", ReadFaultTrigger},
    {"at", ReadTimeTrigger},
    {"prepare", ReadInstallationTrigger},
    {"api", ReadApiCallTrigger},
};

std::vector<std::string> TriggerKindNames() {
  std::vector<std::string> names;
  for (const TriggerKind& kind : kTriggerKinds) names.emplace_back(kind.name);
  return names;
}

// Reads 3, 2..5, every, or "every 3".
void ReadOccurrence(const Cursor& cursor, Occurrence& nth) {
  const auto number = [](std::string_view text) -> std::optional<int64_t> {
    if (text.empty() || text.size() > 9) return std::nullopt;
    if (text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
    return std::stoll(std::string(text));
  };
  const std::string text =
      cursor.json().is_string() ? cursor.json().get<std::string>() : CompactJson(cursor.json());
  const size_t dots = text.find("..");
  if (text == "every") {
    nth.every = 1;
  } else if (const auto every =
                 text.starts_with("every ") ? number(text.substr(6)) : std::nullopt) {
    nth.every = *every;
  } else if (const auto one = number(text)) {
    nth.first = nth.last = *one;
  } else if (dots != text.npos && number(text.substr(0, dots)) && number(text.substr(dots + 2))) {
    nth.first = *number(text.substr(0, dots));
    nth.last = *number(text.substr(dots + 2));
  } else {
    nth.first = 0;
  }
  if (text.starts_with("every ") && nth.every == 0) nth.first = 0;
  const bool counts = nth.every > 0 || (nth.first >= 1 && nth.last >= nth.first);
  if (!counts) cursor.Wrong(texts::OccurrenceNotValid());
}

// Also the pools of a custom job, "workerpool0" to "workerpool3".
bool IsRole(const std::string& word) {
  const std::string pool = "workerpool";
  if (word.starts_with(pool)) {
    return word.size() == pool.size() + 1 && word.back() >= '0' && word.back() <= '3';
  }
  return word == "master" || word == "worker" || word == "ps" || word == "evaluator";
}

// "worker" -> "worker-0", "chief" -> "master-0"; in a trial "worker/2" -> "worker-0/2".
std::optional<std::string> FullNameOf(const std::string& name) {
  if (const size_t slash = name.find('/'); slash != name.npos) {
    const auto replica = FullNameOf(name.substr(0, slash));
    const std::string trial = name.substr(slash + 1);
    const bool is_number = trial.find_first_not_of("0123456789") == trial.npos;
    if (!replica || trial.empty() || trial.size() > 9 || !is_number || trial[0] == '0') {
      return std::nullopt;
    }
    return *replica + "/" + trial;
  }
  if (name == "chief" || name == "chief-0") return "master-0";
  const size_t dash = name.rfind('-');
  const std::string role = name.substr(0, dash);
  if (!IsRole(role)) return std::nullopt;
  if (dash == name.npos) return name + "-0";
  const std::string index = name.substr(dash + 1);
  const bool is_index = index.find_first_not_of("0123456789") == index.npos;
  if (index.empty() || index.size() > 5 || !is_index) return std::nullopt;
  return name;
}

// The name that the job at the cursor gives the replica.
std::optional<std::string> FullName(const std::string& name, const Cursor& cursor) {
  const auto replica = FullNameOf(name);
  return replica && cursor.file().roles_are_pools ? NameInPools(*replica) : replica;
}

}  // namespace

const std::vector<std::string>& OperationNames() {
  static const std::vector<std::string> names = {"create", "overwrite", "write", "copy",    "move",
                                                 "rename", "truncate",  "link",  "symlink", "mkdir",
                                                 "delete", "read",      "list",  "change"};
  return names;
}

Trigger ReadTrigger(const Cursor& cursor) {
  Trigger trigger;
  if (!cursor.MustBeMap()) return trigger;
  const std::vector<std::string> names = TriggerKindNames();
  std::vector<std::string> known = names;
  for (const char* more : {"replica", "trial", "since", "nth", "probability"})
    known.emplace_back(more);
  cursor.OnlyKeys(known);
  int kinds = 0;
  for (const auto& [key, member] : cursor.Members()) {
    if (key == "replica") trigger.replica = ReadReplica(member, true) + trigger.replica;
    if (key == "trial") trigger.replica += "/" + std::to_string(member.Integer(1));
    if (key == "since") trigger.since = member.Text();
    if (key == "nth") ReadOccurrence(member, trigger.nth);
    if (key == "probability") {
      trigger.probability = member.Number();
      if (trigger.probability <= 0 || trigger.probability > 1) {
        member.Wrong(texts::ProbabilityOutOfRange());
      }
      if (!cursor.Has("nth")) trigger.nth.every = 1;
    }
    const auto* const kind = std::ranges::find(kTriggerKinds, key, &TriggerKind::name);
    if (kind == std::end(kTriggerKinds)) continue;
    if (++kinds == 2) member.Wrong(texts::TwoEvents());
    if (kinds == 1) trigger.kind = kind->read(member);
  }
  if (kinds == 0) cursor.Wrong(texts::EventMissing(names));
  for (const char* word : {"replica", "trial", "since", "nth", "probability"}) {
    if (!trigger.Is<TimeTrigger>() || !cursor.Has(word)) continue;
    cursor.At(word).Wrong(texts::MeaninglessWithAt());
  }
  return trigger;
}

std::string ReadReplica(const Cursor& cursor, bool or_any) {
  const std::string name = cursor.Text();
  if (name == "any" && or_any) return name;
  if (const auto replica = FullName(name, cursor)) return *replica;
  cursor.Wrong(texts::ReplicaNotValid(name, or_any));
  return name;
}

std::string ReadPeer(const Cursor& cursor) {
  const std::string name = cursor.Text();
  if (name == kStoragePeer) return name;
  if (const auto replica = FullName(name, cursor)) return *replica;
  cursor.Wrong(texts::PeerNotValid(name));
  return name;
}

std::string StateNamed(const std::string& word) {
  constexpr std::string_view kPrefix = "JOB_STATE_";
  if (!word.starts_with(kPrefix)) return word;
  const std::string state = word.substr(kPrefix.size());
  return state == "PENDING" ? "PREPARING" : state;
}

std::string ReplicaOfKey(const std::string& name, const Cursor& value) {
  if (const auto replica = FullName(name, value)) return *replica;
  value.Wrong(texts::ReplicaNotValid(name, false));
  return name;
}

}  // namespace caip::harness
