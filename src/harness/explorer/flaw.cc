#include "harness/explorer/flaw.h"

#include <algorithm>
#include <iterator>

namespace caip::harness {
namespace {

constexpr std::string_view kFlawKinds[] = {
    "",          "missing_steps", "rewritten_result", "lost_progress",
    "left_over", "job_fails",     "no_end",           "steps",
    "contents",  "drift",         "other_state",      "spoiled_output"};

}  // namespace

int RankOf(Flaw::Kind kind) {
  switch (kind) {
    case Flaw::Kind::kJobFails:
    case Flaw::Kind::kNoEnd:
      return 0;
    case Flaw::Kind::kLostProgress:
    case Flaw::Kind::kSpoiledOutput:
      return 1;
    case Flaw::Kind::kOtherState:
      return 2;
    case Flaw::Kind::kMissingSteps:
    case Flaw::Kind::kSteps:
      return 3;
    case Flaw::Kind::kDrift:
      return 5;
    default:
      return 4;
  }
}

std::string_view Name(Flaw::Kind kind) { return kFlawKinds[static_cast<size_t>(kind)]; }

Flaw::Kind FlawKindNamed(std::string_view name) {
  const auto found = std::ranges::find(kFlawKinds, name);
  return found == std::end(kFlawKinds) ? Flaw::Kind::kOther
                                       : static_cast<Flaw::Kind>(found - std::begin(kFlawKinds));
}

}  // namespace caip::harness
