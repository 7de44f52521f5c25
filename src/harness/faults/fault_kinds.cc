#include "harness/faults/fault_kind.h"

namespace caip::harness {

const std::vector<FaultKind>& FaultKinds() {
  static const std::vector<FaultKind> kinds = {
      KillKind(),         CrashKind(),     MaintenanceKind(),
      HangKind(),         HoldKind(),      CancelKind(),
      StorageErrorKind(), ClockStepKind(), PreparingFailureKind(),
      ApiErrorKind(),     DropLogKind(),   DuplicateLogKind(),
  };
  return kinds;
}

bool IsInline(const FaultKind& kind) {
  return kind.meets == "prepare" || kind.meets == "api" || kind.meets == "line";
}

const FaultKind* FindFaultKind(std::string_view name) {
  for (const FaultKind& kind : FaultKinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace caip::harness
