#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict StrikeHold(const Fault& fault, Scene& scene) {
  scene.WaitForUntil(fault);
  return {};
}

}  // namespace

FaultKind HoldKind() {
  return {"hold",
          "The replica waits in the moment that `when` names, until another happens elsewhere.",
          {"replica", "until"},
          {"replica", "until"},
          "replica",
          "",
          StrikeHold};
}

}  // namespace caip::harness
