#include "host/python/runtime_environments.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/errors.h"
#include "base/json.h"
#include "base/text.h"
#include "host/python/interpreter_scan.h"
#include "host/python/python_errors.h"

namespace caip::host {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFactsFile = ".runtime.json";
constexpr size_t kFactsBytesMax = 1 << 20;

// Versions come from jobs and from the command line. Only these may become names of directories.
bool IsVersionName(std::string_view version) {
  return !version.empty() && version.front() != '.' &&
         version.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::optional<RuntimeEnvironment> ReadRuntime(const Path& root) {
  const auto text = ReadFileUpTo(root / kFactsFile, kFactsBytesMax);
  const auto json = text.ok() ? ParseJson(*text) : Result<Json>(text.error());
  if (!json.ok()) return std::nullopt;
  RuntimeEnvironment runtime{.root = root,
                             .version = root.filename().string(),
                             .wanted_python = StringOr(*json, "servicePython"),
                             .python_version = StringOr(*json, "python"),
                             .packages = {}};
  const Json* packages = Member(*json, "packages");
  if (packages == nullptr || !packages->is_array()) return std::nullopt;
  for (const Json& package : *packages) {
    runtime.packages.push_back({StringOr(package, "name"), StringOr(package, "module"),
                                StringOr(package, "service"), StringOr(package, "here")});
  }
  return runtime;
}

std::vector<int> NumbersOf(std::string_view version) {
  std::vector<int> numbers;
  for (const std::string& part : Split(version, '.')) {
    int number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

int CompareVersions(std::string_view left, std::string_view right) {
  std::vector<int> a = NumbersOf(left);
  std::vector<int> b = NumbersOf(right);
  a.resize(std::max(a.size(), b.size()));
  b.resize(a.size());
  return a == b ? 0 : (a < b ? -1 : 1);
}

std::vector<std::string> RuntimeEnvironment::Differences() const {
  std::vector<std::string> differences;
  if (ParsePythonMinor(python_version) != ParsePythonMinor(wanted_python)) {
    differences.push_back("Python " + python_version + " (" + wanted_python + ")");
  }
  for (const RuntimePackage& package : packages) {
    if (package.installed == package.wanted) continue;
    differences.push_back(package.name + " " + package.installed + " (" + package.wanted + ")");
  }
  return differences;
}

std::optional<RuntimeEnvironment> FindRuntime(const Path& runtimes, const std::string& version) {
  if (!IsVersionName(version)) return std::nullopt;
  return ReadRuntime(runtimes / version);
}

std::vector<RuntimeEnvironment> ListRuntimes(const Path& runtimes) {
  std::vector<RuntimeEnvironment> found;
  std::error_code error;
  for (fs::directory_iterator at(runtimes, error), end; !error && at != end; at.increment(error)) {
    auto runtime = FindRuntime(runtimes, at->path().filename().string());
    if (runtime) found.push_back(*std::move(runtime));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return CompareVersions(a.version, b.version) > 0; });
  return found;
}

Status KeepRuntime(const RuntimeEnvironment& runtime) {
  Json packages = Json::array();
  for (const RuntimePackage& package : runtime.packages) {
    packages.push_back({{"name", package.name},
                        {"module", package.module},
                        {"service", package.wanted},
                        {"here", package.installed}});
  }
  const Json facts = {{"servicePython", runtime.wanted_python},
                      {"python", runtime.python_version},
                      {"packages", std::move(packages)}};
  return WriteFile(runtime.root / kFactsFile, PrettyJson(facts) + "\n");
}

Result<Fd> LockRuntimes(const Path& runtimes) {
  RETURN_IF_ERROR(MakeDirectories(runtimes));
  const Path file = runtimes / ".lock";
  Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return CannotOpen(file, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return errors::RuntimesBusy(runtimes);
  return lock;
}

Result<bool> RemoveRuntime(const Path& runtimes, const std::string& version) {
  std::error_code error;
  const Path root = runtimes / version;
  if (!IsVersionName(version) || !fs::exists(root, error)) return false;
  ASSIGN_OR_RETURN(const Fd lock, LockRuntimes(runtimes));
  fs::remove(root / kFactsFile, error);  // from now on no job uses it
  if (error) return CannotWrite(root / kFactsFile, error.value());
  RemoveTree(root);
  return true;
}

}  // namespace caip::host
