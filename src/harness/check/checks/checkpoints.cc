#include <algorithm>

#include "base/time_text.h"
#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/restart_point.h"
#include "ml/schema/job_json.h"

namespace caip::harness {
namespace {

constexpr char kAdvice[] =
    "Save to job-dir every few minutes, and at least every four hours: a machine may be taken away "
    "at any time, and what was not saved is done again.";

std::optional<Duration> MaxRunningTime(const Course& course) {
  const Json* scheduling = Member(course.trainer.job.training_input, "scheduling");
  return scheduling ? ParseProtoDuration(StringOr(*scheduling, "maxRunningTime")) : std::nullopt;
}

/// The training as the master had it: its length, and the longest time in it without a save.
struct Distance {
  Duration whole{0};
  Duration longest{0};
  size_t saves = 0;
};

Distance Measure(const CourseRun& run) {
  const std::string master = MasterOf(run);
  Instant begin{};
  Instant end{};
  for (const Happening& h : run.evidence.happenings) {
    if (h.replica != master) continue;
    if (h.kind == Happening::Kind::kLive) begin = h.time;
    if (h.kind == Happening::Kind::kExit) end = h.time;
  }
  Distance distance{end - begin, Duration(0), 0};
  Instant last = begin;
  for (const Happening* save : SavesOf(run)) {
    distance.longest = std::max<Duration>(distance.longest, save->time - last);
    last = save->time;
    ++distance.saves;
  }
  distance.longest = std::max<Duration>(distance.longest, end - last);
  return distance;
}

Ruling JudgeCheckpoints(const Course& course) {
  const CourseRun& run = course.Of("plain");
  if (!run.succeeded()) return Skip("the job does not succeed by itself");
  const Distance distance = Measure(run);
  const auto writes = WritesOf(run, MasterOf(run));
  if (distance.saves == 0) {
    Ruling ruling{CheckVerdict::kFail,
                  writes.empty() ? "nothing was written to storage at all"
                                 : "nothing was saved before the training was over",
                  {},
                  kAdvice};
    for (const Happening* write : writes) ruling.evidence.push_back(Shown(*write));
    return ruling;
  }
  // What a small run shows is stretched to the length of the real one.
  const auto limit = MaxRunningTime(course);
  const auto real = course.trainer.real_duration ? course.trainer.real_duration : limit;
  const double part = static_cast<double>(distance.longest.count()) /
                      static_cast<double>(std::max<int64_t>(1, distance.whole.count()));
  const auto stretched =
      real ? Duration(static_cast<int64_t>(part * static_cast<double>(real->count())))
           : distance.longest;
  std::string found = std::to_string(distance.saves) + " saves, at most " +
                      HumanDuration(distance.longest) + " apart";
  if (real)
    found += "; in a job of " + HumanDuration(*real) + " that is " + HumanDuration(stretched);
  const bool too_late = limit && stretched >= *limit;
  if (!too_late && stretched <= course.trainer.vm_lifetime) return Pass(std::move(found));
  found += too_late ? ", and maxRunningTime ends it after " + HumanDuration(*limit)
                    : ", and a machine stays " + HumanDuration(course.trainer.vm_lifetime);
  Ruling ruling{CheckVerdict::kFail, std::move(found), {}, kAdvice};
  for (const Happening* save : SavesOf(run)) {
    ruling.evidence.push_back(Shown(*save));
  }
  return ruling;
}

}  // namespace

CheckKind CheckpointsCheck() {
  return {"restart/checkpoints",
          "The trainer saves often enough for what a machine and the job's time limit leave it.",
          "docs/service/replica-environment.md, section 8: save often, at least every four hours",
          {"plain"},
          JudgeCheckpoints};
}

}  // namespace caip::harness
