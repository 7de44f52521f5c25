#include "emulator/check/checking.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "emulator/check/checked_restarts.h"
#include "emulator/check/dressing.h"
#include "emulator/check/package_look.h"
#include "emulator/check/trace_taker.h"
#include "emulator/scenario/abilities.h"
#include "emulator/scenario/stage.h"

namespace caip::check {
namespace {

using harness::CheckRun;
using harness::CheckRunKind;
using harness::CheckSession;
using harness::RunPlan;
using Steady = std::chrono::steady_clock;

/// Makes runs on several threads, each as soon as those that it is after were made.
class Maker {
 public:
  Maker(const std::vector<const CheckRunKind*>& kinds, const CheckingOptions& options,
        CheckSession& session)
      : kinds_(kinds), options_(options), session_(session) {}

  Status Run() {
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < std::max<int64_t>(1, options_.jobs); ++i) {
      threads.emplace_back([this] { Work(); });
    }
    for (std::thread& thread : threads) thread.join();
    return outcome_;
  }

 private:
  bool Interrupted() const { return options_.interrupted && options_.interrupted(); }

  void Work() {
    std::unique_lock lock(mutex_);
    while (outcome_.ok() && !Interrupted() && begun_.size() < kinds_.size()) {
      const CheckRunKind* kind = Next();
      if (!kind) {
        changed_.wait(lock);
        continue;
      }
      begun_.insert(kind->name);
      const RunPlan plan = kind->plan(session_);
      lock.unlock();
      const auto begin = Steady::now();
      auto run = Make(*kind, plan);
      lock.lock();
      if (!run.ok() && outcome_.ok()) outcome_ = run.error();
      if (run.ok() && !Interrupted()) {
        run->took = Steady::now() - begin;
        if (options_.made) options_.made(*kind, *run);
        session_.runs[kind->name] = *std::move(run);
      }
      changed_.notify_all();
    }
    changed_.notify_all();
  }

  const CheckRunKind* Next() const {
    for (const CheckRunKind* kind : kinds_) {
      const bool ready = std::all_of(kind->after.begin(), kind->after.end(), [&](const auto& name) {
        return session_.runs.contains(name);
      });
      if (ready && !begun_.contains(kind->name)) return kind;
    }
    return nullptr;
  }

  Result<CheckRun> Make(const CheckRunKind& kind, const RunPlan& plan) {
    CheckRun run;
    run.skipped = plan.skip;
    if (!run.skipped.empty()) return run;
    if (plan.how == RunPlan::How::kLook) {
      ASSIGN_OR_RETURN(run.look, LookAtPackages(plan.look));
      return run;
    }
    run.skipped = scenario::LackOf(plan.scenario);
    if (!run.skipped.empty()) return run;
    const bool explores = plan.how == RunPlan::How::kExplore;
    RETURN_IF_ERROR(explores ? ExploreRestarts(plan, options_, run) : Play(kind, plan, run));
    return run;
  }

  Status Play(const CheckRunKind& kind, const RunPlan& plan, CheckRun& run) {
    scenario::StageOptions stage;
    stage.state = options_.workshop / ("check-" + kind.name);
    stage.caches = options_.workshop / "caches";
    stage.seed = plan.scenario.seed;
    stage.interrupted = options_.interrupted;
    stage.dress = DresserOf(plan);
    const Path state = stage.state;
    RETURN_IF_ERROR(MakeDirectories(state));
    std::error_code error;
    TraceTaker traces(std::filesystem::canonical(state, error) / "buckets", plan.watches_files);
    stage.onlooker = &traces;
    auto evidence = scenario::Stage(plan.scenario, std::move(stage)).Run();
    RemoveTree(state);
    if (!evidence.ok()) return evidence.error();
    run.evidence = *std::move(evidence);
    traces.HandOver(run);
    return Ok{};
  }

  const std::vector<const CheckRunKind*>& kinds_;
  const CheckingOptions& options_;
  CheckSession& session_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> begun_;
  Status outcome_ = Ok{};
};

}  // namespace

Status MakeRuns(const std::vector<const CheckRunKind*>& kinds, const CheckingOptions& options,
                CheckSession& session) {
  return Maker(kinds, options, session).Run();
}

}  // namespace caip::check
