// What became of a tuning job's trials: trials.

#include <optional>

#include "base/text.h"
#include "harness/expectations/counts.h"

namespace caip::harness {
namespace {

struct Wanted {
  std::optional<Count> count;
  std::optional<std::vector<int64_t>> reports;
  bool best_as_twin = false;
};

std::string Texts(const std::vector<int64_t>& steps) {
  std::vector<std::string> texts;
  for (int64_t step : steps) texts.push_back(std::to_string(step));
  return texts.empty() ? "none" : Join(texts, ", ");
}

std::vector<Assertion> Judge(const Wanted& wanted, const Case& judged) {
  std::vector<Assertion> assertions;
  const auto& trials = judged.run.trials;
  if (wanted.count) {
    const auto found = static_cast<int64_t>(trials.size());
    assertions.push_back(
        {"trials", Text(*wanted.count), std::to_string(found), wanted.count->Holds(found)});
  }
  if (wanted.reports) {
    for (const auto& [id, trial] : trials) {
      assertions.push_back({"trials reports of " + id, Texts(*wanted.reports), Texts(trial.steps),
                            trial.steps == *wanted.reports});
    }
    if (trials.empty()) {
      assertions.push_back({"trials reports", Texts(*wanted.reports), "no trial", false});
    }
  }
  if (wanted.best_as_twin && judged.twin) {
    const auto name = [](const std::string& best) { return best.empty() ? "none" : best; };
    assertions.push_back({"trials best", name(judged.twin->best_trial), name(judged.run.best_trial),
                          judged.run.best_trial == judged.twin->best_trial});
  }
  return assertions;
}

}  // namespace

ExpectationPtr ReadTrials(const Cursor& cursor) {
  Wanted wanted;
  if (!cursor.MustBeMap()) return nullptr;
  cursor.OnlyKeys({"count", "reports", "best_as_twin"});
  for (const auto& [key, member] : cursor.Members()) {
    if (key == "count") wanted.count = ReadCount(member);
    if (key == "best_as_twin") wanted.best_as_twin = member.Flag();
    if (key != "reports") continue;
    wanted.reports.emplace();
    for (const Cursor& step : member.Elements()) wanted.reports->push_back(step.Integer());
  }
  return Expect([wanted](const Case& judged) { return Judge(wanted, judged); },
                wanted.best_as_twin);
}

}  // namespace caip::harness
