#include "host/python/interpreter_scan.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "host/process/child_process.h"

namespace caip::host {

std::optional<PythonMinor> ParsePythonMinor(std::string_view text) {
  PythonMinor version;
  size_t at = 0;
  const auto number = [&](int& into) {
    const size_t start = at;
    for (; at < text.size() && at - start < 4 && text[at] >= '0' && text[at] <= '9'; ++at) {
      into = into * 10 + (text[at] - '0');
    }
    return at > start;
  };
  if (!number(version.major) || at >= text.size() || text[at++] != '.') return std::nullopt;
  if (!number(version.minor) || (at < text.size() && text[at] != '.')) return std::nullopt;
  return version;
}

std::string Text(PythonMinor version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

std::vector<InterpreterCandidate> InOrderOfFitness(std::vector<InterpreterCandidate> candidates,
                                                   PythonMinor wanted) {
  // Unknown: 0, equal: 1, newer: 2 (nearest first), older: 3 (nearest first).
  const auto rank = [&](const InterpreterCandidate& candidate) {
    if (!candidate.presumed) return std::pair(0, 0);
    const int distance = (candidate.presumed->major - wanted.major) * 1000 +
                         candidate.presumed->minor - wanted.minor;
    if (distance == 0) return std::pair(1, 0);
    return distance > 0 ? std::pair(2, distance) : std::pair(3, -distance);
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return candidates;
}

namespace {

namespace fs = std::filesystem;

constexpr int kOldestMinor = 5;
constexpr int kNewestMinor = 20;

bool IsScript(const Path& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char start[2] = {};
  return fd.valid() && ::read(fd.get(), start, 2) == 2 && start[0] == '#' && start[1] == '!';
}

// Returns 3.11 for "python3.11"; nullopt for "python3".
std::optional<PythonMinor> MinorInName(const std::string& name) {
  const std::string_view prefix = "python";
  if (!name.starts_with(prefix)) return std::nullopt;
  return ParsePythonMinor(std::string_view(name).substr(prefix.size()));
}

class Scan {
 public:
  explicit Scan(std::optional<PythonMinor> only) : only_(only) {}

  void Add(const Path& path, std::optional<PythonMinor> presumed) {
    if (!IsProgram(path.string()) || !seen_.insert(Identity(path)).second) return;
    if (!presumed) presumed = MinorInName(fs::canonical(path, ignored_).filename());
    found_.push_back({path, presumed});
  }
  void AddDirectory(const Path& directory) {
    // PATH often names a directory twice, and the directories of the system again.
    if (!directory.is_absolute() || !directories_.insert(directory.string()).second) return;
    if (!fs::is_directory(directory, ignored_)) return;
    AddUnlessScript(directory / "python3", std::nullopt);
    if (only_) return AddUnlessScript(directory / ("python" + Text(*only_)), only_);
    for (int minor = kNewestMinor; minor >= kOldestMinor; --minor) {
      AddUnlessScript(directory / ("python3." + std::to_string(minor)), PythonMinor{3, minor});
    }
  }
  // Adds <root>/versions/3.7.16/bin/python3.7 and the like.
  void AddPyenv(const Path& root) {
    std::vector<std::pair<PythonMinor, Path>> versions;
    for (fs::directory_iterator it(root / "versions", ignored_), end; it != end;
         it.increment(ignored_)) {
      const auto minor = ParsePythonMinor(it->path().filename().string());
      const bool is_wanted = only_ ? minor == only_ : minor && minor->major == 3;
      if (is_wanted) versions.emplace_back(*minor, it->path());
    }
    std::sort(versions.rbegin(), versions.rend());
    for (const auto& [minor, path] : versions) Add(path / "bin" / ("python" + Text(minor)), minor);
  }
  std::vector<InterpreterCandidate> Found() && { return std::move(found_); }

 private:
  void AddUnlessScript(const Path& path, std::optional<PythonMinor> presumed) {
    if (IsProgram(path.string()) && !IsScript(path)) Add(path, presumed);
  }
  // The python of a virtual environment links to that of its base, but is a different interpreter.
  std::string Identity(const Path& path) {
    const Path environment = path.parent_path().parent_path();
    if (fs::exists(environment / "pyvenv.cfg", ignored_)) return "venv:" + environment.string();
    return fs::canonical(path, ignored_).string();
  }

  const std::optional<PythonMinor> only_;
  std::error_code ignored_;
  std::set<std::string> directories_;
  std::set<std::string> seen_;
  std::vector<InterpreterCandidate> found_;
};

}  // namespace

std::vector<InterpreterCandidate> ScanForInterpreters(const InterpreterSearch& search,
                                                      std::optional<PythonMinor> only) {
  Scan scan(only);
  for (const Path& path : search.configured) scan.Add(path, std::nullopt);
  for (const std::string& directory : Split(search.path, ':')) scan.AddDirectory(directory);
  for (const Path& directory : search.system_directories) scan.AddDirectory(directory);
  for (const Path& root : search.pyenv_roots) scan.AddPyenv(root);
  return std::move(scan).Found();
}

Path ActiveEnvironment(const std::vector<std::pair<std::string, std::string>>& environment) {
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const Path active = FindVariable(environment, name).value_or("");
    if (active.is_absolute()) return active;
  }
  return {};
}

InterpreterSearch DefaultSearch(
    const std::vector<std::pair<std::string, std::string>>& environment) {
  InterpreterSearch search;
  search.path = FindVariable(environment, "PATH").value_or("");
  search.active_environment = ActiveEnvironment(environment);
  for (const Path& root : {Path(FindVariable(environment, "PYENV_ROOT").value_or("")),
                           Path(FindVariable(environment, "HOME").value_or("")) / ".pyenv"}) {
    if (root.is_absolute()) search.pyenv_roots.push_back(root);
  }
  return search;
}

}  // namespace caip::host
