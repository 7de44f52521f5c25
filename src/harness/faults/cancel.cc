#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict StrikeCancel(const Fault&, Scene& scene) {
  (void)scene.world().CancelJob();
  return {};
}

}  // namespace

FaultKind CancelKind() {
  return {"cancel", "The user cancels the job.", {}, {}, "replica", "", StrikeCancel};
}

}  // namespace caip::harness
