#pragma once
// What counts as progress of a run, for limits.no_progress (docs/scenarios.md).

#include "harness/events/event.h"

namespace caip::harness {

/// A step, a change in storage, a start or an end. A run that only logs or looks stands still.
inline bool IsProgress(const Happening& h) {
  if (h.kind == Happening::Kind::kLog) return false;
  return h.kind != Happening::Kind::kStorage || (h.op != "read" && h.op != "list");
}

}  // namespace caip::harness
