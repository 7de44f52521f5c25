// The part of harness/faults/fault_injector.h about the lines of replicas: those of boots that are
// not up yet, and faults that wait for the replica that printed them.

#include <utility>

#include "harness/faults/fault_injector.h"

namespace caip::harness {
namespace {

bool MakesThreadWait(const Fault& fault) {
  return fault.kind->while_until == WhileUntil::kThreadWaits;
}

}  // namespace

// Mutex held. Whether the line's boot is possibly not up yet.
bool FaultInjector::IsHeldBack(const Event& line) const {
  const auto over = over_.find(line.replica);
  if (over != over_.end() && over->second == line.boot) return false;
  const auto live = live_.find(line.replica);
  return !running_ || live == live_.end() || live->second != line.boot;
}

// Mutex held. The replica that has printed the line carries out what it waits for. Returns the
// rest. The service prints lines, too, and nothing of it waits.
FaultInjector::Due FaultInjector::LeaveToPrinter(const std::string& replica, Due due) {
  if (!booted_.contains(replica)) return due;
  Due& left = due_by_lines_[replica];
  std::erase_if(due.faults, [&](size_t index) {
    const bool is_left = lock_step_ || MakesThreadWait(faults_[index]->fault);
    if (is_left) left.faults.push_back(index);
    return is_left;
  });
  if (!lock_step_) return due;
  for (auto& end : std::exchange(due.ends, {})) left.ends.push_back(std::move(end));
  return due;
}

// Mutex held. The boot that has printed the lines is over, and the next one has nothing to do with
// them. Nobody is left to be held. The injector carries out the rest itself.
void FaultInjector::TakeOverFromDeadPrinter(const std::string& replica) {
  Due left = std::exchange(due_by_lines_[replica], {});
  std::erase_if(left.faults,
                [this](size_t index) { return MakesThreadWait(faults_[index]->fault); });
  EndInFlight(std::move(left.ends));
  if (left.faults.empty()) return;
  BeginInFlight();
  work_.push_back([this, due = std::move(left.faults)] { RunInFlight([&] { Inject(due); }); });
}

// Mutex held. A thread waits at every event of a replica, but not at a line of the service.
bool FaultInjector::CanMeet(const Fault& fault, const Event& event) const {
  return !MakesThreadWait(fault) || !FindPrintedLine(event) || booted_.contains(event.replica);
}

// Mutex held.
void FaultInjector::AppendHeldBackLines() {
  for (auto& [replica, lines] : held_back_) {
    if (lines.empty() || live_[replica] == 0) continue;
    for (HeldBackLine& held : std::exchange(lines, {})) {
      Append(held.line);
      for (const size_t index : held.met) AppendFault(index, Describe(held.line));
      auto& left = due_by_lines_[replica].faults;
      left.insert(left.end(), held.due.begin(), held.due.end());
    }
  }
}

}  // namespace caip::harness
