#pragma once
// The Python interpreters of this host, and the choice of one for a runtime version.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "host/python/interpreter_scan.h"

namespace caip::host {

/// Facts that an interpreter reports about itself.
struct Interpreter {
  Path path;            // as found, absolute
  Path executable;      // the program after wrappers and links: sys.executable, or that of its base
  std::string version;  // "3.11.2"
  PythonMinor minor;
  std::string pip;              // version; "": not installed
  std::string setuptools;       // version; "": not installed
  std::string wheel;            // version; "": not installed
  std::string wheel_directory;  // the directory of ensurepip's wheels; "": unknown
  std::string parent_packages;  // site-packages of a virtual environment, else ""
  // Of the file at `path`. With its size, the time shows whether the facts are current.
  int64_t modified_ns = 0;
  uint64_t size = 0;
};

/// The interpreter that was chosen for a job.
struct InterpreterChoice {
  Interpreter interpreter;
  std::string warning;  // for the job's log; "" if it has the version that the job names
  std::string note;  // for the job's log: what an installed runtime has in place of the service's
};

/// The version for a job that names none.
inline constexpr std::string_view kPythonDefault = "3.7";

/// The versions that a job requests.
struct PythonRequest {
  std::string software_version;  // "2.4"
  std::string python_version;    // "3.7"; "": kPythonDefault
  bool strict = false;           // reject another minor version
  bool is_default = false;       // the job names no version, and gets no warning
  bool AsksForPython() const { return !python_version.empty() && !is_default; }
};

/// Finds interpreters and asks them for their facts. Runs each interpreter once and remembers its
/// facts by path, size and time, so that a later start runs none. A job gets the first of these:
/// the search's `python`, what `runtimes` says, the installed runtime of its version, the active
/// virtual environment, the most suitable one of those that were found. Any thread.
class Interpreters {
 public:
  /// `runtimes` maps runtime or Python versions to interpreters, which are used even if their
  /// version differs.
  Interpreters(InterpreterSearch search, std::map<std::string, std::string> runtimes);

  /// Passes over interpreters that fail or do not answer in time; the warning names the latter.
  /// kFailedPrecondition: no interpreter is suitable. The message has a remedy.
  Result<InterpreterChoice> Choose(const PythonRequest& request);
  /// All interpreters, newest first. Runs the unknown ones.
  std::vector<Interpreter> All();
  /// The number of interpreters that were run.
  int asked() const { return asked_; }

 private:
  std::vector<InterpreterCandidate> Candidates();
  std::optional<Interpreter> Ask(const Path& path);
  std::optional<Interpreter> Run(const Path& path);
  Result<InterpreterChoice> Best(const PythonRequest& request);
  std::optional<Result<InterpreterChoice>> ByUser(const PythonRequest& request);
  std::optional<InterpreterChoice> Installed(const PythonRequest& request);
  std::optional<InterpreterChoice> Active(const PythonRequest& request);
  std::optional<Interpreter> Exact(PythonMinor wanted);
  Result<InterpreterChoice> Suitable(const PythonRequest& request);
  Result<InterpreterChoice> Given(const PythonRequest& request, const std::string& path,
                                  const std::string& giver);
  void Load();
  void Save() const;

  const InterpreterSearch search_;
  const std::map<std::string, std::string> runtimes_;
  std::mutex mutex_;
  std::optional<std::vector<InterpreterCandidate>> candidates_;
  std::map<PythonMinor, std::optional<std::vector<InterpreterCandidate>>> exact_;
  std::map<std::string, Interpreter> known_;  // by path
  std::set<Path> silent_;                     // did not answer in time when last asked
  bool loaded_ = false;
  int asked_ = 0;
};

}  // namespace caip::host
