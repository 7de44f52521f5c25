// Runs with a replica of each role, once under the name `chief` and once under `master`
// (docs/service/replica-environment.md, section 2: runtime versions of 2.1 and later say chief,
// those up to 1.15 master, containers as useChiefInTfConfig has it).

#include <algorithm>

#include "harness/check/check_run.h"
#include "harness/check/cluster_roles.h"
#include "harness/check/restart_point.h"

namespace caip::harness {
namespace {

constexpr auto kPauseMin = std::chrono::milliseconds(500);
constexpr auto kPauseMax = std::chrono::seconds(5);

// What it takes for the master to be called so.
void NameMaster(Json& input, const CheckedTrainer& trainer, bool chief) {
  if (trainer.is_container) {
    input["useChiefInTfConfig"] = chief;
    return;
  }
  const bool now = UsesChief(input);
  if (now == chief) return;
  input["runtimeVersion"] = chief ? "2.11" : "1.15";
  input["pythonVersion"] = "3.7";
}

// How long the master took to its middle; the others have begun their work in that time, too.
Duration WarmUp(const CourseRun& plain, const CrashPoint& middle) {
  Instant live{};
  for (size_t i = 0; i < middle.events; ++i) {
    const Happening& h = plain.evidence.happenings[i];
    if (h.replica == middle.replica && h.kind == Happening::Kind::kLive) live = h.time;
  }
  const Duration took = plain.evidence.happenings[middle.events - 1].time - live;
  return std::clamp<Duration>(2 * took, kPauseMin, kPauseMax);
}

// The master stands still in its middle for a while: when it is done before the others have begun,
// nothing is seen of them.
void WaitForOthers(const Course& course, Scenario& scenario) {
  const CourseRun& plain = course.Of("plain");
  const auto middle = MiddleOf(plain);
  if (!middle) return;
  Fault pause;
  pause.name = "pause";
  pause.kind = "hang";
  pause.replica = middle->replica;
  pause.when = TriggerOf(*middle);
  pause.lasts = WarmUp(plain, *middle);
  scenario.faults.push_back(std::move(pause));
}

RunPlan PlanChiefCluster(const Course& course, bool chief) {
  if (const std::string why = NoPeace(course); !why.empty()) return NotMade(why);
  RunPlan plan = AsGiven(course);
  Json& input = plan.scenario.training_input;
  // An evaluator turns the master of a container job into the chief, whatever it asked for.
  if (!HasCluster(input)) AddEveryRole(input, chief);
  if (!chief && HasRole(input, "evaluator")) {
    return NotMade("with an evaluator the master is always called chief");
  }
  NameMaster(input, course.trainer, chief);
  WaitForOthers(course, plan.scenario);
  return plan;
}

RunPlan WithChief(const Course& course) { return PlanChiefCluster(course, true); }
RunPlan WithMaster(const Course& course) { return PlanChiefCluster(course, false); }

}  // namespace

CourseRunKind ChiefClusterRun() {
  return {"chief",
          "The job's own cluster, else one with a replica of every role, whose master TF_CONFIG "
          "calls chief.",
          {"plain"},
          WithChief};
}

CourseRunKind MasterClusterRun() {
  return {"master", "A cluster whose master TF_CONFIG calls master.", {"plain"}, WithMaster};
}

}  // namespace caip::harness
