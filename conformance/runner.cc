
#include "conformance/runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <thread>

#include "conformance/format/step.h"
#include "conformance/problems.h"
#include "conformance/steps/steps.h"
#include "conformance/wire/pause.h"

namespace conform {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Runs a step and returns a function that reads its result. Only results that can change are read
// again.
Result<Look> Begin(Scope& scope, const Json& step, const std::string& kind) {
  if (kind == "await") return Await(scope, step);
  if (kind == "run") return RunJob(scope, step);
  if (kind == "command") {
    Result<Json> seen = RunCommand(scope, step);
    if (!seen.ok()) return seen.problem();
    return Look([value = std::move(seen).value()] { return Result<Json>(value); });
  }
  if (kind == "call") return Look([&scope, step] { return Call(scope, step); });
  Result<Json> seen = Create(scope, step);
  if (!seen.ok()) return seen.problem();
  return Look([value = std::move(seen).value()] { return Result<Json>(value); });
}

milliseconds PatienceOf(const Scope& scope, const Json& step, const std::string& kind) {
  if (step.contains("within")) {
    return milliseconds(static_cast<long>(step["within"].get<double>() * 1000));
  }
  const bool logs = kind == "run" || step.value("logs", false);
  return logs ? scope.world().log_patience : milliseconds(0);
}

std::string Shortened(const Json& seen) {
  Json shown = seen;
  if (shown.contains("body")) shown.erase("text");
  if (shown.contains("logs")) shown.erase("logs");
  std::string text = shown.dump(2, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 4000)
    text = text.substr(0, 4000) + "\n... (" + std::to_string(text.size()) + " characters)";
  return text;
}

std::optional<Outcome> SaveNames(Scope& scope, const Json& step, const Json& seen) {
  const Json saves = step.value("save", Json::object());
  for (const auto& [name, pointer] : saves.items()) {
    const Json::json_pointer at(pointer.get<std::string>());
    if (!seen.contains(at)) {
      Outcome outcome{
          Verdict::kFailed, problems::NothingToSave(name, pointer), {}, Shortened(seen)};
      return outcome;
    }
    scope.Save(name, seen.at(at));
  }
  return std::nullopt;
}

// nullopt: the step met its expectation.
std::optional<Outcome> DoStep(Scope& scope, const Json& written) {
  const std::string kind = *KindOf(written);
  Json doing = written;
  doing.erase("expect");
  const Result<Json> filled = scope.Filled(doing);
  if (!filled.ok()) return Outcome{Verdict::kFailed, filled.problem().text};
  const Json& step = filled.value();
  const Result<Look> look = Begin(scope, step, kind);
  if (!look.ok()) return Outcome{Verdict::kFailed, look.problem().text};
  // After the step: `create` and `run` set ${job}, and their expectations may name it.
  const Result<Json> expectation = scope.Filled(ExpectationOf(written));
  if (!expectation.ok()) return Outcome{Verdict::kFailed, expectation.problem().text};
  const auto deadline = Clock::now() + PatienceOf(scope, step, kind);
  for (milliseconds wait{10};; wait = std::min(wait * 2, milliseconds(200))) {
    const Result<Json> seen = look.value()();
    if (!seen.ok()) return Outcome{Verdict::kFailed, seen.problem().text};
    auto mismatches = Match(expectation.value(), &seen.value());
    if (mismatches.empty()) return SaveNames(scope, step, seen.value());
    if (Clock::now() >= deadline || Interrupted()) {
      return Outcome{Verdict::kFailed, problems::StepNotMet(kind), mismatches,
                     Shortened(seen.value())};
    }
    Pause(wait);
  }
}

Outcome DoSteps(Scope& scope, const Case& one) {
  for (const Json& step : one.given) {
    if (auto failed = DoStep(scope, step)) {
      failed->why = problems::GivenNotMet(failed->why);
      return *failed;
    }
  }
  for (const Json& step : one.steps) {
    if (auto failed = DoStep(scope, step)) return *failed;
  }
  return {Verdict::kPassed};
}

}  // namespace

Outcome RunCase(const World& world, Clients& clients, const Case& one, int number) {
  const auto start = Clock::now();
  Scope scope(world, clients, one, number);
  Outcome outcome;
  try {
    outcome = DoSteps(scope, one);
  } catch (
      const std::exception& broken) {  // from the JSON library, for answers of an unexpected form
    outcome = {Verdict::kFailed, problems::AnswerUnexpected(broken.what())};
  }
  scope.CleanUp();
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outcome;
}

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

Outcome TryCase(const World& world, Clients& clients, const Case& one, int number) {
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
    Outcome outcome = TryCase(work.world, clients, one, static_cast<int>(at));
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

std::vector<Case> OfApis(const std::vector<Case>& cases, const std::set<std::string>& apis) {
  std::vector<Case> chosen;
  for (const Case& one : cases) {
    if (one.api == "any" || apis.contains(one.api)) chosen.push_back(one);
  }
  return chosen;
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
