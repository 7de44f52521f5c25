#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict StrikePreparingFailure(const Fault& fault, Scene&) {
  const bool unreadable = fault.how == "package_unreadable";
  return {Verdict::Kind::kRefuse, 0, 0,
          unreadable ? "The package could not be downloaded: the scenario has it unreadable."
                     : "ERROR: Could not install the packages: the scenario lets pip fail."};
}

}  // namespace

FaultKind PreparingFailureKind() {
  return {"preparing_failure",
          "The packages of an attempt cannot be had (how: package_unreadable) or installed "
          "(pip_fails).",
          {"how"},
          {"how"},
          "prepare",
          "",
          StrikePreparingFailure};
}

}  // namespace caip::harness
