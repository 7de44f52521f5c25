#include "harness/faults/fault.h"

#include <cassert>
#include <utility>

namespace caip::harness {
namespace {

std::vector<FaultKind> CollectFaultKinds() {
  std::vector<FaultKind> all;
  for (auto family : {MachineFaultKinds(), ProgramFaultKinds(), NetworkFaultKinds(),
                      ServiceFaultKinds(), LogAndClockFaultKinds()}) {
    for (FaultKind& kind : family) all.push_back(std::move(kind));
  }
  return all;
}

}  // namespace

const std::vector<FaultKind>& FaultKinds() {
  static const std::vector<FaultKind> kinds = CollectFaultKinds();
  return kinds;
}

const FaultKind* FindFaultKind(std::string_view name) {
  for (const FaultKind& kind : FaultKinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::string KindWithPeer(const Fault& fault) {
  return fault.kind->name + (fault.peer.empty() ? "" : " (" + fault.peer + ")");
}

bool IsAnsweredInline(const FaultKind& kind) {
  return kind.occasion == FaultOccasion::kInstallation ||
         kind.occasion == FaultOccasion::kApiCall || kind.occasion == FaultOccasion::kLogLine;
}

Fault MakeFault(const char* kind, std::string name, std::string replica, Trigger when,
                FaultActionPtr action) {
  Fault fault;
  fault.name = std::move(name);
  fault.kind = FindFaultKind(kind);
  assert(fault.kind && "a kind of the table");
  fault.replica = std::move(replica);
  fault.when = std::move(when);
  fault.action = std::move(action);
  return fault;
}

}  // namespace caip::harness
