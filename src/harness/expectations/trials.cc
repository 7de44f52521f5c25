// What became of a tuning job's trials: trials.

#include <optional>

#include "base/text.h"
#include "harness/expectations/counts.h"

namespace caip::harness {
namespace {

struct ExpectedTrials {
  std::optional<Count> count;
  std::optional<std::vector<int64_t>> reports;
  bool best_as_twin = false;
};

std::string StepList(const std::vector<int64_t>& steps) {
  std::vector<std::string> texts;
  for (int64_t step : steps) texts.push_back(std::to_string(step));
  return texts.empty() ? "none" : Join(texts, ", ");
}

std::vector<Assertion> CheckTrials(const ExpectedTrials& wanted, const ComparedRuns& runs) {
  std::vector<Assertion> assertions;
  const auto& trials = runs.run.trials;
  if (wanted.count) {
    const auto found = static_cast<int64_t>(trials.size());
    assertions.push_back(
        {"trials", Text(*wanted.count), std::to_string(found), wanted.count->Holds(found)});
  }
  if (wanted.reports) {
    for (const auto& [id, trial] : trials) {
      assertions.push_back({"trials reports of " + id, StepList(*wanted.reports),
                            StepList(trial.steps), trial.steps == *wanted.reports});
    }
    if (trials.empty()) {
      assertions.push_back({"trials reports", StepList(*wanted.reports), "no trial", false});
    }
  }
  if (wanted.best_as_twin && runs.twin) {
    const auto name = [](const std::string& best) { return best.empty() ? "none" : best; };
    assertions.push_back({"trials best", name(runs.twin->best_trial), name(runs.run.best_trial),
                          runs.run.best_trial == runs.twin->best_trial});
  }
  return assertions;
}

}  // namespace

ExpectationPtr ReadTrials(const Cursor& cursor) {
  ExpectedTrials wanted;
  if (!cursor.MustBeMap()) return nullptr;
  cursor.OnlyKeys({"count", "reports", "best_as_twin"});
  for (const auto& [key, member] : cursor.Members()) {
    if (key == "count") wanted.count = ReadCount(member);
    if (key == "best_as_twin") wanted.best_as_twin = member.Flag();
    if (key != "reports") continue;
    wanted.reports.emplace();
    for (const Cursor& step : member.Elements()) wanted.reports->push_back(step.Integer());
  }
  return Expect([wanted](const ComparedRuns& runs) { return CheckTrials(wanted, runs); },
                wanted.best_as_twin);
}

}  // namespace caip::harness
