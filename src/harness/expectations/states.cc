// The states that the job entered, and when: states, at. Times are rounded to the second, because
// an event is recorded a little later than it happens.

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "base/text.h"
#include "base/time_text.h"
#include "harness/expectations/counts.h"

namespace caip::harness {
namespace {

struct Period {
  Duration least{0};
  std::optional<Duration> most;  // none: however late
};

// 10m..11m, 2h..
Period ReadPeriod(const Cursor& cursor) {
  const std::string text = cursor.Text();
  const size_t dots = text.find("..");
  const auto least = ParseDuration(std::string_view(text).substr(0, dots));
  const std::string end = dots == text.npos ? "" : text.substr(dots + 2);
  const auto most = end.empty() ? std::nullopt : ParseDuration(end);
  const bool good = dots != text.npos && least && (end.empty() || (most && *least <= *most));
  if (!good) cursor.Wrong("must be a range of times like 10m..11m or 2h..");
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
  for (const Cursor& element : cursor.Elements()) wanted.push_back(element.Text());
  return Expect([wanted](const ComparedRuns& runs) -> std::vector<Assertion> {
    std::vector<std::string> found;
    for (const EnteredState& one : FindEnteredStates(runs.run)) found.push_back(one.state);
    return {{"states", Join(wanted, ", "), Join(found, ", "), found == wanted}};
  });
}

ExpectationPtr ReadAt(const Cursor& cursor) {
  std::map<std::string, Period> wanted;
  if (!cursor.MustBeMap()) return nullptr;
  for (const auto& [state, member] : cursor.Members()) wanted[state] = ReadPeriod(member);
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

}  // namespace caip::harness
