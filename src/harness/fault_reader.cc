#include "harness/fault_reader.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "harness/fault_kind.h"
#include "harness/trigger_reader.h"

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
    if (key == "by") fault.delay = member.Time(true);
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

void CheckMeeting(const FaultKind& kind, const Cursor& cursor, const Fault& fault) {
  const bool storage = fault.when.kind == Trigger::Kind::kStorage;
  if (kind.meets == "storage" && !storage) {
    cursor.At("when").Wrong(kind.name + " strikes storage operations: before, after or mid");
  }
  if (kind.name == "hang" && !fault.until && !fault.lasts) {
    cursor.Wrong("a hang ends: say `until: TRIGGER` or `for: 2s`");
  }
  if (kind.name == "hold" && fault.when.kind == Trigger::Kind::kAt) {
    cursor.At("when").Wrong("no replica waits in a moment of the clock; use hang");
  }
}

}  // namespace

std::vector<Fault> ReadFaults(const Cursor& cursor) {
  std::vector<Fault> faults;
  std::map<std::string, int> counts;
  std::set<std::string> names;
  if (!cursor.IsList()) cursor.Wrong("must be a list");
  for (const Cursor& element : cursor.IsList() ? cursor.Elements() : std::vector<Cursor>()) {
    Fault fault;
    if (!element.MustBeMap()) continue;
    const FaultKind* kind = ReadKind(element, fault);
    if (!element.Has("when")) element.Wrong("says not when; write `when: {before: {create: ...}}`");
    if (element.Has("when")) fault.when = ReadTrigger(element.At("when"));
    if (kind) CheckMeeting(*kind, element, fault);
    fault.name = element.Has("name") ? element.At("name").Text()
                                     : fault.kind + " " + std::to_string(++counts[fault.kind]);
    if (!names.insert(fault.name).second)
      element.Wrong("another fault is named '" + fault.name + "'");
    faults.push_back(std::move(fault));
  }
  for (size_t i = 0; i < faults.size() && cursor.IsList(); ++i) {
    const Trigger& when = faults[i].when;
    if (when.kind == Trigger::Kind::kFault && !names.contains(when.pattern)) {
      cursor.Elements()[i].At("when").Wrong("no fault is named '" + when.pattern + "'");
    }
  }
  return faults;
}

}  // namespace caip::harness
