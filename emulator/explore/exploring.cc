#include "emulator/explore/exploring.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "emulator/explore/baseline_facts.h"
#include "emulator/explore/causes.h"
#include "emulator/explore/confirmations.h"
#include "emulator/explore/errors.h"
#include "emulator/explore/exploring_files.h"
#include "emulator/explore/exploring_runs.h"
#include "emulator/explore/plan.h"
#include "emulator/explore/task_list.h"
#include "emulator/explore/task_queue.h"
#include "harness/expectations/counts.h"

namespace caip::explore {
namespace {

using harness::CrashPoint;
using harness::Event;
using harness::Evidence;
using harness::Scenario;

constexpr size_t kBaselineRuns = 3;  // the third has a restart before the first step

class Explorer {
 public:
  Explorer(const Scenario& scenario, const ExploreOptions& options)
      : scenario_(WithoutFaults(scenario)), options_(options), begin_(MonotonicNow()) {}

  Result<ExploreReport> Run() {
    RETURN_IF_ERROR(CheckFaults(scenario_, options_));
    RETURN_IF_ERROR(RunBaseline());
    files_.emplace(options_, scenario_);
    runs_.OpenMemory();
    const bool writes_files = KeepsFiles() || !disk_points_.empty();
    RETURN_IF_ERROR(CheckReplicas(ReplicasOf(baseline_->run()), writes_files, options_));
    MakePlan();
    report_.before_restarts = MonotonicNow() - begin_;
    TryAll();
    const Status concluded = Conclude();
    Show({ExploreProgress::Phase::kOver, 0, 0, causes_.size()});
    RETURN_IF_ERROR(concluded);
    return std::move(report_);
  }

 private:
  void Show(const ExploreProgress& progress) const {
    if (options_.progress) options_.progress(progress);
  }

  // A run that the user interrupts shows nothing about the job.
  Status CheckInterrupted() const {
    const bool is_interrupted = options_.interrupted && options_.interrupted();
    return is_interrupted ? Status(errors::Interrupted()) : Ok{};
  }

  Status RunBaseline() {
    const auto before = MonotonicNow();
    Show({ExploreProgress::Phase::kBaseline, 1, kBaselineRuns, 0});
    RemoveTree(options_.workshop / "record");
    recorder_ = std::make_unique<scenario::BucketRecorder>(options_.workshop / "record");
    scenario::RunOptions recorded;
    recorded.recorder = recorder_.get();
    if (KeepsFiles()) {
      RETURN_IF_ERROR(runs_.MakeBlocks());
      file_recorder_ = std::make_unique<scenario::FileRecorder>(runs_.blocks());
      recorded.files = file_recorder_.get();
    }
    recorded.watch_disks = WatchesDisks(options_);
    std::vector<Event> watched;
    ASSIGN_OR_RETURN(Evidence first, runs_.Run(scenario_, recorded, &watched));
    RETURN_IF_ERROR(CheckInterrupted());
    RETURN_IF_ERROR(recorder_->outcome());
    report_.baseline = MonotonicNow() - before;
    if (first.state != "SUCCEEDED") return errors::BaselineFailed(first);
    if (LearnSteps(first)) return RunBaseline();
    Show({ExploreProgress::Phase::kBaseline, 2, kBaselineRuns, 0});
    std::vector<Event> other;
    ASSIGN_OR_RETURN(Evidence second,
                     runs_.Run(scenario_, {.watch_disks = recorded.watch_disks}, &other));
    RETURN_IF_ERROR(CheckInterrupted());
    disk_points_ = DiskPoints(watched, other, options_.points.replicas);
    baseline_ = std::make_unique<harness::Baseline>(std::move(first), std::move(second),
                                                    scenario_.comparison);
    report_.not_compared = NotCompared(*baseline_);
    report_.has_steps = !harness::ReplicasWithSteps(baseline_->run()).empty();
    const bool is_command = !scenario_.working_directory.empty();
    if (is_command && !HasResults(baseline_->run())) return errors::NothingToCompare();
    return LearnCounting();
  }

  // Whether the trainer's lines report steps in a way that was not known yet.
  bool LearnSteps(const Evidence& run) {
    const harness::StepSource& known = scenario_.steps;
    if (!known.format.empty() || !known.regex.empty()) return false;
    report_.step_format = RecognizeSteps(run);
    scenario_.steps.format = report_.step_format;
    return !report_.step_format.empty();
  }

  Status LearnCounting() {
    ExploreTask early;
    const auto point = EarlyPoint(*baseline_);
    if (!point) return Ok{};
    early.point = *point;
    Show({ExploreProgress::Phase::kBaseline, kBaselineRuns, kBaselineRuns, 0});
    if (options_.disks == Disks::kKept) early.what = Interruption::kProcessKilled;
    ASSIGN_OR_RETURN(const Evidence restarted, RunWhole(early));
    RETURN_IF_ERROR(CheckInterrupted());
    baseline_->Learn(restarted);
    for (const std::string& pattern : baseline_->counting_patterns()) {
      report_.counting.push_back("objects like " + pattern);
    }
    return Ok{};
  }

  // Whether the job has one replica.
  bool IsAlone() const { return ReplicasOf(baseline_->run()).size() == 1; }

  bool HasBucketDirectories() const { return scenario_.semantics == harness::Semantics::kPosix; }

  // Whether files, not only objects, outlive machines.
  bool KeepsFiles() const {
    return !scenario_.volumes.empty() || !scenario_.working_directory.empty() ||
           HasBucketDirectories();
  }

  // With one replica only storage outlives its machine, so the recovery alone need run. Changes
  // that are made to a bucket as a directory and as an object, too, are not recorded together.
  bool CanUseRecord() const {
    if (!IsAlone() || options_.full_runs) return false;
    if (file_recorder_ && !file_recorder_->outcome().ok()) return false;
    return !HasBucketDirectories() || recorder_->states().size() <= 1;
  }

  harness::PointSelection Selection() const {
    harness::PointSelection selection = options_.points;
    selection.torn_writes = HasBucketDirectories();
    selection.every_write = CanUseRecord();
    selection.changing = baseline_->changing();
    return selection;
  }

  void MakePlan() {
    RecordedRun baseline;
    baseline.states = recorder_->states();
    baseline.events = baseline_->run().events;
    baseline.points = PointsToTry(baseline_->run(), Selection(), options_.points_are_default);
    baseline.storage_points = harness::FindCrashPoints(baseline_->run(), Selection());
    if (file_recorder_) baseline.files = file_recorder_->log();
    baseline.has_directories = HasBucketDirectories();
    baseline.disk_points = disk_points_;
    baseline.has_remote_storage = scenario_.semantics == harness::Semantics::kObject;
    if (options_.points.kinds.contains("disk")) MixInDiskPoints(baseline);
    if (scenario_.kind->RestartsFailing()) {
      baseline.failure_points = FailurePoints(baseline_->run(), options_.points.replicas);
    }
    report_.points = baseline.points.size();
    plan_.AddSingles(baseline, CanUseRecord());
    report_.ended = plan_.reduced();
  }

  void TryAll() {
    Show({ExploreProgress::Phase::kRestarts, 0, tasks_.size(), 0});
    TryFrom(0);
    if (!deeper_.empty()) {
      const size_t singles = tasks_.size();
      const std::string before = plan_.reduced();
      plan_.AddPairs(deeper_);
      if (plan_.reduced() != before) report_.ended = plan_.reduced();
      TryFrom(singles);
    }
    for (size_t i = 0; i < tasks_.size(); ++i)
      ++(tasks_[i].recorded ? report_.recorded : report_.whole);
  }

  void TryFrom(size_t first) {
    outcomes_.resize(tasks_.size());
    TryInOrder(tasks_.MostDifferentFirst(first), options_.all_points);
  }

  void TryInOrder(const std::vector<size_t>& order, bool tries_all) {
    const auto before = MonotonicNow();
    TaskQueue queue(tasks_, order, tries_all);
    for (const size_t i : order) TakeKnown(i, queue);
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < std::max<int64_t>(1, options_.jobs); ++i) {
      threads.emplace_back([this, &queue] { Work(queue); });
    }
    for (std::thread& thread : threads) thread.join();
    std::ranges::move(queue.LeftOut(), std::back_inserter(left_out_));
    report_.took += MonotonicNow() - before;
  }

  void TakeKnown(size_t index, TaskQueue& queue) {
    if (plan_.Deepens(index)) return;  // its recovery is needed again
    const auto known = files_->Known(Describe(tasks_[index]));
    if (!known) return;
    ++known_;
    queue.Settle(index, &*known);
    Take(index, *known);
  }

  void Work(TaskQueue& queue) {
    while (const auto next = queue.Next()) {
      if (Over()) return queue.Stop();
      const auto before = MonotonicNow();
      auto tried = TryOne(*next);
      spent_ += (MonotonicNow() - before).count();
      if (options_.interrupted && options_.interrupted() && Over()) return queue.Stop();
      queue.Settle(*next, tried.ok() ? &*tried : nullptr);
      if (tried.ok()) {
        files_->Note(Describe(tasks_[*next]), *tried);
        Take(*next, *std::move(tried));
      } else {
        Break(tried.error());
      }
    }
  }

  void Take(size_t index, ExploreOutcome outcome) {
    const std::lock_guard lock(mutex_);
    if (!outcome.flaws.empty()) causes_.insert(outcome.flaws.front().cause);
    outcomes_[index] = std::move(outcome);
    ++report_.tried;
    if (tasks_[index].what == Interruption::kProgramFails) ++report_.failures;
    Show({ExploreProgress::Phase::kRestarts, report_.tried, tasks_.size(), causes_.size()});
  }

  void Break(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!report_.broke) report_.broke = error;
  }

  bool Over() {
    const std::string why = WhyOver(TimeToConfirm());
    if (why.empty()) return false;
    const std::lock_guard lock(mutex_);
    report_.ended = why;
    return true;
  }

  // The confirmations at the end get a small part of the budget.
  Duration TimeToConfirm() {
    const std::lock_guard lock(mutex_);
    if (!options_.budget) return Duration(0);
    return std::min<Duration>(*options_.budget / 4, causes_.size() * report_.baseline * 2);
  }

  // The reason to end now, with `left` kept for confirmations; "" none.
  std::string WhyOver(Duration left) {
    if (options_.interrupted && options_.interrupted()) return "interrupted";
    if (runs_.lack_port()) return "another program has port 2222";
    const std::lock_guard lock(mutex_);
    if (report_.broke && report_.broke->code == Code::kResourceExhausted) return "the disk is full";
    const bool spent = options_.budget && MonotonicNow() - begin_ + left > *options_.budget;
    return spent ? kBudgetSpent : "";
  }

  Result<ExploreOutcome> TryOne(size_t index) {
    const ExploreTask& task = tasks_[index];
    const bool deepens = plan_.Deepens(index);
    const Path record = options_.workshop / ("record-" + std::to_string(index));
    RemoveTree(record);  // the scenario before may have left it
    Records records(record, deepens && task.recorded, runs_.blocks());
    std::vector<Event> all;  // with changes of disks
    auto whole = task.recorded ? Recover(task, records) : RunWhole(task, deepens ? &all : nullptr);
    if (!whole.ok()) return whole.error();
    if (deepens) {
      ASSIGN_OR_RETURN(RecordedRun next, records.Take());
      next.has_directories = HasBucketDirectories();
      // The buckets are among the files. Their objects at the restart would make each state differ.
      if (task.recorded && next.has_directories) next.states = {task.begin};
      next.begin = BeginOfRecovery(task, *whole);
      next.events = whole->events;
      next.begun = BegunBefore(task);
      if (!task.recorded && IsAlone()) next.disk_changes = DiskChangesIn(all);
      next.points = PointsOfRecovery(task, *whole, Selection());
      const std::lock_guard lock(mutex_);
      deeper_[index] = std::move(next);
    }
    return OutcomeOf(*baseline_, task, *whole, options_.drift_is_sure);
  }

  Result<Evidence> Recover(const ExploreTask& task, Records& records) {
    scenario::RunOptions run_options;
    run_options.begin = &task.begin;
    records.AddTo(run_options, task);
    if (task.files) {
      ASSIGN_OR_RETURN(harness::FileTree files, FilesOf(task, *runs_.blocks()));
      run_options.begin_files = std::make_shared<const harness::FileTree>(std::move(files));
    }
    ASSIGN_OR_RETURN(Evidence recovery, runs_.Run(scenario_, run_options));
    return JoinRecovery(task, std::move(recovery));
  }

  Result<Evidence> RunWhole(const ExploreTask& task, std::vector<Event>* all_events = nullptr) {
    const scenario::RunOptions run_options{.watch_disks = all_events != nullptr};
    ASSIGN_OR_RETURN(Evidence run,
                     runs_.Run(WithRestart(scenario_, task), run_options, all_events));
    if (WasMissed(run) && CheckInterrupted().ok()) ++missed_;
    return run;
  }

  Status Conclude() {
    Confirmations confirmations(*baseline_, [this](const ExploreTask& task) {
      return runs_.Run(WithRestart(scenario_, task), {.once_more = true});
    });
    TryRefuted(confirmations);
    std::vector<Cause> causes = ConfirmedCauses(confirmations);
    for (const LeftOutKind& kind : left_out_) report_.left_out[kind.cause] += kind.tasks.size();
    report_.known = known_;
    report_.missed = missed_;
    report_.recoveries = Duration(spent_.load());
    OrderByWorth(causes);
    AddLeftOut(left_out_, causes);
    files_->RemoveFindings();
    for (Cause& cause : causes) {
      ExploreFinding& finding = cause.finding;
      ASSIGN_OR_RETURN(finding.scenario, files_->WriteScenario(finding, *baseline_));
      report_.findings.push_back(std::move(finding));
    }
    return Ok{};
  }

  // Tries what was left out for a reason that does not appear again.
  void TryRefuted(Confirmations& confirmations) {
    std::vector<size_t> again;
    size_t done = 0;
    const size_t kinds = left_out_.size();
    const auto why_over = [this] { return WhyOver(TimeToConfirm()); };  // the causes need theirs
    std::erase_if(left_out_, [&](const LeftOutKind& kind) {
      Show({ExploreProgress::Phase::kConfirmations, ++done, kinds, causes_.size()});
      const bool is_refuted = confirmations.IsRefuted(kind, tasks_, outcomes_, why_over);
      if (is_refuted) again.insert(again.end(), kind.tasks.begin(), kind.tasks.end());
      return is_refuted;
    });
    if (!again.empty()) TryInOrder(again, true);
  }

  std::vector<Cause> ConfirmedCauses(Confirmations& confirmations) {
    auto outcomes = outcomes_;  // comparisons add flaws to them
    const std::vector<TriedRestart> more = CompareTogether(*baseline_, tasks_, outcomes);
    std::vector<Cause> causes = FindCauses(tasks_, outcomes, more);
    for (size_t i = 0; i < causes.size(); ++i) {
      Show({ExploreProgress::Phase::kConfirmations, i + 1, causes.size(), causes.size()});
      confirmations.Confirm(causes[i], [this] { return WhyOver(Duration(0)); });
    }
    return causes;
  }

  Scenario scenario_;
  const ExploreOptions& options_;
  MonotonicTime begin_;
  std::unique_ptr<scenario::BucketRecorder> recorder_;  // of the baseline run
  std::unique_ptr<harness::Baseline> baseline_;
  std::unique_ptr<scenario::FileRecorder> file_recorder_;  // null: all storage is in buckets
  std::vector<CrashPoint> disk_points_;  // changes of replicas' disks in the baseline run
  std::optional<ExplorationFiles> files_;
  ExploreRuns runs_{options_};
  Plan plan_{options_};
  const TaskList& tasks_ = plan_.tasks();
  std::vector<std::optional<ExploreOutcome>> outcomes_;
  std::vector<LeftOutKind> left_out_;
  std::map<size_t, RecordedRun> deeper_;  // recoveries, for a second restart in them
  std::atomic<size_t> known_{0};
  std::atomic<size_t> missed_{0};
  std::atomic<int64_t> spent_{0};
  std::mutex mutex_;
  std::set<std::string> causes_;
  ExploreReport report_;
};

}  // namespace

Result<ExploreReport> Explore(const Scenario& scenario, const ExploreOptions& options) {
  ExploreOptions named = options;
  if (scenario.kind->NamesReplicasByPools()) {
    named.points.replicas.clear();
    for (const std::string& replica : options.points.replicas) {
      named.points.replicas.insert(harness::NameInPools(replica));
    }
  }
  return Explorer(scenario, named).Run();
}

}  // namespace caip::explore
