#include "engine/study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/run_note.h"

namespace caip::engine {

using run::JobState;

namespace {

struct Kept {
  int64_t number = 0;
  RunNote note;
};

// An unreadable row is ignored, but its trial number stays in use.
std::optional<Kept> KeptIn(const TrialRecord& record, int64_t& last_number) {
  const int64_t number = std::stoll(record.job.key.trial);
  last_number = std::max(last_number, number);
  auto note = ParseRunNote(record.note);
  if (!note.ok()) return std::nullopt;
  return Kept{number, *std::move(note)};
}

// The rule goes by steps (docs/service/hyperparameter-tuning.md, section 6).
tuning::Curve CurveOf(const std::vector<Report>& reports) {
  tuning::Curve curve;
  for (const Report& report : ReportsThatCount(reports))
    curve.push_back({.step = report.step, .value = report.value});
  return curve;
}

}  // namespace

std::vector<Report> ReportsThatCount(std::vector<Report> reports) {
  const auto is_summary = [](const Report& report) { return report.summary; };
  if (!std::all_of(reports.begin(), reports.end(), is_summary)) std::erase_if(reports, is_summary);
  return reports;
}

std::optional<std::pair<int64_t, double>> FinalMetric(const std::vector<Report>& reports) {
  std::optional<Report> final;
  for (const Report& report : ReportsThatCount(reports)) {
    const bool is_later =
        !final || !report.summary ||
        std::pair(report.step, report.time) >= std::pair(final->step, final->time);
    if (is_later) final = report;
  }
  if (!final) return std::nullopt;
  return std::pair(final->step, final->value);
}

std::optional<std::pair<int64_t, double>> BestMetric(const std::vector<Report>& reports,
                                                     tuning::Goal goal) {
  std::optional<Report> best;
  for (const Report& report : ReportsThatCount(reports)) {
    const bool is_better =
        !best || std::isnan(best->value) ||
        (goal == tuning::Goal::kMaximize ? report.value > best->value : report.value < best->value);
    if (is_better) best = report;
  }
  if (!best) return std::nullopt;
  return std::pair(best->step, best->value);
}

Study::Study(const run::TuningSpec& spec, uint64_t seed, const std::vector<TrialRecord>& earlier)
    : maximize_(spec.study.goals.front() == tuning::Goal::kMaximize),
      final_report_(spec.final_report),
      stops_early_(spec.stops_early),
      metric_tag_(spec.metric_tag),
      optimizer_(spec.study, seed),
      progress_{.max_trials = spec.max_trials,
                .max_parallel = spec.max_parallel,
                .max_failed = spec.max_failed,
                .rule = spec.failure_rule} {
  for (const TrialRecord& record : earlier) {
    const auto kept = KeptIn(record, last_number_);
    if (!kept) continue;
    auto outcome = OutcomeOf(record.job.state, record.reports);
    auto point = optimizer_.study().space.Read(kept->note.values);
    if (!outcome || !point.ok()) continue;
    optimizer_.Add(kept->number, *std::move(point));
    optimizer_.Tell(kept->number, *std::move(outcome));
    ++known_before_;
    if (record.job.state == JobState::kSucceeded) curves_before_.push_back(CurveOf(record.reports));
  }
}

void Study::Restore(std::vector<TrialRecord> records) {
  for (TrialRecord& record : records) {
    auto kept = KeptIn(record, last_number_);
    if (!kept) continue;
    auto point = optimizer_.study().space.Read(kept->note.values);
    if (point.ok()) optimizer_.Add(kept->number, *std::move(point));
    Trial& trial = trials_[kept->number];
    trial.shown.id = record.job.key.trial;
    trial.shown.values = std::move(kept->note.values);
    ShowRun(record.job, trial.shown);
    trial.reports = std::move(record.reports);
    for (const Report& report : trial.reports) trial.known.insert(NameOf(report));
    trial.stopping = kept->note.stopped_early;
    ++progress_.begun;
    if (trial.is_live()) {
      ++progress_.live;
      record.reports.clear();
      trial.interrupted = std::move(record);
    } else {
      Count(trial);
      Tell(kept->number, trial);
    }
  }
}

// Planned trials count as begun.
run::StudyStep Study::Next() const {
  run::StudyProgress progress = progress_;
  progress.begun += static_cast<int64_t>(planned_.size());
  progress.live += static_cast<int64_t>(planned_.size());
  return run::NextStep(progress);
}

void Study::Plan() {
  if (planned_.empty()) asking_ = std::make_shared<tuning::Optimizer>(optimizer_);
  planned_.push_back({++last_number_});
}

std::optional<ChooseValues> Study::NextChoice() {
  if (planned_.empty() || std::exchange(planned_.front().asked, true)) return std::nullopt;
  return ChooseValues{std::to_string(planned_.front().number), asking_};
}

bool Study::Begin(const ValuesChosen& chosen, Instant now) {
  const int64_t number = NumberOf(chosen.trial);
  if (!chosen.values) {
    progress_.exhausted = true;
    last_number_ = number - 1;
    planned_.clear();
    return false;
  }
  optimizer_.Add(number, *chosen.values);
  asking_->Add(number, *chosen.values);
  for (auto& [ended, outcome] : planned_.front().learned) asking_->Tell(ended, std::move(outcome));
  planned_.pop_front();
  Trial& trial = trials_[number];
  trial.shown.id = chosen.trial;
  trial.shown.values = tuning::Space::Texts(*chosen.values);
  trial.shown.state = JobState::kQueued;
  trial.shown.create_time = now;
  ++progress_.begun;
  ++progress_.live;
  return true;
}

std::vector<TrialRecord> Study::TakeInterrupted() {
  std::vector<TrialRecord> records;
  for (auto& [number, trial] : trials_) {
    if (auto record = std::exchange(trial.interrupted, std::nullopt)) {
      records.push_back(*std::move(record));
    }
  }
  return records;
}

bool Study::Move(const std::string& name, const run::Job& job, bool stopped_early) {
  Trial& trial = trials_.at(NumberOf(name));
  if (!trial.is_live() || trial.shown.state == job.state) return false;
  ShowRun(job, trial.shown);
  if (!trial.is_live()) {
    trial.stopping = stopped_early;  // it may have ended by itself before it was asked to
    --progress_.live;
    Count(trial);
    Tell(NumberOf(name), trial);
  }
  return true;
}

std::vector<Report> Study::TakeIn(const std::string& name, const std::vector<Report>& reports) {
  std::vector<Report> fresh;
  if (!Has(name)) return fresh;
  Trial& trial = trials_.at(NumberOf(name));
  if (!trial.is_live()) return fresh;
  for (const Report& report : reports) {
    if (trial.known.insert(NameOf(report)).second) fresh.push_back(report);
  }
  trial.reports.insert(trial.reports.end(), fresh.begin(), fresh.end());
  return fresh;
}

std::optional<std::string> Study::WhyStop(const std::string& name) const {
  const Trial& trial = Of(name);
  if (!stops_early_ || trial.stopping || trial.shown.state != JobState::kRunning) {
    return std::nullopt;
  }
  std::vector<tuning::Curve> completed = curves_before_;
  for (const auto& [number, other] : trials_) {
    if (other.shown.state == JobState::kSucceeded) completed.push_back(CurveOf(other.reports));
  }
  const tuning::Goal goal = maximize_ ? tuning::Goal::kMaximize : tuning::Goal::kMinimize;
  tuning::StopAdvice advice =
      tuning::AdviseByMedian(goal, tuning::Progress::kSteps, CurveOf(trial.reports), completed);
  if (!advice.stop) return std::nullopt;
  return std::move(advice.why);
}

bool Study::Has(const std::string& trial) const { return trials_.contains(NumberOf(trial)); }

std::vector<std::string> Study::Live() const {
  std::vector<std::string> live;
  for (const auto& [number, trial] : trials_) {
    if (trial.is_live()) live.push_back(trial.shown.id);
  }
  return live;
}

const Study::Trial* Study::LastFailed() const {
  const Trial* last = nullptr;
  for (const auto& [number, trial] : trials_) {
    const bool failed = trial.shown.state == JobState::kFailed;
    if (failed && (!last || trial.shown.end_time >= last->shown.end_time)) last = &trial;
  }
  return last;
}

bool Study::AnyRan() const {
  return std::any_of(trials_.begin(), trials_.end(),
                     [](const auto& entry) { return entry.second.shown.start_time.has_value(); });
}

run::TrialsSummary Study::Summary() const {
  run::TrialsSummary summary{.metric_tag = metric_tag_, .completed = progress_.succeeded};
  for (const auto& [number, trial] : trials_) {
    run::Trial& shown = summary.trials.emplace_back(trial.shown);
    const bool succeeded = trial.shown.state == JobState::kSucceeded;
    if (succeeded) shown.final_metric = FinalOf(trial.reports);
    shown.stopped_early = succeeded && trial.stopping;
  }
  // Trials without a metric come last; before them those whose metric is not a number.
  const auto rank = [this](const run::Trial& trial) {
    if (!trial.final_metric) return std::pair(2, 0.0);
    const double value = trial.final_metric->second;
    if (std::isnan(value)) return std::pair(1, 0.0);
    return std::pair(0, maximize_ ? -value : value);
  };
  std::stable_sort(summary.trials.begin(), summary.trials.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return summary;
}

// The study made every number itself or read it from a stored row.
int64_t Study::NumberOf(const std::string& trial) { return std::stoll(trial); }

// A trial that has just begun has its own time of creation.
void Study::ShowRun(const run::Job& job, run::Trial& shown) {
  shown.state = job.state;
  if (job.create_time) shown.create_time = job.create_time;
  shown.start_time = job.start_time;
  shown.end_time = job.end_time;
  shown.error_message = job.error_message;
  shown.end_cause = job.end_cause;
}

std::optional<std::pair<int64_t, double>> Study::FinalOf(const std::vector<Report>& reports) const {
  if (final_report_ == run::FinalReport::kLast) return FinalMetric(reports);
  return BestMetric(reports, maximize_ ? tuning::Goal::kMaximize : tuning::Goal::kMinimize);
}

std::optional<tuning::Outcome> Study::OutcomeOf(JobState state,
                                                const std::vector<Report>& reports) const {
  if (state == JobState::kFailed) return tuning::Outcome{.infeasible = true};
  if (state != JobState::kSucceeded) return std::nullopt;
  tuning::Outcome outcome;
  if (const auto metric = FinalOf(reports)) outcome.objectives.push_back(metric->second);
  return outcome;
}

void Study::Count(const Trial& trial) {
  progress_.succeeded += trial.shown.state == JobState::kSucceeded;
  progress_.failed += trial.shown.state == JobState::kFailed;
}

void Study::Tell(int64_t number, const Trial& trial) {
  auto outcome = OutcomeOf(trial.shown.state, trial.reports);
  if (!outcome) return;
  if (!planned_.empty()) planned_.back().learned.emplace_back(number, *outcome);
  optimizer_.Tell(number, *std::move(outcome));
}

}  // namespace caip::engine
