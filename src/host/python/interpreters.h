#pragma once
// The Python interpreters of this host, and which of them stands for a runtime version.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// "3.7" as {3, 7}.
struct PythonMinor {
  int major = 0;
  int minor = 0;
  auto operator<=>(const PythonMinor&) const = default;
};
/// From "3.7" or "3.7.16"; nullopt for anything else.
std::optional<PythonMinor> ParsePythonMinor(std::string_view text);
std::string Text(PythonMinor version);

/// What an interpreter says of itself.
struct Interpreter {
  Path path;        // as found, absolute
  Path executable;  // the program that wrappers and links lead to: sys.executable, or its base's
  std::string version;  // "3.11.2"
  PythonMinor minor;
  std::string pip;              // version; "" it has none
  std::string setuptools;       // version; "" it has none
  std::string wheel;            // version; "" it has none
  std::string wheel_directory;  // where ensurepip keeps its wheels; "" unknown
  std::string parent_packages;  // of a virtual environment: its site-packages, else ""
  int64_t modified_ns = 0;      // of the file at `path`, with its size: known until it changes
  uint64_t size = 0;
};

/// A place where an interpreter may be; what its name says of its version is believed until asked.
struct InterpreterCandidate {
  Path path;
  std::optional<PythonMinor> presumed;
};

/// Where to look.
struct InterpreterSearch {
  std::vector<Path> configured;  // by the user, best first
  std::string path;              // $PATH
  std::vector<Path> system_directories = {"/usr/local/bin", "/usr/bin"};
  std::vector<Path> pyenv_roots;
  Path cache_file;  // what is known already; "" keeps nothing
};

/// An interpreter for a job.
struct InterpreterChoice {
  Interpreter interpreter;
  std::string warning;  // for the job's log; "" when it is the version that was asked for
};

/// The version for a job that names none.
inline constexpr std::string_view kPythonDefault = "3.7";

/// What a job asks for.
struct PythonWish {
  std::string runtime_version;  // "2.4"
  std::string python_version;   // "3.7"; "": kPythonDefault
  bool strict = false;          // another minor version is refused
};

/// Puts `candidates` into the order in which they stand in for `wanted`: the same minor version,
/// the nearest newer, the nearest older; equals keep their order. Unknown versions come first: they
/// must be asked.
std::vector<InterpreterCandidate> InOrderOfFitness(std::vector<InterpreterCandidate> candidates,
                                                   PythonMinor wanted);

/// Finds and asks interpreters. Each is run once and remembered by path, size and time, so that a
/// warm start runs none. Any thread.
class Interpreters {
 public:
  /// `runtimes`: runtime or Python version -> interpreter, which then is not argued with.
  Interpreters(InterpreterSearch search, std::map<std::string, std::string> runtimes);

  /// kFailedPrecondition: there is none that will do, with what to do about it.
  Result<InterpreterChoice> Choose(const PythonWish& wish);
  /// All there are, newest first. Runs those it does not know yet.
  std::vector<Interpreter> All();
  /// How many have been run to be asked.
  int asked() const { return asked_; }

 private:
  std::vector<InterpreterCandidate> Candidates();
  std::optional<Interpreter> Ask(const Path& path);
  Result<InterpreterChoice> Mapped(const PythonWish& wish, const std::string& key,
                                   const std::string& path);
  void Load();
  void Save() const;

  const InterpreterSearch search_;
  const std::map<std::string, std::string> runtimes_;
  std::mutex mutex_;
  std::optional<std::vector<InterpreterCandidate>> candidates_;
  std::map<std::string, Interpreter> known_;  // by path
  bool loaded_ = false;
  int asked_ = 0;
};

/// $PATH, $PYENV_ROOT and ~/.pyenv of the given environment.
InterpreterSearch DefaultSearch(
    const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace caip::host
