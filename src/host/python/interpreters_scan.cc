#include "host/python/interpreters_scan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "host/process/child_process.h"

namespace caip::host {
namespace {

namespace fs = std::filesystem;

constexpr int kOldestMinor = 5;
constexpr int kNewestMinor = 20;

bool IsProgramInterpretersScan(const Path& path) {
  struct stat facts = {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

bool IsScript(const Path& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char start[2] = {};
  return fd.valid() && ::read(fd.get(), start, 2) == 2 && start[0] == '#' && start[1] == '!';
}

// "python3.11" -> 3.11; a plain "python3" says nothing.
std::optional<PythonMinor> MinorInName(const std::string& name) {
  const std::string_view prefix = "python";
  if (!name.starts_with(prefix)) return std::nullopt;
  return ParsePythonMinor(std::string_view(name).substr(prefix.size()));
}

class Scan {
 public:
  void Add(const Path& path, std::optional<PythonMinor> presumed) {
    if (!IsProgramInterpretersScan(path) || !seen_.insert(Identity(path)).second) return;
    if (!presumed) presumed = MinorInName(fs::canonical(path, ignored_).filename());
    found_.push_back({path, presumed});
  }
  void AddDirectory(const Path& directory) {
    if (!directory.is_absolute() || !fs::is_directory(directory, ignored_)) return;
    AddUnlessScript(directory / "python3", std::nullopt);
    for (int minor = kNewestMinor; minor >= kOldestMinor; --minor) {
      AddUnlessScript(directory / ("python3." + std::to_string(minor)), PythonMinor{3, minor});
    }
  }
  // <root>/versions/3.7.16/bin/python3.7
  void AddPyenv(const Path& root) {
    std::vector<std::pair<PythonMinor, Path>> versions;
    for (fs::directory_iterator it(root / "versions", ignored_), end; it != end;
         it.increment(ignored_)) {
      const auto minor = ParsePythonMinor(it->path().filename().string());
      if (minor && minor->major == 3) versions.emplace_back(*minor, it->path());
    }
    std::sort(versions.rbegin(), versions.rend());
    for (const auto& [minor, path] : versions) Add(path / "bin" / ("python" + Text(minor)), minor);
  }
  std::vector<InterpreterCandidate> Found() && { return std::move(found_); }

 private:
  void AddUnlessScript(const Path& path, std::optional<PythonMinor> presumed) {
    if (IsProgramInterpretersScan(path) && !IsScript(path)) Add(path, presumed);
  }
  // A virtual environment's python is a link to its base's, and yet another interpreter.
  std::string Identity(const Path& path) {
    const Path environment = path.parent_path().parent_path();
    if (fs::exists(environment / "pyvenv.cfg", ignored_)) return "venv:" + environment.string();
    return fs::canonical(path, ignored_).string();
  }

  std::error_code ignored_;
  std::set<std::string> seen_;
  std::vector<InterpreterCandidate> found_;
};

}  // namespace

std::vector<InterpreterCandidate> ScanForInterpreters(const InterpreterSearch& search) {
  Scan scan;
  for (const Path& path : search.configured) scan.Add(path, std::nullopt);
  for (const std::string& directory : Split(search.path, ':')) scan.AddDirectory(directory);
  for (const Path& directory : search.system_directories) scan.AddDirectory(directory);
  for (const Path& root : search.pyenv_roots) scan.AddPyenv(root);
  return std::move(scan).Found();
}

InterpreterSearch DefaultSearch(
    const std::vector<std::pair<std::string, std::string>>& environment) {
  InterpreterSearch search;
  search.path = FindVariable(environment, "PATH").value_or("");
  for (const Path& root : {Path(FindVariable(environment, "PYENV_ROOT").value_or("")),
                           Path(FindVariable(environment, "HOME").value_or("")) / ".pyenv"}) {
    if (root.is_absolute()) search.pyenv_roots.push_back(root);
  }
  return search;
}

}  // namespace caip::host
