#include "conformance/steps/case_run.h"

#include <chrono>

#include "conformance/format/step.h"
#include "conformance/problems.h"
#include "conformance/steps/command_step.h"
#include "conformance/steps/http_step.h"
#include "conformance/steps/job_step.h"
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

}  // namespace conform
