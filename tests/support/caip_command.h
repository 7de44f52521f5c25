#pragma once
// The built caip as its users run it, on a state directory of its own that is gone afterwards.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace caip::testing {

struct Transcript {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// One state directory and the commands that work on it. Stops a background server at the end.
class CaipCommand {
 public:
  CaipCommand();
  ~CaipCommand();
  /// Runs `caip WORDS...` with this state directory and project `demo` to its end (2 minutes most).
  Transcript Run(std::vector<std::string> words) const;
  /// The argv of such a run, for tests that want the process.
  std::vector<std::string> Argv(std::vector<std::string> words) const;
  /// Starts such a run in a process group of its own; it ends with us, at the latest.
  class Going Start(std::vector<std::string> words) const;
  /// The Job as `jobs describe --format json` prints it; null where there is none.
  Json Describe(const std::string& job) const;
  std::string StateOf(const std::string& job) const;
  /// All messages of a job's log, one a line.
  std::string LogOf(const std::string& job) const;

  const Path& state() const { return state_; }
  Path BucketFile(const std::string& bucket, const std::string& object) const;
  /// Further environment for the commands.
  void Set(const std::string& name, const std::string& value);

 private:
  TemporaryDirectory directory_;
  Path state_;
  std::vector<std::pair<std::string, std::string>> environment_;
};

/// A command that runs. Killed where it still does when this goes.
class Going {
 public:
  Going(int pid, Path out, Path err) : pid_(pid), out_(std::move(out)), err_(std::move(err)) {}
  Going(Going&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), out_(other.out_), err_(other.err_) {}
  ~Going();
  int pid() const { return pid_; }
  /// To the process alone, as `kill` does it.
  void Signal(int signal) const;
  std::string out() const;
  std::string err() const;
  /// Waits for its end (2 minutes most) and gives what it said.
  Transcript End();

 private:
  int pid_;  // 0: it was waited for
  Path out_;
  Path err_;
};

/// `parent/trainer/{__init__,task}.py`; the answer is the package's directory.
Path WritePackage(const Path& parent, const std::string& task_source);

/// Ids of live processes whose environment or command line mentions `text`.
std::vector<int> ProcessesMentioning(const std::string& text);

/// Waits, woken every few milliseconds, until `condition` holds; false after `seconds`.
bool Eventually(const std::function<bool()>& condition, int seconds = 30);

}  // namespace caip::testing
