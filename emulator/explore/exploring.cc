#include "emulator/explore/exploring.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "emulator/explore/baseline_facts.h"
#include "emulator/explore/causes.h"
#include "emulator/explore/errors.h"
#include "emulator/explore/exploring_files.h"
#include "emulator/explore/exploring_tasks.h"
#include "emulator/explore/plan.h"
#include "emulator/explore/resumption.h"
#include "emulator/scenario/run_isolation.h"
#include "emulator/scenario/scenario_run.h"
#include "host/machine/memory_directory.h"

namespace caip::explore {
namespace {

using harness::CrashPoint;
using harness::Event;
using harness::Evidence;
using harness::Flaw;
using harness::Scenario;

constexpr size_t kConfirmations = 3;
constexpr char kNotConfirmed[] =
    "it did not appear again when the same restart ran alone: the runs may share a file of this "
    "host, or the flaw depends on timing";

class Explorer {
 public:
  Explorer(const Scenario& scenario, const ExploreOptions& options)
      : scenario_(WithoutFaults(scenario)), options_(options), begin_(MonotonicNow()) {}

  Result<ExploreReport> Run() {
    RETURN_IF_ERROR(CheckFaults(scenario_, options_));
    RETURN_IF_ERROR(RunBaseline());
    files_.emplace(options_, scenario_);
    OpenMemory();
    RETURN_IF_ERROR(CheckReplicas());
    MakePlan();
    const auto before = MonotonicNow();
    report_.before_restarts = before - begin_;
    TryAll();
    report_.took = MonotonicNow() - before;
    RETURN_IF_ERROR(Conclude());
    return std::move(report_);
  }

 private:
  // Replicas must be the same in all runs: machines, or processes.
  void OpenMemory() {
    memory_ = host::MemoryDirectory::Open(
        options_.workshop, written_ * static_cast<uint64_t>(std::max<int64_t>(1, options_.jobs)));
    const app::EmulatorOptions& asked = options_.settings.options;
    const auto isolation_in = [&](const Path& place) {
      return scenario::IsolationOf(asked, place);
    };
    if (memory_ && isolation_in(memory_->path()) != isolation_in(options_.workshop))
      memory_.reset();
  }

  // Runs in memory. A run that does not fit there is repeated on the disk, as are all later ones.
  Result<Evidence> RunOnce(const Scenario& scenario, const scenario::RunOptions& run_options) {
    if (!memory_ || memory_is_full_) return RunIn(options_.workshop, scenario, run_options);
    auto evidence = RunIn(memory_->path(), scenario, run_options);
    if (evidence.ok() || evidence.error().code != Code::kResourceExhausted) return evidence;
    memory_is_full_ = true;
    return RunIn(options_.workshop, scenario, run_options);
  }

  Result<Evidence> RunIn(const Path& place, const Scenario& scenario,
                         scenario::RunOptions run_options) {
    const bool in_memory = memory_ && place == memory_->path();
    if (in_memory) run_options.overfull = [this] { return memory_->IsOverfull(); };
    run_options.state = place / ("explore-" + std::to_string(++runs_));
    run_options.caches = options_.workshop / "caches";
    run_options.volumes = options_.volumes;
    run_options.seed = scenario.seed;
    run_options.interrupted = options_.interrupted;
    run_options.read_words = options_.read_words;
    run_options.settings = options_.settings;
    RETURN_IF_ERROR(MakeDirectories(run_options.state));
    const Path state = run_options.state;
    const bool is_baseline = run_options.watch_disks;
    auto evidence = scenario::ScenarioRun(scenario, std::move(run_options)).Run();
    if (evidence.ok()) {
      auto points = TakeDiskPoints(*evidence, options_.points.replicas);
      if (is_baseline) disk_points_ = std::move(points);
    }
    if (!memory_) written_ = std::max(written_.load(), host::BytesBelow(state));
    RemoveTree(state);
    return evidence;
  }

  Status RunBaseline() {
    const auto before = MonotonicNow();
    RemoveTree(options_.workshop / "record");
    recorder_ = std::make_unique<scenario::Recorder>(options_.workshop / "record");
    scenario::RunOptions recorded;
    recorded.recorder = recorder_.get();
    recorded.watch_disks = options_.disks != Disks::kNew || options_.kept_sample ||
                           options_.points.kinds.contains("disk");
    ASSIGN_OR_RETURN(Evidence first, RunOnce(scenario_, recorded));
    RETURN_IF_ERROR(recorder_->outcome());
    report_.baseline = MonotonicNow() - before;
    if (first.state != "SUCCEEDED") {
      return errors::BaselineFailed(first);
    }
    if (LearnSteps(first)) return RunBaseline();
    ASSIGN_OR_RETURN(Evidence second, RunOnce(scenario_, {}));
    baseline_ = std::make_unique<harness::Baseline>(std::move(first), std::move(second),
                                                    scenario_.comparison);
    for (const std::string& name : baseline_->unstable_objects()) {
      report_.not_compared.push_back("object " + name);
    }
    for (const std::string& name : baseline_->unstable_fields()) {
      report_.not_compared.push_back("field " + name);
    }
    const bool is_command = !scenario_.working_directory.empty();
    if (is_command && !HasResults(baseline_->run())) return errors::NothingToCompare();
    if (!baseline_->steps_are_stable()) report_.not_compared.push_back("the numbers of the steps");
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
    const auto point = EarlyPoint(baseline_->run());
    if (!point) return Ok{};
    early.point = *point;
    if (options_.disks == Disks::kKept) early.what = Interruption::kProcessKilled;
    ASSIGN_OR_RETURN(const Evidence restarted, RunWhole(early));
    baseline_->Learn(restarted);
    for (const std::string& pattern : baseline_->counting_patterns()) {
      report_.counting.push_back("objects like " + pattern);
    }
    return Ok{};
  }

  Status CheckReplicas() const {
    const std::set<std::string> all = ReplicasOf(baseline_->run());
    for (const std::string& wanted : options_.points.replicas) {
      if (all.contains(wanted)) continue;
      return errors::NoSuchReplica(wanted, std::vector<std::string>(all.begin(), all.end()));
    }
    return Ok{};
  }

  // With one replica only the buckets outlive its machine, so the recovery alone need run.
  bool CanUseRecord() const {
    return ReplicasOf(baseline_->run()).size() == 1 && !options_.full_runs &&
           scenario_.volumes.empty() && scenario_.working_directory.empty() &&
           scenario_.semantics == harness::Semantics::kObject;
  }

  harness::PointSelection Selection() const {
    harness::PointSelection selection = options_.points;
    selection.torn_writes = scenario_.semantics == harness::Semantics::kPosix;
    return selection;
  }

  void MakePlan() {
    RecordedRun baseline;
    baseline.states = recorder_->states();
    baseline.events = baseline_->run().events;
    baseline.points = PointsToTry(baseline_->run(), Selection(), options_.points_are_default);
    baseline.disk_points = disk_points_;
    baseline.has_remote_storage = scenario_.semantics == harness::Semantics::kObject;
    if (options_.points.kinds.contains("disk")) {
      baseline.points.insert(baseline.points.end(), disk_points_.begin(), disk_points_.end());
      std::ranges::stable_sort(baseline.points, {}, &CrashPoint::events);
    }
    report_.points = baseline.points.size();
    plan_.AddSingles(baseline, CanUseRecord());
    report_.ended = plan_.reduced();
  }

  void TryAll() {
    if (options_.progress) options_.progress(0, tasks_.size(), 0);
    TryFrom(0);
    if (!deeper_.empty()) {
      const size_t singles = tasks_.size();
      const std::string before = plan_.reduced();
      plan_.AddPairs(deeper_);
      if (plan_.reduced() != before) report_.ended = plan_.reduced();
      TryFrom(singles);
    }
    for (size_t i = 0; i < tasks_.size(); ++i) {
      ++(tasks_[i].recorded ? report_.recorded : report_.whole);
    }
  }

  void TryFrom(size_t first) {
    outcomes_.resize(tasks_.size());
    next_ = first;
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < std::max<int64_t>(1, options_.jobs); ++i) {
      threads.emplace_back([this] { Work(); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void Work() {
    for (size_t i = next_++; i < tasks_.size(); i = next_++) {
      const std::string name = Describe(tasks_[i]);
      const bool deepens = plan_.Deepens(i);  // its recovery is needed again
      const auto known = deepens ? std::nullopt : files_->Known(name);
      if (known) {
        ++known_;
        Take(i, *known);
        continue;
      }
      if (Over()) return;
      const auto before = MonotonicNow();
      auto tried = TryOne(i);
      spent_ += (MonotonicNow() - before).count();
      if (options_.interrupted && options_.interrupted()) continue;
      if (tried.ok()) {
        files_->Note(name, *tried);
        Take(i, *std::move(tried));
      } else {
        Break(tried.error());
      }
    }
  }

  void Take(size_t index, ExploreOutcome outcome) {
    const std::lock_guard lock(mutex_);
    for (const Flaw& flaw : outcome.flaws) causes_.insert(flaw.cause);
    outcomes_[index] = std::move(outcome);
    ++report_.tried;
    if (options_.progress) options_.progress(report_.tried, tasks_.size(), causes_.size());
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
    const std::lock_guard lock(mutex_);
    if (report_.broke && report_.broke->code == Code::kResourceExhausted) return "the disk is full";
    const bool spent = options_.budget && MonotonicNow() - begin_ + left > *options_.budget;
    return spent ? kBudgetSpent : "";
  }

  Result<ExploreOutcome> TryOne(size_t index) {
    const ExploreTask& task = tasks_[index];
    const bool deepens = plan_.Deepens(index);
    std::optional<scenario::Recorder> recorder;
    if (deepens && task.recorded) {
      recorder.emplace(options_.workshop / ("record-" + std::to_string(index)));
    }
    auto whole = task.recorded ? Recover(task, recorder ? &*recorder : nullptr) : RunWhole(task);
    if (!whole.ok()) return whole.error();
    if (recorder) RETURN_IF_ERROR(recorder->outcome());
    if (deepens) {
      RecordedRun next;
      if (recorder) next.states = recorder->states();
      next.events = whole->events;
      next.points = PointsOfRecovery(task, *whole, Selection());
      const std::lock_guard lock(mutex_);
      deeper_[index] = std::move(next);
    }
    ExploreOutcome outcome;
    const CrashPoint& last = task.second.value_or(task.point);
    outcome.flaws = FlawsOf(*baseline_, task, *whole);
    if (auto lost = FindLossOfPair(*baseline_, task, *whole)) {
      outcome.flaws.insert(outcome.flaws.begin(), *std::move(lost));
    }
    if (options_.drift_is_sure) TakeDriftAsSure(outcome.flaws);
    outcome.first_step = FirstStep(*whole, last.events, last.replica);
    outcome.resumed = DescribeResumption(*whole, last);
    return outcome;
  }

  Result<Evidence> Recover(const ExploreTask& task, scenario::Recorder* recorder) {
    scenario::RunOptions run_options;
    run_options.begin = &task.begin;
    run_options.recorder = recorder;
    ASSIGN_OR_RETURN(Evidence recovery, RunOnce(scenario_, run_options));
    return JoinRecovery(task, std::move(recovery));
  }

  Result<Evidence> RunWhole(const ExploreTask& task) {
    ASSIGN_OR_RETURN(Evidence run, RunOnce(WithRestart(scenario_, task), {}));
    if (WasMissed(run)) ++missed_;
    return run;
  }

  Status Conclude() {
    const std::vector<TriedRestart> more = CompareTogether(*baseline_, tasks_, outcomes_);
    report_.known = known_;
    report_.missed = missed_;
    report_.recoveries = Duration(spent_.load());
    std::vector<Cause> causes = FindCauses(tasks_, outcomes_, more);
    for (Cause& cause : causes) Confirm(cause);
    OrderByWorth(causes);
    files_->RemoveFindings();
    for (Cause& cause : causes) {
      ExploreFinding& finding = cause.finding;
      ASSIGN_OR_RETURN(finding.scenario, files_->WriteScenario(finding, *baseline_));
      report_.findings.push_back(std::move(finding));
    }
    return Ok{};
  }

  // Concurrent runs may disturb each other, and a recovery from recorded buckets leaves out the run
  // before it. So each sure finding is confirmed by a whole run of its own.
  void Confirm(Cause& cause) {
    ExploreFinding& finding = cause.finding;
    if (!finding.flaw.doubt.empty()) return;
    for (size_t i = 0; i < std::min(kConfirmations, cause.shown_by.size()); ++i) {
      const TriedRestart& shown = cause.shown_by[i];
      if (!shown.outcome.flaws.front().doubt.empty()) break;
      const std::string ended = WhyOver(Duration(0));
      if (!ended.empty()) {
        finding.remark = "not confirmed by a run of its own: " + ended;
        return;
      }
      const auto again = RunOnce(WithRestart(scenario_, shown.task), {.once_more = true});
      if (!again.ok()) {
        finding.remark = "not confirmed by a run of its own: " + again.error().message;
        return;
      }
      if (WasMissed(*again) || !ShowsAgain(*baseline_, shown, finding.flaw, *again)) continue;
      finding.flaw = shown.outcome.flaws.front();
      finding.point = shown.task.point;
      finding.second = shown.task.second;
      finding.what = shown.task.what;
      finding.resumed = shown.outcome.resumed;
      finding.once_more = again->once_more;
      return;
    }
    finding.flaw.doubt = kNotConfirmed;
  }

  Scenario scenario_;
  const ExploreOptions& options_;
  MonotonicTime begin_;
  std::unique_ptr<scenario::Recorder> recorder_;
  std::unique_ptr<harness::Baseline> baseline_;
  std::vector<CrashPoint> disk_points_;  // of the baseline run
  std::optional<ExplorationFiles> files_;
  std::unique_ptr<host::MemoryDirectory> memory_;  // for the runs after the baseline
  std::atomic<uint64_t> written_{0};               // bytes of a baseline run
  std::atomic<bool> memory_is_full_{false};
  Plan plan_{options_};
  const TaskList& tasks_ = plan_.tasks();
  std::vector<std::optional<ExploreOutcome>> outcomes_;
  std::map<size_t, RecordedRun> deeper_;  // recoveries, for a second restart in them
  std::atomic<size_t> next_{0};
  std::atomic<int> runs_{0};
  std::atomic<size_t> known_{0};
  std::atomic<size_t> missed_{0};
  std::atomic<int64_t> spent_{0};
  std::mutex mutex_;
  std::set<std::string> causes_;
  ExploreReport report_;
};

}  // namespace

Result<ExploreReport> Explore(const Scenario& scenario, const ExploreOptions& options) {
  return Explorer(scenario, options).Run();
}

}  // namespace caip::explore
