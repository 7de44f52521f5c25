#pragma once
// Runs of a trainer with and without a restart, and what the explorer finds in them.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "harness/explorer/recovery_comparison.h"
#include "tests/harness/run_of.h"

namespace caip::harness {

/// A model, whose bytes are not a text.
inline const std::string kPickle = "\x80\x04 weights";
/// The steps of an undisturbed run.
inline constexpr int kSteps = 6;

/// What the trainer reports of a step.
inline Json Record(int64_t step) {
  return {{"step", step}, {"loss", 1.0 / static_cast<double>(step)}};
}

/// Saves each step before (`saves_first`) or after the line that reports it.
struct Trainer {
  bool saves_first = false;
  std::string model = kPickle;

  void Do(Evidence& run, int boot, int64_t from, int64_t to) const {
    for (int64_t step = from; step <= to; ++step) {
      const Event line = Step("master-0", boot, step, Record(step));
      if (!saves_first) run.events.push_back(line);
      run.events.push_back(Storage("master-0", boot, "overwrite", "job/out/ckpt"));
      if (saves_first) run.events.push_back(line);
    }
  }
  void Finish(Evidence& run, int boot) const {
    run.events.push_back(Storage("master-0", boot, "create", "job/out/model"));
    run.events.push_back(Exit("master-0", boot));
    run.events = Numbered(std::move(run.events));
    run.objects["job/out/ckpt"] = {"6", 6};
    run.objects["job/out/model"] = {model, 1};
    run.state = "SUCCEEDED";
  }
  Evidence Undisturbed() const {
    Evidence run;
    run.events = {Start("master-0", 1), Live("master-0", 1)};
    Do(run, 1, 1, kSteps);
    Finish(run, 1);
    return run;
  }
  /// Its machine goes away after the write of step 3; the next boot begins with step `resumes`.
  Evidence Restarted(int64_t resumes) const {
    Evidence run;
    run.events = {Start("master-0", 1), Live("master-0", 1)};
    Do(run, 1, 1, 3);
    if (saves_first) run.events.pop_back();
    run.events.push_back(Exit("master-0", 1, 0, 9));
    run.events.push_back(Start("master-0", 2));
    Do(run, 2, resumes, kSteps);
    Finish(run, 2);
    return run;
  }
  /// Its machine also goes away after the write of step 3 + `done`, all of which the second boot
  /// does but the last one it does not report. The third boot begins with the step after it.
  Evidence RestartedTwice(int64_t done) const {
    Evidence run;
    run.events = {Start("master-0", 1), Live("master-0", 1)};
    Do(run, 1, 1, 3);
    run.events.pop_back();
    run.events.push_back(Exit("master-0", 1, 0, 9));
    run.events.push_back(Start("master-0", 2));
    Do(run, 2, 4, 3 + done);
    run.events.pop_back();
    run.events.push_back(Exit("master-0", 2, 0, 9));
    run.events.push_back(Start("master-0", 3));
    Do(run, 3, 4 + done, kSteps);
    Finish(run, 3);
    return run;
  }
  /// The second restart of such a run.
  CrashPoint SecondPoint(int64_t done) const {
    CrashPoint point = Point();
    point.events += 2 + 2 * static_cast<size_t>(done) - 1;
    return point;
  }
  CrashPoint Point() const {
    const size_t events = 2 + 3 * 2 - (saves_first ? 1 : 0);
    return {.replica = "master-0", .op = "overwrite", .text = "job/out/ckpt", .events = events};
  }
};

/// The flaws of a run that is restarted at Point().
inline std::vector<Flaw> Compared(const Trainer& trainer, const Evidence& run,
                                  TwinComparison how = {}) {
  const Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed(), std::move(how));
  return CompareRecovery(baseline, trainer.Point(), run);
}

/// The causes of flaws, with a question mark before those that the explorer doubts.
inline std::vector<std::string> CausesOf(const std::vector<Flaw>& flaws) {
  std::vector<std::string> causes;
  for (const Flaw& flaw : flaws) causes.push_back((flaw.doubt.empty() ? "" : "? ") + flaw.cause);
  return causes;
}

}  // namespace caip::harness
