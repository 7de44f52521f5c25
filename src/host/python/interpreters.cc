#include "host/python/interpreters.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/json.h"
#include "base/quoting.h"
#include "base/text.h"
#include "host/process/child_process.h"
#include "host/python/python_errors.h"
#include "host/python/runtime_environments.h"

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

// A job that names no Python version gets no warning.
std::string WarningOf(const PythonRequest& request, const Interpreter& given,
                      const std::string& giver) {
  const bool fits = ParsePythonMinor(request.python_version) == given.minor;
  if (!request.AsksForPython() || fits) return "";
  return errors::OtherPythonGiven(request.python_version, given.version, given.path.string(),
                                  giver);
}

}  // namespace

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
  if (!stamp || silent_.contains(path)) return std::nullopt;
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

// `giver` says who names the interpreter: "--python names it".
Result<InterpreterChoice> Interpreters::Given(const PythonRequest& request, const std::string& path,
                                              const std::string& giver) {
  const auto interpreter = Ask(path);
  if (!interpreter && silent_.contains(path)) {
    return errors::InterpreterSilent(path, search_.patience);
  }
  if (!interpreter) return errors::GivenInterpreterBroken(path, giver);
  if (interpreter->minor < kOldestUsable) {
    return errors::InterpreterTooOld(path, interpreter->version, giver);
  }
  return InterpreterChoice{*interpreter, WarningOf(request, *interpreter, giver), ""};
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
  if (auto given = ByUser(request)) return *std::move(given);
  if (auto installed = Installed(request)) return *std::move(installed);
  if (auto active = Active(request)) return *std::move(active);
  return Suitable(request);
}

std::optional<Result<InterpreterChoice>> Interpreters::ByUser(const PythonRequest& request) {
  if (!search_.python.empty()) {
    return Given(request, search_.python, "--python (or `python:` in the configuration) names it");
  }
  for (const std::string& key : {request.software_version, request.python_version}) {
    const auto mapped = runtimes_.find(key);
    if (key.empty() || mapped == runtimes_.end()) continue;
    return Given(request, mapped->second,
                 "`runtimes:` in the configuration maps " + Quoted(key) + " to it");
  }
  return std::nullopt;
}

std::optional<InterpreterChoice> Interpreters::Installed(const PythonRequest& request) {
  if (search_.installed_runtimes.empty()) return std::nullopt;
  const auto runtime = FindRuntime(search_.installed_runtimes, request.software_version);
  if (!runtime) return std::nullopt;
  const auto interpreter = Ask(runtime->python());
  if (!interpreter) return std::nullopt;  // its base has been removed
  return InterpreterChoice{*interpreter, "", errors::RuntimeDiffers(*runtime)};
}

std::optional<InterpreterChoice> Interpreters::Active(const PythonRequest& request) {
  if (search_.active_environment.empty()) return std::nullopt;
  const auto interpreter = Ask(search_.active_environment / "bin/python3");
  if (!interpreter || interpreter->minor < kOldestUsable) return std::nullopt;
  const bool fits = ParsePythonMinor(WantedPython(request)) == interpreter->minor;
  if (request.strict && !fits) return std::nullopt;
  return InterpreterChoice{
      *interpreter, WarningOf(request, *interpreter, "its virtual environment is active"), ""};
}

// The first interpreter of this version. To look for one version takes a fraction of the time of
// the whole search, which finds the nearest ones as well.
std::optional<Interpreter> Interpreters::Exact(PythonMinor wanted) {
  auto& found = exact_[wanted];
  if (!found) found = candidates_ ? *candidates_ : ScanForInterpreters(search_, wanted);
  for (const InterpreterCandidate& candidate : InOrderOfFitness(*found, wanted)) {
    if (candidate.presumed && *candidate.presumed != wanted) return std::nullopt;
    const auto interpreter = Ask(candidate.path);
    const bool is_usable = interpreter && interpreter->minor >= kOldestUsable;
    if (is_usable && interpreter->minor == wanted) return interpreter;
  }
  return std::nullopt;
}

Result<InterpreterChoice> Interpreters::Suitable(const PythonRequest& request) {
  const std::string wanted_text = WantedPython(request);
  const auto wanted = ParsePythonMinor(wanted_text);
  if (!wanted || wanted->major != 3) return errors::PythonTwo(wanted_text);
  if (const auto exact = Exact(*wanted)) return InterpreterChoice{*exact, "", ""};

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
    if (interpreter->minor == *wanted) return InterpreterChoice{*interpreter, "", ""};
    if (request.strict) return errors::PythonNotHere(wanted_text, interpreter->version);
    return InterpreterChoice{
        *interpreter,
        request.AsksForPython()
            ? errors::OtherPython(wanted_text, interpreter->version, interpreter->path.string())
            : "",
        ""};
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

}  // namespace caip::host
