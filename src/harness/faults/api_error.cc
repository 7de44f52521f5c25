#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict StrikeApiError(const Fault& fault, Scene&) {
  return {Verdict::Kind::kRefuse, fault.status, 0, "refused by the scenario"};
}

}  // namespace

FaultKind ApiErrorKind() {
  return {
      "api_error",   "A call of the job API is refused with a status.", {"status"}, {}, "api", "",
      StrikeApiError};
}

}  // namespace caip::harness
