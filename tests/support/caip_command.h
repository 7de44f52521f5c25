#pragma once
// The built caip as its users run it, on a state directory of its own that is gone afterwards.

#include <functional>
#include <string>
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

/// `parent/trainer/{__init__,task}.py`; the answer is the package's directory.
Path WritePackage(const Path& parent, const std::string& task_source);

/// Ids of live processes whose environment or command line mentions `text`.
std::vector<int> ProcessesMentioning(const std::string& text);

/// Waits, woken every few milliseconds, until `condition` holds; false after `seconds`.
bool Eventually(const std::function<bool()>& condition, int seconds = 30);

}  // namespace caip::testing
