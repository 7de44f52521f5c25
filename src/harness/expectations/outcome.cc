// How the job ended: state, error_matches, restarts, attempts.

#include <re2/re2.h>

#include <algorithm>

#include "harness/expectations/counts.h"
#include "harness/expectations/state.h"
#include "harness/faults/trigger.h"
#include "harness/faults/trigger_reader.h"

namespace caip::harness {
namespace {

std::string FinalStateText(const Evidence& run) {
  if (run.broke_off.empty()) return run.state;
  return run.state + " (ended by caip: " + run.broke_off + ")";
}

int64_t CountBoots(const Evidence& run, const std::string& replica) {
  return std::count_if(run.events.begin(), run.events.end(), [&](const Event& event) {
    return event.Is<StartEvent>() && (replica.empty() || event.replica == replica);
  });
}

// The first boot of each replica is none.
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
  const std::string state = cursor.Text();
  const std::set<std::string> ends = {"SUCCEEDED", "FAILED", "CANCELLED"};
  if (!ends.contains(state)) cursor.Wrong("must be SUCCEEDED, FAILED or CANCELLED");
  return ExpectState(state);
}

ExpectationPtr ExpectState(const std::string& state) {
  return Expect([state](const ComparedRuns& runs) -> std::vector<Assertion> {
    const bool passed = runs.run.state == state && runs.run.broke_off.empty();
    std::string found = FinalStateText(runs.run);
    if (!passed && !runs.run.error_message.empty()) found += ": " + runs.run.error_message;
    return {{"state", state, found, passed}};
  });
}

ExpectationPtr ReadErrorMatches(const Cursor& cursor) {
  const std::string pattern = cursor.Text();
  if (const auto problem = RegexProblem(pattern)) cursor.Wrong(*problem);
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
    int64_t attempts = 0;  // PREPARING comes once an attempt
    for (const Event& event : runs.run.events) {
      const auto* entered = event.As<StateEvent>();
      if (entered && entered->state == "PREPARING") ++attempts;
    }
    return {{"attempts", Text(count), std::to_string(attempts), count.Holds(attempts)}};
  });
}

}  // namespace caip::harness
