#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict StrikeDropLog(const Fault&, Scene&) { return {Verdict::Kind::kDrop, 0, 0, ""}; }

}  // namespace

FaultKind DropLogKind() {
  return {"drop_log",   "A line of the replica never arrives in the log.",
          {"replica"},  {"replica"},
          "line",       "",
          StrikeDropLog};
}

}  // namespace caip::harness
