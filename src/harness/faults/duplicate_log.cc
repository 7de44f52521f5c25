#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict Strike(const Fault&, Scene&) { return {Verdict::Kind::kTwice, 0, 0, ""}; }

}  // namespace

FaultKind DuplicateLogKind() {
  return {"duplicate_log", "A line of the replica arrives twice in the log.",
          {"replica"},     {"replica"},
          "line",          "",
          Strike};
}

}  // namespace caip::harness
