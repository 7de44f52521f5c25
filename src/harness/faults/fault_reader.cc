#include "harness/faults/fault_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "harness/faults/fault_kind.h"
#include "harness/faults/trigger_reader.h"

namespace caip::harness {
namespace {

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (const FaultKind& kind : FaultKinds()) names.push_back(kind.name);
  return names;
}

// The parameters below the kind's key. `down_until` is until's name where a replacement is kept.
void ReadParameters(const FaultKind& kind, const Cursor& cursor, Fault& fault) {
  if (!cursor.MustBeMap()) return;
  cursor.OnlyKeys(kind.parameters);
  for (const std::string& name : kind.required) {
    if (!cursor.Has(name)) cursor.Wrong(kind.name + " needs `" + name + "`");
  }
  for (const auto& [key, member] : cursor.Members()) {
    if (key == "replica") fault.replica = ReadReplica(member);
    if (key == "until" || key == "down_until") fault.until = ReadTrigger(member);
    if (key == "for") fault.lasts = member.Time();
    if (key == "status") fault.status = static_cast<int>(member.Integer(400, 599));
    if (key == "break_after") fault.break_after = static_cast<uint64_t>(member.Integer(0));
    if (key == "latency") fault.delay = member.Time();
    if (key == "by") {
      fault.delay = member.Time(true);
      if (fault.delay == Duration(0)) member.Wrong("must be a step, like 1h or -30s");
    }
    if (key == "how") {
      fault.how = member.Text();
      if (fault.how != "package_unreadable" && fault.how != "pip_fails") {
        member.Wrong("must be package_unreadable or pip_fails");
      }
    }
    if (key == "stale_listing") fault.stale_listing = member.Flag();
  }
}

const FaultKind* ReadKind(const Cursor& cursor, Fault& fault) {
  const std::vector<std::string> kinds = KindNames();
  std::vector<std::string> known = kinds;
  known.insert(known.end(), {"name", "when"});
  cursor.OnlyKeys(known);
  const FaultKind* found = nullptr;
  for (const auto& [key, member] : cursor.Members()) {
    const FaultKind* kind = FindFaultKind(key);
    if (!kind) continue;
    if (found) member.Wrong("a fault is of one kind; write another one for this");
    if (found) continue;
    found = kind;
    fault.kind = key;
    ReadParameters(*kind, member, fault);
  }
  if (!found) cursor.Wrong("names no kind of fault; write one of " + Join(kinds, ", "));
  return found;
}

const char* UntilKey(const Cursor& parameters) {
  return parameters.Has("down_until") ? "down_until" : "until";
}

// The triggers of a fault, each with its place in the file.
std::vector<std::pair<const Trigger*, Cursor>> TriggersOf(const Fault& fault,
                                                          const Cursor& cursor) {
  std::vector<std::pair<const Trigger*, Cursor>> triggers;
  if (cursor.Has("when")) triggers.emplace_back(&fault.when, cursor.At("when"));
  if (!fault.until || fault.kind.empty()) return triggers;
  const Cursor parameters = cursor.At(fault.kind);
  triggers.emplace_back(&*fault.until, parameters.At(UntilKey(parameters)));
  return triggers;
}

// Of storage_error: what the operation meets.
void CheckStorageError(const Cursor& parameters) {
  int ways = 0;
  for (const char* way : {"status", "latency", "break_after", "stale_listing"}) {
    if (parameters.Has(way) && ++ways == 2) {
      parameters.At(way).Wrong("an operation fails in one way; write another fault for this");
    }
  }
}

// Faults that only have something to say are asked at moments of their own.
void CheckKindOfMoment(const FaultKind& kind, const Cursor& when, Trigger::Kind moment) {
  const auto strikes = [&](const char* meets, Trigger::Kind own, const char* what) {
    if (kind.meets == meets && moment != own) when.Wrong(kind.name + what);
    const bool shared = own == Trigger::Kind::kLog;
    if (kind.meets != meets && moment == own && !IsInline(kind) && !shared) {
      when.Wrong("is no moment that " + kind.name + " strikes at");
    }
  };
  strikes("prepare", Trigger::Kind::kPrepare,
          " strikes while packages are installed: `prepare: 1`");
  strikes("api", Trigger::Kind::kApi, " strikes calls: `api: projects.jobs.get`");
  strikes("line", Trigger::Kind::kLog, " strikes lines: `log: REGEX`");
}

void CheckMeeting(const FaultKind& kind, const Cursor& cursor, const Fault& fault) {
  const bool storage = fault.when.kind == Trigger::Kind::kStorage;
  if (kind.meets == "storage" && !storage) {
    cursor.At("when").Wrong(kind.name + " strikes storage operations: before, after or mid");
  }
  if (kind.name == "storage_error") CheckStorageError(cursor.At(kind.name));
  if (kind.name == "hang" && fault.until && fault.lasts) {
    cursor.At(kind.name).At("for").Wrong("a hang ends once: by `until` or by `for`");
  }
  CheckKindOfMoment(kind, cursor.At("when"), fault.when.kind);
  const bool of_reads = fault.break_after.has_value();
  if (of_reads && fault.when.op != "read") {
    cursor.At("when").Wrong("break_after strikes reads: before or after `read`");
  }
  if (fault.stale_listing && (fault.when.op != "list" || fault.when.phase != Phase::kBefore)) {
    cursor.At("when").Wrong("stale_listing strikes before `list`");
  }
  if (kind.name == "hang" && !fault.until && !fault.lasts) {
    cursor.Wrong("a hang ends: say `until: TRIGGER` or `for: 2s`");
  }
  if (kind.name == "hold" && fault.when.kind == Trigger::Kind::kAt) {
    cursor.At("when").Wrong("no replica waits in a moment of the clock; use hang");
  }
}

// Triggers that name other faults, and `until`s: known only when all faults are.
void CheckAmongEachOther(const std::vector<std::pair<Fault, Cursor>>& read,
                         const std::set<std::string>& names) {
  for (const auto& [fault, element] : read) {
    for (const auto& [trigger, place] : TriggersOf(fault, element)) {
      const bool is_until = trigger != &fault.when;
      if (is_until && trigger->kind == Trigger::Kind::kAt) {
        place.Wrong("no fault ends at a moment of the clock; name something that happens");
      }
      if (trigger->kind != Trigger::Kind::kFault) continue;
      if (!names.contains(trigger->pattern)) {
        place.Wrong("no fault is named '" + trigger->pattern + "'");
      } else if (trigger->pattern == fault.name && !is_until) {
        place.Wrong("can never come: a fault that waits for itself");
      }
    }
  }
}

// `trial: 2` of a trigger that names no replica is the fault's own replica, in that trial.
void SettleTrial(Fault& fault, Trigger& trigger) {
  if (!trigger.replica.starts_with('/')) return;
  const std::string trial = trigger.replica;
  if (fault.replica.find('/') == fault.replica.npos && &trigger == &fault.when) {
    fault.replica += trial;
  }
  trigger.replica = fault.replica.substr(0, fault.replica.find('/')) + trial;
}

}  // namespace

std::vector<Fault> ReadFaults(const Cursor& cursor) {
  std::vector<std::pair<Fault, Cursor>> read;
  std::map<std::string, int> counts;
  std::set<std::string> names;
  if (!cursor.IsList()) cursor.Wrong("must be a list");
  for (const Cursor& element : cursor.IsList() ? cursor.Elements() : std::vector<Cursor>()) {
    Fault fault;
    if (!element.MustBeMap()) continue;
    const FaultKind* kind = ReadKind(element, fault);
    if (!element.Has("when")) element.Wrong("says not when; write `when: {before: {create: ...}}`");
    if (element.Has("when")) fault.when = ReadTrigger(element.At("when"));
    SettleTrial(fault, fault.when);
    if (fault.until) SettleTrial(fault, *fault.until);
    if (kind) CheckMeeting(*kind, element, fault);
    fault.name = element.Has("name") ? element.At("name").Text()
                                     : fault.kind + " " + std::to_string(++counts[fault.kind]);
    const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    if (std::ranges::any_of(fault.name, is_control)) {
      element.At("name").Wrong("must be of characters that can be printed");
    }
    if (!names.insert(fault.name).second)
      element.Wrong("another fault is named '" + fault.name + "'");
    read.emplace_back(std::move(fault), element);
  }
  CheckAmongEachOther(read, names);
  std::vector<Fault> faults;
  for (auto& [fault, element] : read) faults.push_back(std::move(fault));
  return faults;
}

}  // namespace caip::harness
