#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict StrikeHang(const Fault& fault, Scene& scene) {
  scene.world().Freeze(fault.replica);
  scene.WhenOver(fault, [&world = scene.world(), replica = fault.replica] { world.Thaw(replica); });
  return {};
}

}  // namespace

FaultKind HangKind() {
  return {
      "hang",
      "Every process of the replica stands still, until it thaws: `until: TRIGGER` or `for: 2s`.",
      {"replica", "until", "for"},
      {"replica"},
      "replica",
      "",
      StrikeHang};
}

}  // namespace caip::harness
