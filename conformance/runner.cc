#include "conformance/runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <thread>

#include "conformance/format/step.h"
#include "conformance/problems.h"
#include "conformance/wire/pause.h"

namespace conform {
namespace {

using Clock = std::chrono::steady_clock;

// Starts cases that wait for jobs first, so that short ones fill the gaps.
int Weight(const Case& one) {
  for (const Json& step : one.steps) {
    const std::string kind = KindOf(step).value_or("");
    if (kind == "run" || kind == "await") return 0;
  }
  return 1;
}

std::optional<std::string> Missing(const World& world, const Case& one) {
  for (const std::string& need : one.needs) {
    const bool setting = !world.setting(need).empty();
    if (!setting && !world.target.has.contains(need)) return need;
  }
  return std::nullopt;
}

Outcome Judge(const World& world, Clients& clients, const Case& one, int number) {
  if (const auto need = Missing(world, one)) {
    return {Verdict::kSkipped, problems::NeedMissing(*need)};
  }
  Outcome outcome = RunCase(world, clients, one, number);
  const KnownMiss* miss = MissOf(world.target, one.id);
  if (!miss) return outcome;
  if (outcome.verdict == Verdict::kPassed) {
    outcome.verdict = Verdict::kUnexpected;
    outcome.why = problems::PassedAlthoughListed(miss->line, miss->reason);
  } else {
    outcome.verdict = Verdict::kMissed;
    outcome.why = miss->reason + " (" + outcome.why + ")";
  }
  return outcome;
}

// The state that the workers share.
struct Work {
  const World& world;
  Run& run;
  std::vector<size_t> order;
  std::atomic<size_t> next = 0;
  std::atomic<bool> stop = false;
  std::mutex mutex = {};
  size_t done = 0;
};

void WorkOn(Work& work, bool fail_fast, const Progress& progress) {
  Clients clients(work.world);
  for (;;) {
    const size_t turn = work.next++;
    if (turn >= work.order.size() || work.stop || Interrupted()) return;
    const size_t at = work.order[turn];
    const Case& one = work.run.cases[at];
    Outcome outcome = Judge(work.world, clients, one, static_cast<int>(at));
    if (Interrupted() && outcome.verdict == Verdict::kFailed)
      outcome = {};  // interrupted, not judged
    const std::lock_guard lock(work.mutex);
    const bool failed =
        outcome.verdict == Verdict::kFailed || outcome.verdict == Verdict::kUnexpected;
    if (fail_fast && failed) work.stop = true;
    work.run.outcomes[at] = std::move(outcome);
    progress(++work.done, one, work.run.outcomes[at]);
  }
}

}  // namespace

int Run::Count(Verdict verdict) const {
  return static_cast<int>(std::count_if(outcomes.begin(), outcomes.end(), [&](const Outcome& one) {
    return one.verdict == verdict;
  }));
}

Run RunCases(const World& world, std::vector<Case> cases, int jobs, bool fail_fast,
             const Progress& progress) {
  const auto start = Clock::now();
  Run run;
  run.cases = std::move(cases);
  run.outcomes.resize(run.cases.size());
  Work work{world, run, std::vector<size_t>(run.cases.size())};
  std::iota(work.order.begin(), work.order.end(), 0);
  std::stable_sort(work.order.begin(), work.order.end(),
                   [&](size_t a, size_t b) { return Weight(run.cases[a]) < Weight(run.cases[b]); });
  std::vector<std::thread> workers;
  for (int i = 0; i < jobs; ++i) {
    workers.emplace_back([&] { WorkOn(work, fail_fast, progress); });
  }
  for (std::thread& worker : workers) worker.join();
  run.interrupted = Interrupted();
  run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return run;
}

std::vector<Case> Chosen(const std::vector<Case>& cases, const std::vector<std::string>& filters,
                         const std::vector<std::string>& chapters, std::pair<int, int> shard) {
  std::vector<Case> chosen;
  int number = 0;
  for (const Case& one : cases) {
    const auto any = [](const std::vector<std::string>& patterns, const std::string& text) {
      return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                             [&](const auto& p) { return GlobMatches(p, text); });
    };
    if (!any(filters, one.id) || !any(chapters, one.chapter)) continue;
    if (number++ % shard.second == shard.first - 1) chosen.push_back(one);
  }
  return chosen;
}

}  // namespace conform
