#include "host/python/environment_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>

#include "base/hash.h"
#include "base/json.h"

namespace caip::host {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReady = ".ready";
constexpr size_t kReadyBytesMax = 1 << 20;
const std::string kUnneededPrefix = ".doomed-";
constexpr const char* kLayout = "1";  // increase it when Begin creates different environments

Status Link(const std::string& target, const Path& path) {
  if (::symlink(target.c_str(), path.c_str()) != 0) {
    return CannotMake(path, errno);
  }
  return Ok{};
}

// Creates what `python -m venv --without-pip --system-site-packages` would create, in a twentieth
// of the time. `home` is the directory in which Python looks for its standard library.
Status WriteSkeleton(const Path& root, const Interpreter& interpreter) {
  const std::string python = "python" + Text(interpreter.minor);
  const Path packages = root / "lib" / python / "site-packages";
  RETURN_IF_ERROR(MakeDirectories(root / "bin"));
  RETURN_IF_ERROR(MakeDirectories(packages));
  RETURN_IF_ERROR(Link("lib", root / "lib64"));
  RETURN_IF_ERROR(Link(interpreter.executable, root / "bin/python3"));
  for (const std::string& name : {std::string("python"), python}) {
    RETURN_IF_ERROR(Link("python3", root / "bin" / name));
  }
  RETURN_IF_ERROR(WriteFile(
      root / "pyvenv.cfg",
      "home = " + interpreter.executable.parent_path().string() +
          "\ninclude-system-site-packages = true\nversion = " + interpreter.version + "\n"));
  RETURN_IF_ERROR(WriteFile(root / "pip.conf", "[install]\nuser = true\n"));
  if (!interpreter.parent_packages.empty()) {  // packages of the user's own virtual environment
    RETURN_IF_ERROR(WriteFile(
        packages / "caip-parent.pth",
        "import site; site.addsitedir(" + PythonJson(interpreter.parent_packages) + ")\n"));
  }
  for (const char* name : {"pip", "pip3"}) {
    const Path script = root / "bin" / name;
    RETURN_IF_ERROR(
        WriteFile(script, "#!/bin/sh\nexec \"$(dirname \"$0\")/python3\" -m pip \"$@\"\n"));
    ::chmod(script.c_str(), 0755);
  }
  return Ok{};
}

std::optional<Json> ReadJson(const Path& file) {
  const auto text = ReadFileUpTo(file, kReadyBytesMax);
  if (!text.ok()) return std::nullopt;
  auto json = ParseJson(*text);
  if (!json.ok()) return std::nullopt;
  return *std::move(json);
}

std::vector<std::string> StringsOf(const Json& json, const char* name) {
  std::vector<std::string> texts;
  const Json* list = Member(json, name);
  if (list == nullptr || !list->is_array()) return texts;
  for (const Json& item : *list) texts.push_back(item.is_string() ? item.get<std::string>() : "");
  return texts;
}

}  // namespace

std::string EnvironmentKey(const Interpreter& interpreter,
                           const std::vector<PackageIdentity>& packages,
                           const std::vector<std::string>& pip_facts) {
  Json parts = Json::array();
  parts.push_back({kLayout, interpreter.executable.string(), interpreter.version,
                   interpreter.modified_ns, interpreter.size, interpreter.parent_packages,
                   interpreter.pip, interpreter.setuptools, interpreter.wheel});
  for (const PackageIdentity& package : packages) {
    parts.push_back({package.file_name, package.digest});
  }
  parts.push_back(pip_facts);
  return Sha256Hex(CompactJson(parts)).substr(0, 32);
}

std::vector<std::string> PackageUrisOf(const Path& directory) {
  const auto json = ReadJson(directory / kReady);
  return json ? StringsOf(*json, "packages") : std::vector<std::string>{};
}

EnvironmentCache::EnvironmentCache(Path root, size_t keep) : root_(std::move(root)), keep_(keep) {}

bool EnvironmentCache::Use(const std::string& key, const engine::RunKey& run) {
  std::lock_guard lock(mutex_);
  const Path ready = DirectoryOf(key) / kReady;
  // The time of the marker is the time of the environment's last use.
  if (::utimensat(AT_FDCWD, ready.c_str(), nullptr, 0) != 0) return false;
  used_[run] = key;
  return true;
}

Status EnvironmentCache::Begin(const std::string& key, const Interpreter& interpreter) const {
  RemoveTree(DirectoryOf(key));
  return WriteSkeleton(DirectoryOf(key), interpreter);
}

Status EnvironmentCache::Finish(const std::string& key, const EnvironmentContents& contents) const {
  const Json json = {{"interpreter", contents.interpreter.string()},
                     {"python", contents.python},
                     {"packages", contents.package_uris},
                     {"digests", contents.digests},
                     {"family", contents.family}};
  return WriteFile(DirectoryOf(key) / kReady, PrettyJson(json) + "\n");
}

std::vector<EnvironmentCache::Member> EnvironmentCache::MembersOf(const std::string& family) const {
  std::multimap<fs::file_time_type, Member, std::greater<>> members;
  std::error_code error;
  for (fs::directory_iterator it(root_, error), end; !error && it != end; it.increment(error)) {
    const auto json = ReadJson(it->path() / kReady);
    if (!json || StringOr(*json, "family") != family) continue;
    std::error_code gone;
    const auto time = fs::last_write_time(it->path() / kReady, gone);
    if (gone) continue;
    const EnvironmentContents contents = {StringOr(*json, "interpreter"), StringOr(*json, "python"),
                                          StringsOf(*json, "packages"), StringsOf(*json, "digests"),
                                          family};
    members.emplace(time, Member{it->path().filename(), contents});
  }
  std::vector<Member> newest_first;
  for (auto& [time, member] : members) newest_first.push_back(std::move(member));
  return newest_first;
}

bool EnvironmentCache::Owns(const std::string& name) { return name == kReady || name == kPackages; }

void EnvironmentCache::Drop(const std::string& key) const { RemoveTree(DirectoryOf(key)); }

void EnvironmentCache::Unuse(const engine::RunKey& run) {
  std::lock_guard lock(mutex_);
  used_.erase(run);
}

std::vector<Path> EnvironmentCache::TakeUnneeded(const std::set<std::string>& building) {
  std::lock_guard lock(mutex_);
  std::set<std::string> kept = building;
  for (const auto& [run, key] : used_) kept.insert(key);
  std::vector<Path> unneeded;
  std::vector<std::pair<fs::file_time_type, Path>> idle;
  std::error_code error;
  for (fs::directory_iterator it(root_, error), end; it != end; it.increment(error)) {
    if (kept.count(it->path().filename())) continue;
    std::error_code no_marker;
    const auto time = fs::last_write_time(it->path() / kReady, no_marker);
    if (no_marker) {
      unneeded.push_back(it->path());
    } else {
      idle.emplace_back(time, it->path());
    }
  }
  std::sort(idle.rbegin(), idle.rend());
  for (size_t i = keep_; i < idle.size(); ++i) unneeded.push_back(idle[i].second);
  for (Path& path : unneeded) {
    if (path.filename().string().starts_with(kUnneededPrefix))
      continue;  // left by an earlier emulator
    const Path renamed = root_ / (kUnneededPrefix + path.filename().string());
    fs::rename(path, renamed, error);  // from now on its key may be built again
    if (!error) path = renamed;
  }
  return unneeded;
}

}  // namespace caip::host
