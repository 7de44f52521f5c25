#pragma once
// The trials of a tuning job: what each is given, what it has reported, and what they come to
// (docs/service/hyperparameter-tuning.md, sections 1, 5 and 7). No I/O, no clock.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/events.h"
#include "engine/ports.h"
#include "run/job.h"
#include "run/run_spec.h"
#include "run/study_step.h"
#include "tuning/optimizer.h"
#include "tuning/stopping.h"

namespace caip::engine {

/// Those of the metric file, where there are any; else those of event files.
std::vector<Report> ReportsThatCount(std::vector<Report> reports);

/// Which of a trial's reports counts in the end: of the metric file the last, of event files that
/// of the latest step. Nothing where there is no report.
std::optional<std::pair<int64_t, double>> FinalMetric(const std::vector<Report>& reports);
/// The best of a trial's reports, and the earliest of equal ones. A report that is not a number
/// counts only if the trial has no other.
std::optional<std::pair<int64_t, double>> BestMetric(const std::vector<Report>& reports,
                                                     tuning::Goal goal);

/// Owned by the run of its job; engine thread only.
class Study {
 public:
  struct Trial {
    run::Trial shown;  // without its final metric, which follows from the reports
    std::vector<Report> reports;
    std::set<ReportName> known;
    bool stopping = false;                        // was asked to stop early
    std::optional<TrialRecord> interrupted = {};  // of an emulator that was killed; not begun again
    bool is_live() const { return !run::IsTerminal(shown.state); }
  };

  /// `earlier` are the trials of the jobs that this one continues: the oldest job's first.
  Study(const run::TuningSpec& spec, uint64_t seed, const std::vector<TrialRecord>& earlier);
  /// The job's own trials, as the store has kept them.
  void Restore(std::vector<TrialRecord> records);

  run::StudyStep Next() const;
  /// One more trial is to begin. It has its number, and its values will be of what is known now and
  /// of the values of the trials before it, however long those take to be chosen.
  void Plan();
  /// The question for the values of the first of the planned trials, once.
  std::optional<ChooseValues> NextChoice();
  /// The first of the planned trials is live from `now` on. False: there are no values left, and
  /// nothing is planned any more.
  bool Begin(const ValuesChosen& chosen, Instant now = {});
  void DropPlans() { planned_.clear(); }
  /// Takes the live trials that have not been begun since the emulator was killed.
  std::vector<TrialRecord> TakeInterrupted();
  /// False: nothing changed.
  bool Move(const std::string& trial, const run::Job& job, bool stopped_early);
  /// Adds the new ones of the reports, and returns them.
  std::vector<Report> TakeIn(const std::string& trial, const std::vector<Report>& reports);
  /// Why the median rule stops the trial; nullopt: the trial continues.
  std::optional<std::string> WhyStop(const std::string& trial) const;
  void Stopped(const std::string& trial) { trials_.at(NumberOf(trial)).stopping = true; }

  const Trial& Of(const std::string& trial) const { return trials_.at(NumberOf(trial)); }
  bool Has(const std::string& trial) const;
  std::vector<std::string> Live() const;
  /// nullptr: none has failed.
  const Trial* LastFailed() const;
  /// At least one trial has come to RUNNING.
  bool AnyRan() const;
  const run::StudyProgress& progress() const { return progress_; }
  size_t known_before() const { return known_before_; }
  /// Trials whose values are settled, the earlier jobs' among them.
  size_t known() const { return optimizer_.trials().size(); }
  const std::string& metric_tag() const { return metric_tag_; }

  run::TrialsSummary Summary() const;

 private:
  struct Planned {
    int64_t number = 0;
    bool asked = false;
    // What ended after its place became free, and before the next one's did.
    std::vector<std::pair<int64_t, tuning::Outcome>> learned = {};
  };
  static int64_t NumberOf(const std::string& trial);
  static void ShowRun(const run::Job& job, run::Trial& shown);
  std::optional<std::pair<int64_t, double>> FinalOf(const std::vector<Report>& reports) const;
  /// The outcome that the optimizer learns from; nullopt if the trial did not end by itself.
  std::optional<tuning::Outcome> OutcomeOf(run::JobState state,
                                           const std::vector<Report>& reports) const;
  void Count(const Trial& trial);
  void Tell(int64_t number, const Trial& trial);

  bool maximize_;
  run::FinalReport final_report_;
  bool stops_early_;
  std::string metric_tag_;
  tuning::Optimizer optimizer_;
  run::StudyProgress progress_;
  int64_t last_number_ = 0;
  size_t known_before_ = 0;
  std::vector<tuning::Curve> curves_before_;   // of the earlier jobs' completed trials
  std::map<int64_t, Trial> trials_;            // of this job
  std::deque<Planned> planned_;                // by number, all above those of trials_
  std::shared_ptr<tuning::Optimizer> asking_;  // what the first of them is to know; one for all
};

}  // namespace caip::engine
