#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict StrikeStorageError(const Fault& fault, Scene& scene) {
  if (fault.delay > Duration(0)) {
    scene.Pause(fault.delay);
    return {};
  }
  if (fault.stale_listing) return {Verdict::Kind::kStale, 0, 0};
  if (fault.break_after) return {Verdict::Kind::kBreak, 0, *fault.break_after};
  return {Verdict::Kind::kRefuse, fault.status, 0};
}

}  // namespace

FaultKind StorageErrorKind() {
  return {"storage_error",
          "A storage operation is refused (status), is late (latency), breaks off (break_after "
          "bytes), or lists what the same listing said the last time (stale_listing).",
          {"replica", "status", "latency", "break_after", "stale_listing"},
          {},
          "storage",
          "",
          StrikeStorageError};
}

}  // namespace caip::harness
