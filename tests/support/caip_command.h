#pragma once
// Runs the built caip as users do, on a state directory that is removed afterwards.

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
  /// Runs `caip WORDS...` with this state directory and project `demo` to its end, at most 2
  /// minutes.
  Transcript Run(std::vector<std::string> words) const;
  /// Runs it on a pseudo terminal. Returns all that the terminal received, with plain line breaks.
  std::string RunOnTerminal(std::vector<std::string> words) const;
  /// The argv of such a run, for tests that need the process.
  std::vector<std::string> Argv(std::vector<std::string> words) const;
  /// Starts such a run in its own process group. It ends with the test at the latest.
  class RunningCommand Start(std::vector<std::string> words) const;
  /// The Job as `jobs describe --format json` prints it; null if it does not exist.
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

/// A running command. The destructor kills it.
class RunningCommand {
 public:
  RunningCommand(int pid, Path out, Path err)
      : pid_(pid), out_(std::move(out)), err_(std::move(err)) {}
  RunningCommand(RunningCommand&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), out_(other.out_), err_(other.err_) {}
  ~RunningCommand();
  int pid() const { return pid_; }
  /// Signals the process, not its group, as `kill` does.
  void Signal(int signal) const;
  std::string out() const;
  std::string err() const;
  /// Waits for its end, at most 2 minutes, and returns its output.
  Transcript End();

 private:
  int pid_;  // 0 after the wait for its end
  Path out_;
  Path err_;
};

/// Writes `parent/trainer/{__init__,task}.py` and returns the package's directory.
Path WritePackage(const Path& parent, const std::string& task_source);

/// Ids of live processes whose environment or command line mentions `text`.
std::vector<int> ProcessesMentioning(const std::string& text);

/// Waits, woken every few milliseconds, until `condition` holds; false after `seconds`.
bool Eventually(const std::function<bool()>& condition, int seconds = 30);

}  // namespace caip::testing
