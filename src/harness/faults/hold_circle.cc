#include "harness/faults/hold_circle.h"

#include <algorithm>

namespace caip::harness {
namespace {

// The replica that alone can cause the event; "": several can, the service can, or it is not known.
// `own`: the replica of a trigger that names none. `depth`: how many faults may follow each other.
std::string FindOnlyCause(const std::vector<Fault>& faults, const Trigger& trigger,
                          const std::string& own, size_t depth) {
  if (const auto* other = trigger.As<FaultTrigger>()) {
    const auto found = std::ranges::find(faults, other->fault, &Fault::name);
    if (found == faults.end() || depth == 0) return "";
    return FindOnlyCause(faults, found->when, found->replica, depth - 1);
  }
  const bool is_own_act =
      trigger.Is<StorageTrigger>() || trigger.Is<StepTrigger>() || trigger.Is<LogTrigger>();
  const std::string& replica = trigger.replica.empty() ? own : trigger.replica;
  return is_own_act && replica != "any" ? replica : "";
}

bool IsHold(const Fault& fault) {
  return fault.kind->while_until == WhileUntil::kThreadWaits && fault.until.has_value();
}

// Appends the holds that lead from the end of the chain back to its beginning. False: none do.
bool LeadsBackToFirst(const std::vector<Fault>& faults, const std::vector<size_t>& lasting,
                      std::vector<size_t>& chain) {
  const std::string awaited =
      FindOnlyCause(faults, *faults[chain.back()].until, "any", faults.size());
  if (awaited.empty()) return false;
  for (const size_t next : lasting) {
    const Fault& fault = faults[next];
    if (!IsHold(fault)) continue;
    if (FindOnlyCause(faults, fault.when, fault.replica, faults.size()) != awaited) continue;
    if (next == chain.front()) return true;
    if (std::ranges::find(chain, next) != chain.end()) continue;
    chain.push_back(next);
    if (LeadsBackToFirst(faults, lasting, chain)) return true;
    chain.pop_back();
  }
  return false;
}

}  // namespace

std::vector<std::string> FindHoldCircle(const std::vector<Fault>& faults,
                                        const std::vector<size_t>& lasting, size_t from) {
  if (!IsHold(faults[from])) return {};
  std::vector<size_t> chain = {from};
  if (!LeadsBackToFirst(faults, lasting, chain)) return {};
  std::vector<std::string> names;
  for (const size_t index : chain) names.push_back(faults[index].name);
  return names;
}

}  // namespace caip::harness
