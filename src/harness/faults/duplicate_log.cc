#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict StrikeDuplicateLog(const Fault&, Scene&) { return {Verdict::Kind::kTwice, 0, 0, ""}; }

}  // namespace

FaultKind DuplicateLogKind() {
  return {"duplicate_log",
          "A line of the replica arrives twice in the log.",
          {"replica"},
          {"replica"},
          "line",
          "",
          StrikeDuplicateLog};
}

}  // namespace caip::harness
