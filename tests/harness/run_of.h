#pragma once
// Happenings and event lists for tests, without a run.

#include <string>
#include <utility>
#include <vector>

#include "harness/events/event_list.h"

namespace caip::harness {

inline Happening State(const std::string& state) {
  return {.kind = Happening::Kind::kState, .text = state};
}
inline Happening Start(const std::string& replica, int boot) {
  return {.kind = Happening::Kind::kStart, .replica = replica, .boot = boot};
}
inline Happening Live(const std::string& replica, int boot) {
  return {.kind = Happening::Kind::kLive, .replica = replica, .boot = boot};
}
inline Happening Exit(const std::string& replica, int boot, int code = 0, int signal = 0) {
  return {.kind = Happening::Kind::kExit,
          .replica = replica,
          .boot = boot,
          .exit_code = code,
          .signal = signal};
}
inline Happening Line(const std::string& replica, int boot, const std::string& text,
                      const std::string& severity = "INFO") {
  return {.kind = Happening::Kind::kLog,
          .replica = replica,
          .boot = boot,
          .text = text,
          .detail = severity};
}
inline Happening Step(const std::string& replica, int boot, int64_t step, Json record = {}) {
  if (record.is_null()) record = {{"step", step}};
  return {.kind = Happening::Kind::kStep,
          .replica = replica,
          .boot = boot,
          .step = step,
          .record = std::move(record)};
}
inline Happening Storage(const std::string& replica, int boot, const std::string& op,
                         const std::string& object) {
  return {.kind = Happening::Kind::kStorage,
          .replica = replica,
          .boot = boot,
          .op = op,
          .object = object};
}
inline Happening Struck(const std::string& replica, int boot, const std::string& name) {
  return {.kind = Happening::Kind::kFault,
          .replica = replica,
          .boot = boot,
          .text = name,
          .detail = "kill before create */ckpt-20/state.json"};
}

/// Numbered from 1, a millisecond apart.
inline std::vector<Happening> Numbered(std::vector<Happening> happenings) {
  for (size_t i = 0; i < happenings.size(); ++i) {
    happenings[i].number = static_cast<int64_t>(i) + 1;
    happenings[i].time = Instant{} + std::chrono::milliseconds(i);
  }
  return happenings;
}

/// A run of one replica that loses its machine once, and starts again at step `resumes`.
inline std::vector<Happening> LostOnce(int64_t resumes) {
  std::vector<Happening> run = {State("QUEUED"), State("PREPARING"), Start("master-0", 1),
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
  run.push_back(Struck("master-0", 1, "kill 1"));
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
