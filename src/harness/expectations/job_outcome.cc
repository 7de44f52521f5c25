// Expectations of the job: state, error_matches, restarts, attempts, states, at, trials.

#include <re2/re2.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "base/text.h"
#include "base/time_text.h"
#include "harness/expectations/counts.h"
#include "harness/expectations/expectation_texts.h"
#include "harness/faults/trigger.h"
#include "harness/faults/trigger_reader.h"
#include "harness/scenario/scenario_texts.h"

namespace caip::harness {
namespace {

std::string FinalStateText(const Evidence& run) {
  if (run.broke_off.empty()) return run.state;
  return run.state + " (ended by caip: " + run.broke_off + ")";
}

// The first line, without the service's hint. The report of a run has the whole message.
std::string FirstWords(const std::string& message) {
  const size_t end = std::min(message.find('\n'), message.find(kLogHint));
  return std::string(Trim(message.substr(0, end)));
}

int64_t CountBoots(const Evidence& run, const std::string& replica) {
  return std::count_if(run.events.begin(), run.events.end(), [&](const Event& event) {
    return event.Is<StartEvent>() && (replica.empty() || event.replica == replica);
  });
}

// The first boot of a replica is not a restart.
int64_t CountRestarts(const Evidence& run, const std::string& replica) {
  if (!replica.empty()) return std::max<int64_t>(0, CountBoots(run, replica) - 1);
  std::set<std::string> replicas;
  for (const Event& event : run.events) {
    if (event.Is<StartEvent>()) replicas.insert(event.replica);
  }
  return CountBoots(run, "") - static_cast<int64_t>(replicas.size());
}

}  // namespace

ExpectationPtr ReadState(const Cursor& cursor) {
  const std::string state = StateNamed(cursor.Text());
  const std::set<std::string> ends = {"SUCCEEDED", "FAILED", "CANCELLED"};
  if (!ends.contains(state)) cursor.Wrong(texts::NotOneOf({"SUCCEEDED", "FAILED", "CANCELLED"}));
  return ExpectState(state);
}

ExpectationPtr ExpectState(const std::string& state) {
  return Expect([state](const ComparedRuns& runs) -> std::vector<Assertion> {
    const bool passed = runs.run.state == state && runs.run.broke_off.empty();
    std::string found = FinalStateText(runs.run);
    const std::string why = FirstWords(runs.run.error_message);
    if (!passed && !why.empty()) found += ": " + why;
    return {{"state", state, found, passed}};
  });
}

ExpectationPtr ReadErrorMatches(const Cursor& cursor) {
  const std::string pattern = cursor.Text();
  if (const auto problem = RegexProblem(pattern)) cursor.Wrong(texts::RegexNotValid(*problem));
  return Expect([pattern](const ComparedRuns& runs) -> std::vector<Assertion> {
    const bool passed = re2::RE2::PartialMatch(runs.run.error_message, pattern);
    return {{"error_matches", "/" + pattern + "/", runs.run.error_message, passed}};
  });
}

ExpectationPtr ReadRestarts(const Cursor& cursor) {
  std::map<std::string, Count> wanted;
  if (!cursor.MustBeMap()) return nullptr;
  for (const auto& [key, member] : cursor.Members()) {
    wanted[key == "total" ? "" : ReplicaOfKey(key, member)] = ReadCount(member);
  }
  return Expect([wanted](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const auto& [replica, count] : wanted) {
      const int64_t found = CountRestarts(runs.run, replica);
      assertions.push_back({replica.empty() ? "restarts" : "restarts of " + replica, Text(count),
                            std::to_string(found), count.Holds(found)});
    }
    return assertions;
  });
}

ExpectationPtr ReadAttempts(const Cursor& cursor) {
  const Count count = ReadCount(cursor);
  return Expect([count](const ComparedRuns& runs) -> std::vector<Assertion> {
    int64_t attempts = 0;  // each attempt enters PREPARING once
    for (const Event& event : runs.run.events) {
      const auto* entered = event.As<StateEvent>();
      if (entered && entered->state == "PREPARING") ++attempts;
    }
    return {{"attempts", Text(count), std::to_string(attempts), count.Holds(attempts)}};
  });
}

namespace {

struct Period {
  Duration least{0};
  std::optional<Duration> most;  // unset: no upper limit
};

// Reads 10m..11m or 2h..
Period ReadPeriod(const Cursor& cursor) {
  const std::string text = cursor.Text();
  const size_t dots = text.find("..");
  const auto least = ParseDuration(std::string_view(text).substr(0, dots));
  const std::string end = dots == text.npos ? "" : text.substr(dots + 2);
  const auto most = end.empty() ? std::nullopt : ParseDuration(end);
  const bool good = dots != text.npos && least && (end.empty() || (most && *least <= *most));
  if (!good) cursor.Wrong(texts::PeriodNotValid());
  return good ? Period{*least, most} : Period{};
}

std::string Text(const Period& period) {
  if (!period.most) return "not before " + HumanDuration(period.least);
  return HumanDuration(period.least) + " to " + HumanDuration(*period.most);
}

struct EnteredState {
  std::string state;
  Instant time;
};

std::vector<EnteredState> FindEnteredStates(const Evidence& run) {
  std::vector<EnteredState> states;
  for (const Event& event : run.events) {
    if (const auto* entered = event.As<StateEvent>())
      states.push_back({entered->state, event.time});
  }
  return states;
}

}  // namespace

ExpectationPtr ReadStates(const Cursor& cursor) {
  std::vector<std::string> wanted;
  for (const Cursor& element : cursor.Elements()) wanted.push_back(StateNamed(element.Text()));
  return Expect([wanted](const ComparedRuns& runs) -> std::vector<Assertion> {
    std::vector<std::string> found;
    for (const EnteredState& one : FindEnteredStates(runs.run)) found.push_back(one.state);
    return {{"states", Join(wanted, ", "), Join(found, ", "), found == wanted}};
  });
}

ExpectationPtr ReadAt(const Cursor& cursor) {
  std::map<std::string, Period> wanted;
  if (!cursor.MustBeMap()) return nullptr;
  for (const auto& [word, member] : cursor.Members()) {
    wanted[StateNamed(word)] = ReadPeriod(member);
  }
  return Expect([wanted](const ComparedRuns& runs) {
    const std::vector<EnteredState> states = FindEnteredStates(runs.run);
    std::vector<Assertion> assertions;
    for (const auto& [state, period] : wanted) {
      const auto entered = std::ranges::find(states, state, &EnteredState::state);
      Assertion assertion{"at " + state, Text(period), "never", false};
      if (entered != states.end()) {
        const Duration time =
            std::chrono::round<std::chrono::seconds>(entered->time - states.front().time);
        assertion.found = HumanDuration(time);
        assertion.passed = period.least <= time && (!period.most || time <= *period.most);
      }
      assertions.push_back(std::move(assertion));
    }
    return assertions;
  });
}

namespace {

struct ExpectedTrials {
  std::optional<Count> count;
  std::optional<std::vector<int64_t>> reports;
  bool best_as_twin = false;
};

std::string StepList(const std::vector<int64_t>& steps) {
  std::vector<std::string> texts;
  for (int64_t step : steps) texts.push_back(std::to_string(step));
  return texts.empty() ? "none" : Join(texts, ", ");
}

std::vector<Assertion> CheckTrials(const ExpectedTrials& wanted, const ComparedRuns& runs) {
  std::vector<Assertion> assertions;
  const auto& trials = runs.run.trials;
  if (wanted.count) {
    const auto found = static_cast<int64_t>(trials.size());
    assertions.push_back(
        {"trials", Text(*wanted.count), std::to_string(found), wanted.count->Holds(found)});
  }
  if (wanted.reports) {
    for (const auto& [id, trial] : trials) {
      assertions.push_back({"trials reports of " + id, StepList(*wanted.reports),
                            StepList(trial.steps), trial.steps == *wanted.reports});
    }
    if (trials.empty()) {
      assertions.push_back({"trials reports", StepList(*wanted.reports), "no trial", false});
    }
  }
  if (wanted.best_as_twin && runs.twin) {
    const auto name = [](const std::string& best) { return best.empty() ? "none" : best; };
    assertions.push_back({"trials best", name(runs.twin->best_trial), name(runs.run.best_trial),
                          runs.run.best_trial == runs.twin->best_trial});
  }
  return assertions;
}

}  // namespace

ExpectationPtr ReadTrials(const Cursor& cursor) {
  ExpectedTrials wanted;
  if (!cursor.MustBeMap()) return nullptr;
  cursor.OnlyKeys({"count", "reports", "best_as_twin"});
  for (const auto& [key, member] : cursor.Members()) {
    if (key == "count") wanted.count = ReadCount(member);
    if (key == "best_as_twin") wanted.best_as_twin = member.Flag();
    if (key != "reports") continue;
    wanted.reports.emplace();
    for (const Cursor& step : member.Elements()) wanted.reports->push_back(step.Integer());
  }
  return Expect([wanted](const ComparedRuns& runs) { return CheckTrials(wanted, runs); },
                wanted.best_as_twin);
}

}  // namespace caip::harness
