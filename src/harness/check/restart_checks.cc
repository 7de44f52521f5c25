// The chapter restart: checkpoints, a machine that is moved, and the explorer.

#include <algorithm>
#include <iterator>
#include <set>

#include "base/quoting.h"
#include "base/text.h"
#include "base/time_text.h"
#include "harness/check/check.h"
#include "harness/check/read_again.h"
#include "harness/check/restart_point.h"
#include "harness/check/run_evidence.h"
#include "harness/explorer/baseline.h"
#include "harness/explorer/saved_states.h"

namespace caip::harness {
namespace {

constexpr char kSaveAdvice[] =
    "Save every few minutes, and at least every four hours. A machine may go away at any "
    "time, and all work since the last checkpoint is done again.";
constexpr char kStartAdvice[] =
    " The trainer reports no steps, so the time of its start counts as training. If the start "
    "takes most of the run, give the trainer more to do, or let it report its steps "
    "(docs/scenarios.md: Steps).";

std::string SaveAdvice(const CheckRun& run) {
  return kSaveAdvice + std::string(StepsOf(run, MasterOf(run)).empty() ? kStartAdvice : "");
}

std::optional<Duration> MaxRunningTimeOf(const CheckSession& session) {
  const Scenario& job = session.trainer.job;
  return job.kind->MaxRunningOf(job.document);
}

/// The training of the master: its length, and the longest time in it without a save.
struct SaveIntervals {
  Duration whole{0};
  Duration longest{0};
  size_t saves = 0;
};

SaveIntervals MeasureSaves(const CheckRun& run) {
  const std::string master = MasterOf(run);
  Instant begin{};
  Instant end{};
  for (const Event& event : run.evidence.events) {
    if (event.replica != master) continue;
    if (event.Is<LiveEvent>()) begin = event.time;
    if (event.Is<ExitEvent>()) end = event.time;
  }
  SaveIntervals intervals{end - begin, Duration(0), 0};
  Instant last = begin;
  for (const ReplicaWrite& save : SavesOf(run)) {
    intervals.longest = std::max<Duration>(intervals.longest, save.event->time - last);
    last = save.event->time;
    ++intervals.saves;
  }
  intervals.longest = std::max<Duration>(intervals.longest, end - last);
  return intervals;
}

CheckResult FailWithoutCheckpoints(const CheckRun& run) {
  const auto writes = WritesOf(run, "");
  CheckResult result{CheckVerdict::kFail,
                     writes.empty() ? "nothing was written to storage at all"
                                    : "nothing was saved before the training was over",
                     {},
                     writes.empty() ? kSaveAdvice : SaveAdvice(run)};
  for (const ReplicaWrite& write : writes) result.evidence.push_back(Shown(write));
  return result;
}

// The intervals of the small run are scaled to the length of the real job.
CheckResult CheckCheckpoints(const CheckSession& session) {
  const CheckRun& run = session.Run("plain");
  if (!run.succeeded()) return Skip("the job does not succeed by itself");
  const SaveIntervals intervals = MeasureSaves(run);
  if (intervals.saves == 0) return FailWithoutCheckpoints(run);
  const auto limit = MaxRunningTimeOf(session);
  const auto real = session.trainer.real_duration ? session.trainer.real_duration : limit;
  const double part = static_cast<double>(intervals.longest.count()) /
                      static_cast<double>(std::max<int64_t>(1, intervals.whole.count()));
  const auto scaled =
      real ? Duration(static_cast<int64_t>(part * static_cast<double>(real->count())))
           : intervals.longest;
  std::string found = std::to_string(intervals.saves) +
                      (intervals.saves == 1 ? " save, at most " : " saves, at most ") +
                      HumanDuration(intervals.longest) + " apart";
  if (real) {
    found += "; in a job of " + HumanDuration(*real) + " that is " + HumanDuration(scaled);
  }
  const bool too_late = limit && scaled >= *limit;
  if (!too_late && scaled <= session.trainer.vm_lifetime) return Pass(std::move(found));
  found += too_late ? ", and maxRunningTime ends the job after " + HumanDuration(*limit)
                    : ", and a machine lives for " + HumanDuration(session.trainer.vm_lifetime);
  CheckResult result{CheckVerdict::kFail, std::move(found), {}, SaveAdvice(run)};
  for (const ReplicaWrite& save : SavesOf(run)) result.evidence.push_back(Shown(save));
  return result;
}

// `replica` "": of all replicas.
std::set<int64_t> StepNumbersOf(const CheckRun& run, const std::string& replica) {
  std::set<int64_t> numbers;
  for (const ReplicaStep& step : StepsOf(run, replica)) numbers.insert(step.step);
  return numbers;
}

// Another replica may do the steps of a lost worker.
std::vector<std::string> FindMissingWork(const CheckRun& plain, const CheckRun& run,
                                         const std::string& restarted) {
  std::vector<std::string> missing;
  std::set<std::string> present;  // names may contain times
  for (const auto& [name, object] : run.evidence.objects) present.insert(WithoutNumbers(name));
  for (const auto& [name, object] : plain.evidence.objects) {
    if (!present.contains(WithoutNumbers(name))) missing.push_back("missing at the end: " + name);
  }
  const std::set<int64_t> done = StepNumbersOf(run, restarted == MasterOf(run) ? restarted : "");
  for (const int64_t step : StepNumbersOf(plain, restarted)) {
    if (!done.contains(step)) missing.push_back("not done: step " + std::to_string(step));
  }
  return missing;
}

// What FindMissingWork looked for.
std::string DescribeCompared(const CheckRun& plain, const std::string& restarted) {
  const size_t steps = StepNumbersOf(plain, restarted).size();
  const size_t objects = plain.evidence.objects.size();
  std::string text = std::to_string(objects) + (objects == 1 ? " object" : " objects") +
                     " of the same name as in the plain run and ";
  text += steps == 0 ? "no reported steps"
                     : std::to_string(steps) + (steps == 1 ? " step" : " steps") + " done";
  return text + "; contents are for restart/explored";
}

CheckResult CheckSigterm(const CheckSession& session) {
  constexpr size_t kShown = 8;
  const CheckRun& run = session.Run("maintenance");
  const std::string advice =
      "When a machine is moved, the trainer gets SIGTERM and restarts on a new machine with an "
      "empty disk. Load the newest complete checkpoint and continue from it.";
  if (!run.succeeded()) return FailOf(run, "after SIGTERM and a new machine", advice);
  const CheckRun& plain = session.Run("plain");
  const std::string restarted = RestartedReplicaOf(session);
  std::vector<std::string> missing = FindMissingWork(plain, run, restarted);
  if (missing.empty()) return Pass("SUCCEEDED with " + DescribeCompared(plain, restarted));
  CheckResult result{CheckVerdict::kFail, "the job SUCCEEDED, but some of its work is missing"};
  result.evidence = std::move(missing);
  if (result.evidence.size() > kShown) result.evidence.resize(kShown);
  result.advice = advice;
  return result;
}

constexpr char kResumeAdvice[] =
    "When the trainer starts, load the newest complete checkpoint and continue after it. "
    "Otherwise a job whose machine goes away more often than the training takes never ends.";

CheckResult CheckResumedSteps(const CheckRun& run, const std::string& replica) {
  const auto first = StepsOf(run, replica, 1);
  const auto second = StepsOf(run, replica, 2);
  if (second.empty()) return Pass("boot 2 had no step left to do");
  const std::string from = "boot 1 reached step " + std::to_string(first.back().step) +
                           ", boot 2 began at " + std::to_string(second.front().step);
  if (second.front().step > first.front().step) return Pass(from);
  CheckResult result{CheckVerdict::kFail, from, {}, kResumeAdvice};
  result.evidence.push_back("saved before: " + Shown(WritesOf(run, replica, 1).back()));
  result.evidence.push_back("first step of boot 2: " + Shown(*second.front().event));
  return result;
}

// Checks that boot 2 read a state of boot 1, for trainers that report no steps. An object that is
// written once may be a configuration, which shows nothing.
CheckResult CheckResumedReads(const CheckSession& session, const std::string& replica) {
  const CheckRun& run = session.Run("maintenance");
  SavedStates states(run.evidence.events);
  const auto plain = session.runs.find("plain");
  if (plain != session.runs.end()) states.Add(plain->second.evidence.events);
  const std::vector<std::string> read = FindReadAgain(run, replica);
  CheckResult result{CheckVerdict::kFail, "", {}, kResumeAdvice};
  for (const std::string& object : read) {
    if (states.are_known() && states.MayBeState(object)) {
      return Pass("boot 2 read " + object + ", which boot 1 had written");
    }
  }
  for (const ReplicaWrite& write : WritesOf(run, replica, 1)) {
    result.evidence.push_back("written: " + Shown(write));
  }
  if (read.empty()) {
    result.found = "boot 2 read nothing that boot 1 had written";
    return result;
  }
  result.verdict = CheckVerdict::kWarn;
  result.found = "boot 2 read only " + read.front() +
                 ", which the training writes once: it may be a configuration";
  result.advice = std::string(kResumeAdvice) +
                  " Let the trainer report its steps: they show where it resumes "
                  "(docs/scenarios.md: Steps).";
  return result;
}

CheckResult CheckResumes(const CheckSession& session) {
  const CheckRun& run = session.Run("maintenance");
  if (!run.succeeded()) return Skip("the job does not survive: see restart/sigterm");
  const std::string replica = RestartedReplicaOf(session);
  if (!SavesSomething(run, replica, 1)) {
    return Skip("nothing was saved before the restart: see restart/checkpoints");
  }
  return StepsOf(run, replica, 1).empty() ? CheckResumedReads(session, replica)
                                          : CheckResumedSteps(run, replica);
}

std::string DescribeNotCompared(const CheckRun& run) {
  return run.not_compared.empty() ? "" : "not compared: " + Join(run.not_compared, ", ");
}

std::vector<ExploredFlaw> FlawsOf(const CheckRun& run, bool of_second_start) {
  std::vector<ExploredFlaw> flaws;
  std::ranges::copy_if(run.flaws, std::back_inserter(flaws), [&](const ExploredFlaw& flaw) {
    return flaw.is_of_second_start == of_second_start;
  });
  return flaws;
}

// The findings of which the explorer is sure, or those that may be harmless.
CheckResult ReportFlaws(const CheckSession& session, const std::vector<ExploredFlaw>& flaws,
                        bool sure) {
  constexpr size_t kShown = 5;
  const CheckRun& run = session.Run("restarts");
  CheckResult result{sure ? CheckVerdict::kFail : CheckVerdict::kWarn, ""};
  size_t count = 0;
  for (const ExploredFlaw& flaw : flaws) {
    if (flaw.is_doubtful == sure) continue;
    if (count++ == 0) result.found = flaw.cause;
    if (count > kShown) continue;
    const char* what = flaw.is_of_second_start ? "the program fails " : "the machine goes away ";
    result.evidence.push_back(what + flaw.point + ": " + flaw.cause);
    result.evidence.push_back("  expected " + flaw.expected + ", found " + flaw.found);
    result.evidence.push_back("  again: caip scenario run " + ShellQuoted(flaw.scenario) +
                              session.trainer.repeated_flags + run.repeated_flags);
  }
  if (const std::string rest = DescribeNotCompared(run); !rest.empty()) {
    result.evidence.push_back(rest);
  }
  if (count > 1) result.found += ", and " + std::to_string(count - 1) + " more";
  result.advice =
      "Each finding is a scenario that fails until the trainer is fixed. `caip scenario show` "
      "draws "
      "a run of it. See docs/explorer.md.";
  return result;
}

CheckResult CheckExplored(const CheckSession& session) {
  for (const char* simpler : {"restart/sigterm", "restart/resumes", "restart/checkpoints"}) {
    const CheckKind& check = *FindCheck(simpler);
    if (EvaluateCheck(check, session).verdict != CheckVerdict::kFail) continue;
    return Skip(check.id + " fails: most restarts would show only that");
  }
  const CheckRun& run = session.Run("restarts");
  if (run.restarts_tried == 0) {
    return Skip("no restart was tried" +
                (run.not_all.empty() ? std::string() : ": " + run.not_all));
  }
  const std::vector<ExploredFlaw> flaws = FlawsOf(run, false);
  const bool is_sure = !std::ranges::all_of(flaws, &ExploredFlaw::is_doubtful);
  if (!flaws.empty()) return ReportFlaws(session, flaws, is_sure);
  std::vector<std::string> remarks;
  for (const std::string& one : {run.not_all, DescribeNotCompared(run)}) {
    if (!one.empty()) remarks.push_back(one);
  }
  return Pass(std::to_string(run.restarts_tried) +
              " restarts, each with the result of a run without restarts" +
              (remarks.empty() ? "" : " (" + Join(remarks, "; ") + ")"));
}

CheckResult CheckSecondStart(const CheckSession& session) {
  const CheckRun& run = session.Run("restarts");
  if (run.failures_tried == 0) {
    return Skip("no failure of the program was tried: " +
                (run.not_all.empty() ? "the trainer stores nothing" : run.not_all));
  }
  const std::vector<ExploredFlaw> flaws = FlawsOf(run, true);
  if (flaws.empty()) {
    return Pass("after an error, the second start keeps what the first one had written (" +
                std::to_string(run.failures_tried) + " failures)");
  }
  CheckResult result =
      ReportFlaws(session, flaws, !std::ranges::all_of(flaws, &ExploredFlaw::is_doubtful));
  result.advice =
      "When a program ends with an error, the service starts it again before the job fails. Load "
      "the newest checkpoint at each start, and delete or overwrite nothing before a newer one is "
      "complete. " +
      result.advice;
  return result;
}

}  // namespace

std::vector<CheckKind> RestartChecks() {
  return {
      {"restart/checkpoints",
       "The trainer saves often enough for the lifetime of a machine and the job's time limit.",
       "docs/service/replica-environment.md, section 8: save often, at least every four hours",
       {"plain"},
       CheckCheckpoints,
       CheckScope::kAnyTrainer},
      {"restart/sigterm",
       "The training survives a SIGTERM and a new machine.",
       "docs/service/replica-environment.md, sections 7 and 8: machines are moved",
       {"plain", "maintenance"},
       CheckSigterm,
       CheckScope::kAnyTrainer},
      {"restart/resumes",
       "A restarted trainer continues from its last checkpoint.",
       "docs/service/replica-environment.md, section 8; docs/service/restarts.md, section 3: R08",
       {"maintenance"},
       CheckResumes,
       CheckScope::kAnyTrainer},
      {"restart/second-start",
       "A program that starts once more after an error keeps its output.",
       "docs/service/vertex.md, section 4: a replica that exits non-zero is started again at once",
       {"plain", "restarts"},
       CheckSecondStart,
       CheckScope::kVertexJobs},
      {"restart/explored",
       "The result is the same wherever the machine goes away.",
       "docs/service/restarts.md, section 3; docs/explorer.md",
       {"plain", "restarts"},
       CheckExplored,
       CheckScope::kAnyTrainer,
       {"maintenance"}},  // a trainer without a middle at which to restart it is explored, too
  };
}

}  // namespace caip::harness
