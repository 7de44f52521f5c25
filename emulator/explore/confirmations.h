#pragma once
// Repeats restarts alone. Concurrent runs may disturb each other, and a recovery from recorded
// buckets leaves out the run before it. So what an exploration reports is confirmed by runs alone.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/explore/causes.h"
#include "emulator/explore/task_list.h"
#include "emulator/explore/task_queue.h"
#include "harness/explorer/baseline.h"

namespace caip::explore {

class Confirmations {
 public:
  /// Runs the job with the restart of a task, and nothing else at the same time.
  using RunAlone = std::function<Result<harness::Evidence>(const ExploreTask& task)>;
  /// Why no time is left for a further run; "": there is some.
  using WhyOver = std::function<std::string()>;

  /// `baseline` must outlive the object.
  Confirmations(const harness::Baseline& baseline, RunAlone run)
      : baseline_(baseline), run_(std::move(run)) {}

  /// Whether none of the kind's restarts, run alone, ends by the limit. Then others of the kind
  /// must be tried. A run of another kind confirms nothing. False if a run could not be made.
  bool IsRefuted(const LeftOutKind& kind, const TaskList& tasks,
                 const std::vector<std::optional<ExploreOutcome>>& outcomes,
                 const WhyOver& why_over);

  /// Confirms a sure finding by a run alone that has its flaw, or doubts it.
  void Confirm(Cause& cause, const WhyOver& why_over);

 private:
  /// A restart that showed its flaw alone.
  struct Repeated {
    TriedRestart restart;
    std::string once_more;  // how the job ended when it was sent again
  };
  /// The result of repetitions.
  struct Repetition {
    std::optional<Repeated> shown = {};
    std::string obstacle = {};  // why a run could not be made; "": there were enough
  };
  Repetition Repeat(const std::vector<TriedRestart>& shown_by, const harness::Flaw& flaw,
                    const WhyOver& why_over) const;

  const harness::Baseline& baseline_;
  RunAlone run_;
  std::map<std::string, Repeated> shown_;  // by cause, of the kinds that are left out
};

}  // namespace caip::explore
