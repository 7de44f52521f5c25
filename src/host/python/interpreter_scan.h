#pragma once
// Where the Python interpreters of this host are, found without running any.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"

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

/// A file that may be an interpreter, with the version that its name suggests.
struct InterpreterCandidate {
  Path path;
  std::optional<PythonMinor> presumed;
};

/// Places to search for interpreters.
struct InterpreterSearch {
  std::string python;            // for all jobs, whatever version they ask for; "": none
  Path installed_runtimes;       // <state>/runtimes (runtime_environments.h); "": none
  Path active_environment;       // $VIRTUAL_ENV, else $CONDA_PREFIX; "": none
  std::vector<Path> configured;  // set by the user, best first
  std::string path;              // $PATH
  std::vector<Path> system_directories = {"/usr/local/bin", "/usr/bin"};
  std::vector<Path> pyenv_roots;
  Path cache_file;                             // keeps the facts; "": none
  std::chrono::milliseconds patience{20'000};  // how long an interpreter may take to answer
};

/// $VIRTUAL_ENV, else $CONDA_PREFIX, if it is an absolute path; else "".
Path ActiveEnvironment(const std::vector<std::pair<std::string, std::string>>& environment);

/// A search of the virtual environment, $PATH, $PYENV_ROOT and ~/.pyenv of the given environment.
InterpreterSearch DefaultSearch(
    const std::vector<std::pair<std::string, std::string>>& environment);

/// Finds candidates by names, links and first bytes, without running any. The best come first:
/// configured ones, those on $PATH, the system's, pyenv's versions. Leaves out shell wrappers
/// (pyenv's shims) unless they are configured, because the program that they run depends on the
/// directory. `only`: those whose names have this version or, as "python3", none.
std::vector<InterpreterCandidate> ScanForInterpreters(
    const InterpreterSearch& search, std::optional<PythonMinor> only = std::nullopt);

/// Sorts `candidates` by their suitability for `wanted`: the same minor version, then the nearest
/// newer one, then the nearest older one. Equal ones keep their order. Unknown versions come first,
/// because the interpreter must be asked.
std::vector<InterpreterCandidate> InOrderOfFitness(std::vector<InterpreterCandidate> candidates,
                                                   PythonMinor wanted);

}  // namespace caip::host
