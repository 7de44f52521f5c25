#include "host/python/interpreters.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "host/process/child_process.h"
#include "host/python/python_errors.h"

namespace caip::host {
namespace {

constexpr PythonMinor kOldestUsable{3, 5};

// Run with -I: without the user site and PYTHON* variables. find_spec does not import large
// packages.
constexpr const char* kQuestion = R"py(
import json, os, site, sys, sysconfig
from importlib.util import find_spec
def version(name):
    spec = find_spec(name)
    if spec is None or not spec.origin: return ""
    try:
        from importlib.metadata import version
        return version(name)
    except ImportError:  # before Python 3.8; the package itself knows
        return getattr(__import__(name), "__version__", "unknown")
    except Exception:
        return "unknown"
virtual = sys.prefix != sys.base_prefix
ensurepip = find_spec("ensurepip")
bundled = os.path.join(os.path.dirname(ensurepip.origin), "_bundled") if ensurepip else ""
if not os.path.isdir(bundled): bundled = sysconfig.get_config_var("WHEEL_PKG_DIR") or ""
print(json.dumps({
    "version": "%d.%d.%d" % sys.version_info[:3],
    "executable": os.path.realpath(sys.executable),
    "pip": version("pip"), "setuptools": version("setuptools"), "wheel": version("wheel"),
    "wheel_directory": bundled if os.path.isdir(bundled) else "",
    "parent_packages": site.getsitepackages()[0] if virtual else ""}))
)py";

std::optional<std::pair<int64_t, uint64_t>> StampOf(const Path& path) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return std::pair(int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec,
                   static_cast<uint64_t>(facts.st_size));
}

Json ToJson(const Interpreter& known) {
  return {{"path", known.path.string()},
          {"executable", known.executable.string()},
          {"version", known.version},
          {"pip", known.pip},
          {"setuptools", known.setuptools},
          {"wheel", known.wheel},
          {"wheel_directory", known.wheel_directory},
          {"parent_packages", known.parent_packages},
          {"modified_ns", known.modified_ns},
          {"size", known.size}};
}

std::optional<Interpreter> FromJson(const Json& json) {
  Interpreter known;
  known.version = StringOr(json, "version");
  const auto minor = ParsePythonMinor(known.version);
  if (!minor) return std::nullopt;
  known.minor = *minor;
  known.path = StringOr(json, "path");
  known.executable = StringOr(json, "executable");
  known.pip = StringOr(json, "pip");
  known.setuptools = StringOr(json, "setuptools");
  known.wheel = StringOr(json, "wheel");
  known.wheel_directory = StringOr(json, "wheel_directory");
  known.parent_packages = StringOr(json, "parent_packages");
  known.modified_ns = IntOr(json, "modified_ns", 0);
  known.size = static_cast<uint64_t>(IntOr(json, "size", 0));
  return known;
}

// The requested version, or the default if the job names none.
std::string WantedPython(const PythonRequest& request) {
  return request.python_version.empty() ? std::string(kPythonDefault) : request.python_version;
}

}  // namespace

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

Interpreters::Interpreters(InterpreterSearch search, std::map<std::string, std::string> runtimes)
    : search_(std::move(search)), runtimes_(std::move(runtimes)) {}

std::vector<InterpreterCandidate> Interpreters::Candidates() {
  if (!candidates_) candidates_ = ScanForInterpreters(search_);
  return *candidates_;
}

void Interpreters::Load() {
  if (std::exchange(loaded_, true) || search_.cache_file.empty()) return;
  const auto text = ReadFileUpTo(search_.cache_file, 1 << 20);
  const auto list = text.ok() ? ParseJson(*text) : Result<Json>(text.error());
  if (!list.ok() || !list->is_array()) return;  // only a cache: the interpreters are asked again
  for (const Json& entry : *list) {
    if (auto known = FromJson(entry)) known_[known->path.string()] = std::move(*known);
  }
}

void Interpreters::Save() const {
  if (search_.cache_file.empty()) return;
  Json list = Json::array();
  for (const auto& [path, known] : known_) list.push_back(ToJson(known));
  // A failure costs the next start only a few milliseconds.
  static_cast<void>(WriteFile(search_.cache_file, PrettyJson(list) + "\n"));
}

std::optional<Interpreter> Interpreters::Run(const Path& path) {
  ++asked_;
  auto said = CaptureTool({.argv = {path.string(), "-I", "-c", kQuestion},
                           .environment = {{"PATH", search_.path}},
                           .timeout = search_.patience});
  if (said.ok() && said->result.timed_out) {
    silent_.insert(path);
    return std::nullopt;
  }
  silent_.erase(path);
  if (!said.ok() || !said->result.ok()) return std::nullopt;
  auto facts = ParseJson(said->out);
  return facts.ok() ? FromJson(*facts) : std::nullopt;
}

std::optional<Interpreter> Interpreters::Ask(const Path& path) {
  Load();
  const auto stamp = StampOf(path);
  if (!stamp) return std::nullopt;
  const auto found = known_.find(path.string());
  if (found != known_.end() && std::pair(found->second.modified_ns, found->second.size) == *stamp) {
    return found->second;
  }
  auto known = Run(path);
  if (!known) return std::nullopt;
  known->path = path;
  std::tie(known->modified_ns, known->size) = *stamp;
  known_[path.string()] = *known;
  Save();
  return known;
}

Result<InterpreterChoice> Interpreters::Mapped(const PythonRequest& request, const std::string& key,
                                               const std::string& path) {
  const auto interpreter = Ask(path);
  if (!interpreter && silent_.contains(path)) {
    return errors::InterpreterSilent(path, search_.patience);
  }
  if (!interpreter) return errors::MappedInterpreterBroken(key, path);
  if (interpreter->minor < kOldestUsable) {
    return errors::InterpreterTooOld(path, interpreter->version);
  }
  const std::string wanted = WantedPython(request);
  if (ParsePythonMinor(wanted) == interpreter->minor) return InterpreterChoice{*interpreter, ""};
  return InterpreterChoice{*interpreter,
                           errors::OtherPythonByConfig(wanted, interpreter->version, path, key)};
}

Result<InterpreterChoice> Interpreters::Choose(const PythonRequest& request) {
  std::lock_guard lock(mutex_);
  silent_.clear();
  auto choice = Best(request);
  if (!choice.ok() || silent_.empty()) return choice;
  const std::string passed_over =
      errors::InterpreterSilent(*silent_.begin(), search_.patience).message;
  choice->warning += (choice->warning.empty() ? "" : " ") + passed_over;
  return choice;
}

Result<InterpreterChoice> Interpreters::Best(const PythonRequest& request) {
  for (const std::string& key : {request.software_version, request.python_version}) {
    const auto mapped = runtimes_.find(key);
    if (!key.empty() && mapped != runtimes_.end()) return Mapped(request, key, mapped->second);
  }
  const std::string wanted_text = WantedPython(request);
  const auto wanted = ParsePythonMinor(wanted_text);
  if (!wanted || wanted->major != 3) return errors::PythonTwo(wanted_text);

  std::vector<InterpreterCandidate> candidates = Candidates();
  while (true) {
    candidates = InOrderOfFitness(std::move(candidates), *wanted);
    if (candidates.empty() && !silent_.empty()) {
      return errors::InterpreterSilent(*silent_.begin(), search_.patience);
    }
    if (candidates.empty()) return errors::NoInterpreter(wanted_text);
    const InterpreterCandidate best = candidates.front();
    candidates.erase(candidates.begin());
    const auto interpreter = Ask(best.path);
    if (!interpreter || interpreter->minor < kOldestUsable) continue;
    if (best.presumed != interpreter->minor) {  // its name shows no version or a wrong one
      candidates.insert(candidates.begin(), {best.path, interpreter->minor});
      continue;
    }
    if (interpreter->minor == *wanted) return InterpreterChoice{*interpreter, ""};
    if (request.strict) return errors::PythonNotHere(wanted_text, interpreter->version);
    return InterpreterChoice{*interpreter, errors::OtherPython(wanted_text, interpreter->version,
                                                               interpreter->path.string())};
  }
}

std::vector<Interpreter> Interpreters::All() {
  std::lock_guard lock(mutex_);
  std::vector<Interpreter> all;
  std::set<std::pair<Path, std::string>> seen;
  for (const InterpreterCandidate& candidate : Candidates()) {
    const auto interpreter = Ask(candidate.path);
    if (!interpreter) continue;
    if (!seen.emplace(interpreter->executable, interpreter->parent_packages).second) continue;
    all.push_back(*interpreter);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.minor > b.minor; });
  return all;
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
      if (minor && minor->major == 3) versions.emplace_back(*minor, it->path());
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

  std::error_code ignored_;
  std::set<std::string> directories_;
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
