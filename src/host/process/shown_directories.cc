#include "host/process/shown_directories.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <variant>
#include <vector>

#include "base/errors.h"
#include "host/errors.h"

namespace caip::host {
namespace {

constexpr std::string_view kBeforePaths = " \t\n'\"`=:,;(<>";
constexpr std::string_view kAfterPaths = " \t\n'\"`=:,;)<>&|";

constexpr mode_t kOpenToAllMode = 01777;  // nobody may delete the files of others

// JSON in the environment describes the job as it was submitted, and keeps its bytes.
bool IsJsonObject(std::string_view value) { return value.starts_with('{'); }

enum class Moved { kPathsBelow, kPathsBelowAndItself };

std::string WithMovedPaths(std::string_view text, const run::ShownDirectory& mount, Moved moved) {
  const std::string& shown = mount.shown;
  std::string changed;
  size_t done = 0;
  for (size_t at = text.find(shown); at != text.npos; at = text.find(shown, at + shown.size())) {
    if (at > 0 && kBeforePaths.find(text[at - 1]) == kBeforePaths.npos) continue;
    const size_t end = at + shown.size();
    const bool is_end = end == text.size() || kAfterPaths.find(text[end]) != kAfterPaths.npos;
    const bool is_below = end < text.size() && text[end] == '/';
    if (!is_below && !(is_end && moved == Moved::kPathsBelowAndItself)) continue;
    changed.append(text.substr(done, at - done)).append(mount.directory);
    done = end;
  }
  return changed.append(text.substr(done));
}

// Applies `replace` to the command line and the environment. Returns whether it changed anything.
template <typename Replace>
bool ReplacePaths(engine::ReplicaLaunch& launch, Replace replace) {
  bool found = false;
  const auto change = [&](std::string& text) {
    std::string changed = replace(text);
    if (changed == text) return;
    text = std::move(changed);
    found = true;
  };
  const auto change_all = [&](std::vector<std::string>& words) {
    for (std::string& word : words) change(word);
  };
  if (auto* image = std::get_if<run::ContainerImage>(&launch.program)) {
    change_all(image->command);
    change_all(image->args);
  }
  change_all(launch.arguments);
  for (auto& [name, value] : launch.environment) {
    if (!IsJsonObject(value)) change(value);
  }
  return found;
}

ReplicaOutput::Remark PathsReplaced(const run::ShownDirectory& mount) {
  return {engine::Severity::kWarning, errors::PathsReplaced(mount.shown, mount.directory)};
}

}  // namespace

std::string WithBucketPaths(std::string_view text, std::string_view shown,
                            std::string_view buckets) {
  return WithMovedPaths(text, {std::string(buckets), std::string(shown)}, Moved::kPathsBelow);
}

std::string WithMountPaths(std::string_view text, const run::ShownDirectory& mount) {
  return WithMovedPaths(text, mount, Moved::kPathsBelowAndItself);
}

bool ReplaceBucketPaths(engine::ReplicaLaunch& launch, const std::string& buckets) {
  const std::string shown = launch.buckets_at;
  return ReplacePaths(
      launch, [&](const std::string& text) { return WithBucketPaths(text, shown, buckets); });
}

std::vector<ReplicaOutput::Remark> ShowDirectories(const Path& state, bool has_own_root,
                                                   engine::ReplicaLaunch& launch) {
  const std::string shown = launch.buckets_at;
  const std::string buckets = (state / "buckets").string();
  if (has_own_root) {
    if (!shown.empty()) launch.volumes.push_back({buckets, shown});
    for (const run::ShownDirectory& mount : launch.mounts) {
      launch.volumes.push_back({mount.directory, mount.shown});
    }
    return {};
  }
  std::vector<ReplicaOutput::Remark> remarks;
  if (!shown.empty() && ReplaceBucketPaths(launch, buckets)) {
    remarks.push_back(PathsReplaced({buckets, shown}));
  }
  for (const run::ShownDirectory& mount : launch.mounts) {
    const bool is_used =
        ReplacePaths(launch, [&](const std::string& text) { return WithMountPaths(text, mount); });
    if (is_used) remarks.push_back(PathsReplaced(mount));
  }
  return remarks;
}

Status MakeUserDirectories(const engine::ReplicaLaunch& launch, const Path& boot_disk) {
  for (const std::string& directory : launch.user_directories) {
    RETURN_IF_ERROR(MakeDirectories(boot_disk / directory));
  }
  const bool is_container = !launch.removal.empty();
  if (!is_container || !launch.metrics) return Ok{};
  const Path directory = Path(launch.metrics->file).parent_path();
  if (::chmod(directory.c_str(), kOpenToAllMode) == 0) return Ok{};
  return SystemError("cannot let all users write to '" + directory.string() + "'", errno);
}

Status CheckMounts(const std::vector<run::ShownDirectory>& mounts) {
  for (const run::ShownDirectory& mount : mounts) {
    std::error_code error;
    if (std::filesystem::is_directory(mount.directory, error)) continue;
    return errors::MountMissing(mount.directory, mount.shown);
  }
  return Ok{};
}

}  // namespace caip::host
