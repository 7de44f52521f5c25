#include "host/python/runtime_installation.h"

#include <algorithm>

#include "base/errors.h"
#include "base/json.h"
#include "base/text.h"
#include "host/python/environment_cache.h"
#include "host/python/packages_build.h"
#include "host/python/packages_pip.h"
#include "host/python/python_errors.h"

namespace caip::host {
namespace {

constexpr std::string_view kAvailable = "Available versions:";
constexpr size_t kQuotedBytes = 1800;
constexpr std::string_view kPipWithDryRun = "22.2";
constexpr int kVersionsTried = 20;

// Imports each module of the arguments, and prints the versions of the distributions beside them.
constexpr const char* kTryImports = R"py(
import importlib, json, sys
try:
    from importlib.metadata import version
except ImportError:  # before Python 3.8
    from pkg_resources import get_distribution
    version = lambda name: get_distribution(name).version
found = {}
for pair in sys.argv[1:]:
    name, module = pair.split("=")
    importlib.import_module(module)
    found[name] = version(name)
print("\n" + json.dumps(found))
)py";

std::string MinorText(std::string_view version) {
  const std::vector<std::string> parts = Split(version, '.');
  return parts.size() < 2 ? std::string(version) : parts[0] + "." + parts[1];
}

bool IsRelease(std::string_view version) {
  return !version.empty() && version.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string EndOf(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  return std::string(trimmed.substr(trimmed.size() - std::min(trimmed.size(), kQuotedBytes)));
}

class Installation {
 public:
  Installation(const RuntimeOrder& order, const RuntimeTools& tools)
      : order_(order),
        tools_(tools),
        environments_(tools.runtimes, 0),
        runtime_{.root = tools.runtimes / order.version,
                 .version = order.version,
                 .wanted_python = order.wanted_python,
                 .python_version = tools.interpreter.version,
                 .packages = order.packages} {}

  Result<RuntimeEnvironment> Run() {
    RETURN_IF_ERROR(environments_.Begin(order_.version, tools_.interpreter));
    RETURN_IF_ERROR(MakeDirectories(scratch()));
    const std::string pip = SeedBuildTools(tools_.interpreter, runtime_.root).pip;
    if (pip.empty()) return errors::InterpreterWithoutPip(tools_.interpreter.path);
    has_dry_run_ = CompareVersions(pip, kPipWithDryRun) >= 0;
    RETURN_IF_ERROR(ChooseVersions());
    RETURN_IF_ERROR(Install());
    RETURN_IF_ERROR(TryImports());
    RemoveTree(scratch());
    RETURN_IF_ERROR(KeepRuntime(runtime_));
    return runtime_;
  }

 private:
  Path scratch() const { return runtime_.root / ".tmp"; }
  void Say(const std::string& line) const { tools_.on_line(line); }

  // The output of the environment's Python. Lines reach the user as they come.
  Result<ToolOutput> Python(std::vector<std::string> words, bool is_shown) const {
    Tool tool{.argv = {runtime_.python().string()},
              .environment = PipEnvironment(tools_.own_environment, runtime_.root, scratch())};
    tool.argv.insert(tool.argv.end(), words.begin(), words.end());
    tool.directory = runtime_.root.string();
    tool.is_guarded = true;
    tool.stop = tools_.stop;
    ToolOutput output;
    tool.on_line = [&](ToolStream stream, std::string_view line) {
      std::string& text = stream == ToolStream::kOut ? output.out : output.err;
      text.append(line).append("\n");
      if (is_shown && stream == ToolStream::kOut && !Trim(line).empty()) tools_.on_line(line);
    };
    ASSIGN_OR_RETURN(output.result, RunTool(tool));
    if (tools_.stop.stop_requested()) return errors::InstallationStopped();
    return output;
  }

  Status ChooseVersions() {
    for (RuntimePackage& package : runtime_.packages) {
      Say("Looking for " + package.name + " " + package.wanted + " for Python " +
          Text(tools_.interpreter.minor));
      ASSIGN_OR_RETURN(
          const ToolOutput listed,
          Python({"-m", "pip", "index", "versions", "--only-binary=:all:", package.name}, false));
      ASSIGN_OR_RETURN(package.installed, Installable(package, VersionsOfIndex(listed.out)));
      if (!package.installed.empty()) continue;
      return errors::FrameworkNotFound(package.name, tools_.interpreter.version, EndOf(listed.err));
    }
    return Ok{};
  }

  // pip also lists versions that exist only as sources, or for other Pythons. "": none is found.
  Result<std::string> Installable(const RuntimePackage& package,
                                  std::vector<std::string> available) const {
    for (int tries = 0; tries < kVersionsTried; ++tries) {
      std::string version = NearestVersion(package.wanted, available);
      if (version.empty()) return version;
      const Path downloads = runtime_.root / ".downloads";
      std::vector<std::string> words = {"-m", "pip", "install", "--dry-run", "--ignore-installed"};
      if (!has_dry_run_) words = {"-m", "pip", "download", "--dest", downloads.string()};
      words.insert(words.end(),
                   {"--no-deps", "--only-binary=:all:", package.name + "==" + version});
      const Result<ToolOutput> tried = Python(words, false);
      RemoveTree(downloads);
      if (!tried.ok()) return tried.error();
      if (tried->result.ok()) return version;
      std::erase(available, version);
    }
    return std::string();
  }

  // Everything goes into the environment, so that it does not change with the host's packages.
  Status Install() {
    std::vector<std::string> words = {"-m", "pip", "install", "--ignore-installed",
                                      "--prefer-binary"};
    std::vector<std::string> names;
    for (const RuntimePackage& package : runtime_.packages) {
      words.push_back(package.name + "==" + package.installed);
      names.push_back(package.name);
    }
    words.push_back("--only-binary=" + Join(names, ","));
    ASSIGN_OR_RETURN(const ToolOutput done, Python(words, true));
    if (done.result.ok()) return Ok{};
    words.erase(words.begin(), words.begin() + 2);
    return errors::PipFailed("pip " + Join(words, " "), done.result.ShellStatus(),
                             EndOf(done.err.empty() ? done.out : done.err));
  }

  Status TryImports() {
    Say("Importing what was installed");
    std::vector<std::string> words = {"-c", kTryImports};
    for (const RuntimePackage& package : runtime_.packages) {
      words.push_back(package.name + "=" + package.module);
    }
    ASSIGN_OR_RETURN(const ToolOutput done, Python(words, false));
    const std::string_view trimmed = Trim(done.out);
    const auto versions = ParseJson(trimmed.substr(trimmed.rfind('\n') + 1));
    if (!done.result.ok() || !versions.ok()) {
      return errors::FrameworkUnusable(tools_.interpreter.version, EndOf(done.err));
    }
    for (RuntimePackage& package : runtime_.packages) {
      package.installed = StringOr(*versions, package.name);
    }
    return Ok{};
  }

  const RuntimeOrder& order_;
  const RuntimeTools& tools_;
  const EnvironmentCache environments_;
  RuntimeEnvironment runtime_;
  bool has_dry_run_ = false;  // of pip
};

}  // namespace

std::string NearestVersion(const std::string& wanted, const std::vector<std::string>& available) {
  std::string same_minor, newer, older;
  for (const std::string& version : available) {
    if (version == wanted) return version;
    if (!IsRelease(version)) continue;
    const auto is_newer_than = [&](const std::string& other) {
      return other.empty() || CompareVersions(version, other) > 0;
    };
    const int minors = CompareVersions(MinorText(version), MinorText(wanted));
    if (minors == 0 && is_newer_than(same_minor)) same_minor = version;
    if (minors < 0 && is_newer_than(older)) older = version;
    if (minors <= 0) continue;
    const int nearer = newer.empty() ? -1 : CompareVersions(MinorText(version), MinorText(newer));
    if (nearer < 0 || (nearer == 0 && is_newer_than(newer))) newer = version;
  }
  if (!same_minor.empty()) return same_minor;
  return newer.empty() ? older : newer;
}

std::vector<std::string> VersionsOfIndex(std::string_view output) {
  std::vector<std::string> versions;
  for (const std::string& line : Split(output, '\n')) {
    if (!line.starts_with(kAvailable)) continue;
    for (const std::string& version : Split(line.substr(kAvailable.size()), ',')) {
      versions.emplace_back(Trim(version));
    }
  }
  return versions;
}

Result<RuntimeEnvironment> InstallRuntime(const RuntimeOrder& order, const RuntimeTools& tools) {
  ASSIGN_OR_RETURN(const Fd lock, LockRuntimes(tools.runtimes));
  auto installed = Installation(order, tools).Run();
  if (!installed.ok()) RemoveTree(tools.runtimes / order.version);
  return installed;
}

}  // namespace caip::host
