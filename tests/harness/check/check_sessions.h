#pragma once
// Sessions of `caip check` for its tests, without a run.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "harness/check/check.h"
#include "harness/check/check_run.h"
#include "tests/harness/run_of.h"

namespace caip::harness {

/// A session of one plain run of a master.
class ASession {
 public:
  ASession() {
    session_.trainer.job.document = {{"scaleTier", "BASIC"},
                                     {"region", "us-central1"},
                                     {"runtimeVersion", "2.11"},
                                     {"pythonModule", "trainer.task"}};
    session_.runs["plain"].launched.push_back({"master-0", 1, {}, {}});
  }
  /// Each at its second; the master is up at 0.
  ASession& With(int64_t second, Event event) {
    Evidence& evidence = session_.runs["plain"].evidence;
    event.time = Instant{} + std::chrono::seconds(second);
    event.number = static_cast<int64_t>(evidence.events.size()) + 1;
    evidence.events.push_back(std::move(event));
    return *this;
  }
  ASession& Ends(const std::string& state) {
    session_.runs["plain"].evidence.state = state;
    return *this;
  }
  CheckSession& operator*() { return session_; }
  CheckSession* operator->() { return &session_; }

 private:
  CheckSession session_;
};

/// The master creates an object of its output.
inline Event Saved(const std::string& object) {
  return Storage("master-0", 1, "create", "job/out/" + object);
}

/// The master renames an object of its output.
inline Event Renamed(const std::string& from, const std::string& to, int boot = 1) {
  Event event = Storage("master-0", boot, "rename", "job/out/" + from);
  BodyOf<StorageEvent>(event).from = "job/out/" + to;
  return event;
}

/// The master saves at these seconds, stores its model at the end, and succeeds.
inline ASession Saves(const std::vector<int64_t>& at, int64_t end) {
  ASession session;
  session.With(0, Live("master-0", 1));
  for (const int64_t second : at) {
    session.With(second, Saved("ckpt-" + std::to_string(second)));
  }
  session.With(end, Step("master-0", 1, 100)).With(end, Saved("export/model"));
  session.With(end, Exit("master-0", 1)).Ends("SUCCEEDED");
  return session;
}

/// A job whose source tree has some modules, and which failed with a line of Python.
class AJobWithoutAModule {
 public:
  explicit AJobWithoutAModule(const std::string& line) {
    const Path package = directory_.path() / "trainer";
    EXPECT_TRUE(MakeDirectories(package / "models").ok());
    for (const char* file : {"__init__.py", "task.py", "models/deep.py", "fast.pyx"}) {
      EXPECT_TRUE(WriteFile(package / file, "").ok());
    }
    session_->trainer.source = package;
    session_->runs["packages"].look = {{"undeclared", Json::array()}, {"missing", Json::array()}};
    session_.With(1, Line("master-0", 1, line)).With(2, Exit("master-0", 1, 1)).Ends("FAILED");
  }
  void AddBesidePackage(const Path& file) {
    const Path path = directory_.path() / file;
    EXPECT_TRUE(MakeDirectories(path.parent_path()).ok());
    EXPECT_TRUE(WriteFile(path, "").ok());
  }
  CheckResult Of(const char* check) { return EvaluateCheck(*FindCheck(check), *session_); }
  ASession& session() { return session_; }

 private:
  const TemporaryDirectory directory_{"caip-check-"};
  ASession session_;
};

/// The output of a master that failed, in order: a text, and its severity.
inline ASession Printed(const std::vector<std::pair<std::string, std::string>>& entries) {
  ASession session;
  session->runs["packages"].look = {{"undeclared", Json::array()}, {"missing", Json::array()}};
  for (const auto& [text, severity] : entries) {
    session.With(1, Line("master-0", 1, text, severity));
  }
  session.With(2, Exit("master-0", 1, 1)).Ends("FAILED");
  return session;
}

}  // namespace caip::harness
