#pragma once
// Events and event lists for tests, without a run.

#include <string>
#include <utility>
#include <vector>

#include "harness/events/event_list.h"

namespace caip::harness {

inline Event State(const std::string& state) { return {.body = StateEvent{state}}; }
inline Event Start(const std::string& replica, int boot) {
  return {.replica = replica, .boot = boot, .body = StartEvent{}};
}
inline Event Live(const std::string& replica, int boot) {
  return {.replica = replica, .boot = boot, .body = LiveEvent{}};
}
inline Event Exit(const std::string& replica, int boot, int code = 0, int signal = 0) {
  return {.replica = replica, .boot = boot, .body = ExitEvent{code, signal}};
}
inline Event Line(const std::string& replica, int boot, const std::string& text,
                  const std::string& severity = "INFO") {
  return {.replica = replica, .boot = boot, .body = LogEvent{text, severity}};
}
inline Event Step(const std::string& replica, int boot, int64_t step, Json record = {}) {
  if (record.is_null()) record = {{"step", step}};
  return {.replica = replica, .boot = boot, .body = StepEvent{step, std::move(record)}};
}
inline Event Storage(const std::string& replica, int boot, const std::string& op,
                     const std::string& object) {
  return {.replica = replica, .boot = boot, .body = StorageEvent{op, object}};
}
inline Event Injected(const std::string& replica, int boot, const std::string& name) {
  return {.replica = replica,
          .boot = boot,
          .body = FaultEvent{name, "kill before create */ckpt-20/state.json"}};
}

/// The body of an event of that kind, to be changed.
template <typename Kind>
Kind& BodyOf(Event& event) {
  return std::get<Kind>(event.body);
}

/// Numbered from 1, a millisecond apart.
inline std::vector<Event> Numbered(std::vector<Event> events) {
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].number = static_cast<int64_t>(i) + 1;
    events[i].time = Instant{} + std::chrono::milliseconds(i);
  }
  return events;
}

/// A run of one replica that loses its machine once, and starts again at step `resumes`.
inline std::vector<Event> LostOnce(int64_t resumes) {
  std::vector<Event> run = {State("QUEUED"), State("PREPARING"), Start("master-0", 1),
                            Live("master-0", 1), State("RUNNING")};
  const auto write = [&run](int boot, const std::string& checkpoint) {
    for (const char* part : {"weights", "optim", "state.json"}) {
      run.push_back(Storage("master-0", boot, "create", "job/out/" + checkpoint + "/" + part));
    }
  };
  for (int64_t step = 1; step <= 10; ++step) run.push_back(Step("master-0", 1, step));
  write(1, "ckpt-10");
  for (int64_t step = 11; step <= 20; ++step) run.push_back(Step("master-0", 1, step));
  run.push_back(Storage("master-0", 1, "create", "job/out/ckpt-20/weights"));
  run.push_back(Injected("master-0", 1, "kill 1"));
  run.push_back(Exit("master-0", 1, 0, 9));
  run.push_back(Line("service", 0, "The machine of master 0 is lost.", "WARNING"));
  run.push_back(Start("master-0", 2));
  run.push_back(Live("master-0", 2));
  run.push_back(Storage("master-0", 2, "list", "job/out/ckpt-"));
  for (int64_t step = resumes; step <= 30; ++step) run.push_back(Step("master-0", 2, step));
  write(2, "ckpt-30");
  run.push_back(Exit("master-0", 2));
  run.push_back(State("SUCCEEDED"));
  return Numbered(std::move(run));
}

}  // namespace caip::harness
