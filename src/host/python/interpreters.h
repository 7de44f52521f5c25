#pragma once
// The Python interpreters of this host, and the choice of one for a runtime version.

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// A minor version: {3, 7} for "3.7".
struct PythonMinor {
  int major = 0;
  int minor = 0;
  auto operator<=>(const PythonMinor&) const = default;
};
/// Parses "3.7" or "3.7.16"; nullopt for other texts.
std::optional<PythonMinor> ParsePythonMinor(std::string_view text);
std::string Text(PythonMinor version);

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

/// A file that may be an interpreter, with the version that its name suggests.
struct InterpreterCandidate {
  Path path;
  std::optional<PythonMinor> presumed;
};

/// Places to search for interpreters.
struct InterpreterSearch {
  std::vector<Path> configured;  // set by the user, best first
  std::string path;              // $PATH
  std::vector<Path> system_directories = {"/usr/local/bin", "/usr/bin"};
  std::vector<Path> pyenv_roots;
  Path cache_file;                             // keeps the facts; "": none
  std::chrono::milliseconds patience{20'000};  // how long an interpreter may take to answer
};

/// The interpreter that was chosen for a job.
struct InterpreterChoice {
  Interpreter interpreter;
  std::string warning;  // for the job's log; "" if the best interpreter has the requested version
};

/// The version for a job that names none.
inline constexpr std::string_view kPythonDefault = "3.7";

/// The versions that a job requests.
struct PythonRequest {
  std::string software_version;  // "2.4"
  std::string python_version;    // "3.7"; "": kPythonDefault
  bool strict = false;           // reject another minor version
};

/// Sorts `candidates` by their suitability for `wanted`: the same minor version, then the nearest
/// newer one, then the nearest older one. Equal ones keep their order. Unknown versions come first,
/// because the interpreter must be asked.
std::vector<InterpreterCandidate> InOrderOfFitness(std::vector<InterpreterCandidate> candidates,
                                                   PythonMinor wanted);

/// Finds interpreters and asks them for their facts. Runs each interpreter once and remembers its
/// facts by path, size and time, so that a later start runs none. Any thread.
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
  Result<InterpreterChoice> Mapped(const PythonRequest& request, const std::string& key,
                                   const std::string& path);
  void Load();
  void Save() const;

  const InterpreterSearch search_;
  const std::map<std::string, std::string> runtimes_;
  std::mutex mutex_;
  std::optional<std::vector<InterpreterCandidate>> candidates_;
  std::map<std::string, Interpreter> known_;  // by path
  std::set<Path> silent_;                     // did not answer in time when last asked
  bool loaded_ = false;
  int asked_ = 0;
};

/// A search of $PATH, $PYENV_ROOT and ~/.pyenv of the given environment.
InterpreterSearch DefaultSearch(
    const std::vector<std::pair<std::string, std::string>>& environment);

/// Finds candidates by names, links and first bytes, without running any. The best come first:
/// configured ones, those on $PATH, the system's, pyenv's versions. Leaves out shell wrappers
/// (pyenv's shims) unless they are configured, because the program that they run depends on the
/// directory.
std::vector<InterpreterCandidate> ScanForInterpreters(const InterpreterSearch& search);

}  // namespace caip::host
