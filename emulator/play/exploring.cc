#include "emulator/play/exploring.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include "base/text.h"
#include "emulator/play/exploring_files.h"
#include "emulator/play/exploring_tasks.h"
#include "emulator/play/stage.h"

namespace caip::play {
namespace {

using harness::CrashPoint;
using harness::Evidence;
using harness::Flaw;
using harness::Happening;
using harness::Scenario;
using Steady = std::chrono::steady_clock;

constexpr size_t kPointsOfSilent = 12;

template <typename T>
std::vector<T> Thinned(const std::vector<T>& all, size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> some;
  for (size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

class Explorer {
 public:
  Explorer(const Scenario& scenario, const ExploreOptions& options)
      : scenario_(InPeace(scenario)), options_(options), begin_(Steady::now()) {}

  Result<ExploreReport> Run() {
    RETURN_IF_ERROR(FindPeace());
    files_.emplace(options_.out, scenario_, options_.resume);
    MakeTasks();
    const auto before = Steady::now();
    TryAll();
    report_.took = Steady::now() - before;
    JudgeTogether();
    RETURN_IF_ERROR(WriteFindings());
    return std::move(report_);
  }

 private:
  Result<Evidence> Play(const Scenario& scenario, StageOptions stage) {
    stage.state = options_.workshop / ("explore-" + std::to_string(++runs_));
    stage.caches = options_.workshop / "caches";
    stage.seed = scenario.seed;
    stage.interrupted = options_.interrupted;
    RETURN_IF_ERROR(MakeDirectories(stage.state));
    const Path state = stage.state;
    auto evidence = Stage(scenario, std::move(stage)).Run();
    RemoveTree(state);
    return evidence;
  }

  Status FindPeace() {
    const auto before = Steady::now();
    recorder_ = std::make_unique<Recorder>(options_.workshop / "record");
    StageOptions recorded;
    recorded.recorder = recorder_.get();
    ASSIGN_OR_RETURN(Evidence first, Play(scenario_, std::move(recorded)));
    report_.peace = Steady::now() - before;
    if (first.state != "SUCCEEDED") {
      return Error{Code::kFailedPrecondition, "the job does not succeed in peace: " + first.state +
                                                  " " + first.broke_off + first.error_message};
    }
    ASSIGN_OR_RETURN(Evidence second, Play(scenario_, {}));
    peace_ = std::make_unique<harness::Peace>(std::move(first), std::move(second));
    for (const std::string& name : peace_->unstable_objects()) {
      report_.not_compared.push_back("object " + name);
    }
    for (const std::string& name : peace_->unstable_fields()) {
      report_.not_compared.push_back("field " + name);
    }
    if (!peace_->steps_are_stable()) report_.not_compared.push_back("which steps are done");
    return LearnCounting();
  }

  // Behind the last thing that any replica does before the first step.
  std::optional<CrashPoint> EarlyPoint() const {
    const std::vector<Happening>& events = peace_->run().happenings;
    size_t first_step = 0;
    while (first_step < events.size() && events[first_step].kind != Happening::Kind::kStep) {
      ++first_step;
    }
    if (first_step == events.size()) return std::nullopt;
    std::optional<CrashPoint> early;
    for (const CrashPoint& point : harness::PointsOf(peace_->run(), {{"storage"}, {}, false})) {
      const bool change = point.op != "list" && point.op != "read";
      if (!point.before && change && point.events <= first_step) early = point;
    }
    return early;
  }

  Status LearnCounting() {
    const auto early = EarlyPoint();
    if (!early) return Ok{};
    ASSIGN_OR_RETURN(const Evidence restarted, RunFully(*early));
    peace_->Learn(restarted);
    for (const std::string& pattern : peace_->counting_patterns()) {
      report_.not_compared.push_back("objects like " + pattern + " (they count restarts)");
    }
    return Ok{};
  }

  // One replica, and nothing but buckets outlives its machine: only the way back need be run.
  bool CanUseRecord() const {
    std::set<std::string> replicas;
    for (const Happening& h : peace_->run().happenings) {
      if (h.kind == Happening::Kind::kStart) replicas.insert(h.replica);
    }
    return replicas.size() == 1 && !options_.full_runs && !options_.crash &&
           scenario_.semantics == harness::Semantics::kObject;
  }

  // A replica that stores nothing is restarted behind some of its steps, or else of its lines.
  std::vector<CrashPoint> Moments() const {
    harness::PointSelection selection = options_.points;
    selection.torn_writes = scenario_.semantics == harness::Semantics::kPosix;
    std::vector<CrashPoint> points = harness::PointsOf(peace_->run(), selection);
    std::erase_if(points, [](const CrashPoint& point) { return point.op == "list"; });
    if (!options_.points_are_default) return points;
    std::set<std::string> silent;
    for (const Happening& h : peace_->run().happenings) {
      const bool wanted =
          options_.points.replicas.empty() || options_.points.replicas.contains(h.replica);
      if (h.kind == Happening::Kind::kStart && wanted) silent.insert(h.replica);
    }
    for (const CrashPoint& point : points) silent.erase(point.replica);
    for (const std::string& replica : silent) {
      std::vector<CrashPoint> more =
          harness::PointsOf(peace_->run(), {{"steps"}, {replica}, false});
      if (more.empty()) more = harness::PointsOf(peace_->run(), {{"logs"}, {replica}, false});
      for (CrashPoint& point : Thinned(more, kPointsOfSilent)) points.push_back(std::move(point));
    }
    return points;
  }

  void MakeTasks() {
    std::vector<CrashPoint> points = Moments();
    report_.moments = points.size();
    report_.recorded = CanUseRecord();
    if (report_.recorded) {
      AddRecorded(points, recorder_->states(), peace_->run().happenings, std::nullopt);
    } else {
      AddFull(points);
    }
    std::vector<ExploreTask> thinned = Thinned(tasks_, static_cast<size_t>(options_.points_max));
    if (thinned.size() < tasks_.size()) {
      report_.ended = "thinned out to " + std::to_string(thinned.size()) + " of " +
                      std::to_string(tasks_.size()) + " points (--max-points)";
    }
    tasks_ = std::move(thinned);
    report_.points = tasks_.size();
  }

  // Each state of the buckets once, by the last moment that leads to it: it shows what was written.
  void AddRecorded(const std::vector<CrashPoint>& points, const std::vector<BucketState>& states,
                   const std::vector<Happening>& events, const std::optional<CrashPoint>& first) {
    for (const CrashPoint& point : points) {
      if (point.changes >= states.size()) continue;
      const BucketState& state = states[point.changes];
      std::string key = KeyOf(state);
      // The same bytes behind fewer steps are another story to be told of the first restart only.
      if (!seen_.insert(std::move(key)).second) continue;
      ExploreTask task;
      task.point = first.value_or(point);
      if (first) task.second = point;
      task.begin = state;
      task.prefix.assign(events.begin(), events.begin() + static_cast<ptrdiff_t>(point.events));
      tasks_.push_back(std::move(task));
    }
  }

  // A moment just before an operation is the one behind the operation before, unless the replica
  // did something in between.
  void AddFull(const std::vector<CrashPoint>& points) {
    std::map<std::string, size_t> last;
    for (const CrashPoint& point : points) {
      const auto found = last.find(point.replica);
      bool between = found == last.end();
      const size_t from = between ? 0 : found->second;
      for (size_t i = from; i < point.events && !between; ++i) {
        between = peace_->run().happenings[i].replica == point.replica;
      }
      if (point.before && !between && point.mid_bytes == 0) continue;
      if (!point.before) last[point.replica] = point.events;
      ExploreTask task;
      task.point = point;
      tasks_.push_back(std::move(task));
    }
  }

  void TryAll() {
    if (options_.progress) options_.progress(0, tasks_.size(), 0);
    outcomes_.resize(tasks_.size());
    TryRange(0);
    if (!options_.pairs || !report_.recorded) return;
    const size_t singles = tasks_.size();
    for (auto& [index, deeper] : deeper_) {
      AddRecorded(deeper.points, deeper.states, deeper.events, tasks_[index].point);
    }
    report_.points = tasks_.size();
    outcomes_.resize(tasks_.size());
    TryRange(singles);
  }

  void TryRange(size_t first) {
    next_ = first;
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < std::max<int64_t>(1, options_.jobs); ++i) {
      threads.emplace_back([this] { Work(); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void Work() {
    for (size_t i = next_++; i < tasks_.size(); i = next_++) {
      if (Over()) return;
      const std::string name = NameOf(tasks_[i]);
      std::optional<ExploreOutcome> outcome;
      if (auto known = files_->Known(name)) {
        outcome = ExploreOutcome{known->flaws, known->first_step};
        ++known_;
      } else {
        const auto before = Steady::now();
        auto tried = TryOne(i);
        spent_ += (Steady::now() - before).count();
        if (!tried.ok() || (options_.interrupted && options_.interrupted())) continue;
        outcome = *std::move(tried);
        files_->Note(name, {outcome->flaws, outcome->first_step});
      }
      const std::lock_guard lock(mutex_);
      for (const Flaw& flaw : outcome->flaws) causes_.insert(flaw.cause);
      outcomes_[i] = std::move(outcome);
      ++report_.tried;
      if (options_.progress) options_.progress(report_.tried, tasks_.size(), causes_.size());
    }
  }

  static std::string NameOf(const ExploreTask& task) {
    return Describe(task.point) + (task.second ? ", then " + Describe(*task.second) : "");
  }

  bool Over() {
    const bool interrupted = options_.interrupted && options_.interrupted();
    const bool spent = options_.budget && Steady::now() - begin_ > *options_.budget;
    if (!interrupted && !spent) return false;
    const std::lock_guard lock(mutex_);
    report_.ended = interrupted ? "interrupted" : "the budget is spent";
    return true;
  }

  Result<ExploreOutcome> TryOne(size_t index) {
    const ExploreTask& task = tasks_[index];
    Evidence run;
    if (report_.recorded) {
      ASSIGN_OR_RETURN(run, Recover(index));
    } else {
      ASSIGN_OR_RETURN(run, RunFully(task.point));
    }
    ExploreOutcome outcome;
    outcome.flaws = JudgeRecovery(*peace_, task.second.value_or(task.point), run);
    outcome.first_step = FirstStep(run, task.point.events, task.point.replica);
    return outcome;
  }

  Result<Evidence> Recover(size_t index) {
    const ExploreTask& task = tasks_[index];
    StageOptions stage;
    stage.begin = &task.begin;
    const bool deeper = options_.pairs && !task.second;
    std::optional<Recorder> recorder;
    if (deeper) {
      recorder.emplace(options_.workshop / ("record-" + std::to_string(index)));
      stage.recorder = &*recorder;
    }
    ASSIGN_OR_RETURN(Evidence recovery, Play(scenario_, std::move(stage)));
    Evidence whole = Joined(task, recovery);
    if (deeper) {
      Deeper next;
      next.states = recorder->states();
      next.events = whole.happenings;
      next.points = harness::PointsOf(recovery, options_.points);
      const size_t offset = whole.happenings.size() - CountOfReplicas(recovery);
      for (CrashPoint& point : next.points) {
        point.events =
            std::min(whole.happenings.size(), offset + CountOfReplicas(recovery, point.events));
      }
      const std::lock_guard lock(mutex_);
      deeper_[index] = std::move(next);
    }
    return whole;
  }

  Result<Evidence> RunFully(const CrashPoint& point) {
    Scenario scenario = scenario_;
    harness::Fault fault;
    fault.name = "restart";
    fault.kind = options_.crash ? "crash" : "kill";
    fault.replica = point.replica;
    fault.when = TriggerOf(point);
    scenario.faults = {fault};
    return Play(scenario, {});
  }

  // What only shows when recoveries are held against each other.
  void JudgeTogether() {
    std::vector<harness::Resumption> resumptions;
    std::vector<size_t> indices;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (!outcomes_[i] || tasks_[i].second) continue;
      resumptions.push_back({tasks_[i].point, outcomes_[i]->first_step});
      indices.push_back(i);
    }
    for (auto& [index, flaw] : harness::LostProgress(*peace_, resumptions)) {
      auto& flaws = outcomes_[indices[index]]->flaws;
      flaws.insert(flaws.begin(), std::move(flaw));
    }
    report_.known = known_;
    report_.recoveries = Duration(spent_.load());
  }

  Status WriteFindings() {
    std::map<std::string, ExploreFinding> by_cause;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (!outcomes_[i]) continue;
      const std::vector<Flaw>& flaws = outcomes_[i]->flaws;
      if (flaws.empty()) continue;
      // The first flaw of a recovery is its cause; the others follow from it, most likely.
      ExploreFinding& finding = by_cause[flaws.front().cause];
      for (size_t other = 1; other < flaws.size(); ++other) {
        finding.also.insert(flaws[other].cause);
      }
      if (finding.points++ > 0) continue;
      finding.flaw = flaws.front();
      finding.point = tasks_[i].point;
      finding.second = tasks_[i].second;
    }
    for (auto& [cause, finding] : by_cause) report_.findings.push_back(std::move(finding));
    std::stable_sort(report_.findings.begin(), report_.findings.end(),
                     [](const ExploreFinding& a, const ExploreFinding& b) {
                       return a.point.events < b.point.events;
                     });
    int number = 0;
    for (ExploreFinding& finding : report_.findings) {
      ASSIGN_OR_RETURN(finding.scenario,
                       files_->WriteScenario(++number, finding, *peace_, options_.crash));
    }
    return Ok{};
  }

  /// Recoveries that were recorded themselves, for a second restart.
  struct Deeper {
    std::vector<BucketState> states;
    std::vector<Happening> events;
    std::vector<CrashPoint> points;
  };

  Scenario scenario_;
  const ExploreOptions& options_;
  Steady::time_point begin_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<harness::Peace> peace_;
  std::optional<ExplorationFiles> files_;
  std::vector<ExploreTask> tasks_;
  std::vector<std::optional<ExploreOutcome>> outcomes_;
  std::set<std::string> seen_;
  std::map<size_t, Deeper> deeper_;
  std::atomic<size_t> next_{0};
  std::atomic<int> runs_{0};
  std::atomic<size_t> known_{0};
  std::atomic<int64_t> spent_{0};
  std::mutex mutex_;
  std::set<std::string> causes_;
  ExploreReport report_;
};

}  // namespace

Result<ExploreReport> Explore(const Scenario& scenario, const ExploreOptions& options) {
  return Explorer(scenario, options).Run();
}

}  // namespace caip::play
