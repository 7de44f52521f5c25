#include "host/process/bucket_paths.h"

#include <variant>
#include <vector>

#include "host/errors.h"

namespace caip::host {
namespace {

constexpr std::string_view kBeforePaths = " \t\n'\"`=:,;(<>";

// JSON in the environment describes the job as it was submitted, and keeps its bytes.
bool IsJsonObject(std::string_view value) { return value.starts_with('{'); }

}  // namespace

std::string WithBucketPaths(std::string_view text, std::string_view shown,
                            std::string_view buckets) {
  const std::string below = std::string(shown) + "/";
  std::string changed;
  size_t done = 0;
  for (size_t at = text.find(below); at != text.npos; at = text.find(below, at + below.size())) {
    if (at > 0 && kBeforePaths.find(text[at - 1]) == kBeforePaths.npos) continue;
    changed.append(text.substr(done, at - done)).append(buckets).push_back('/');
    done = at + below.size();
  }
  return changed.append(text.substr(done));
}

bool ReplaceBucketPaths(engine::ReplicaLaunch& launch, const std::string& buckets) {
  bool found = false;
  const auto replace = [&](std::string& text) {
    std::string changed = WithBucketPaths(text, launch.buckets_at, buckets);
    if (changed == text) return;
    text = std::move(changed);
    found = true;
  };
  const auto replace_all = [&](std::vector<std::string>& words) {
    for (std::string& word : words) replace(word);
  };
  if (auto* image = std::get_if<run::ContainerImage>(&launch.program)) {
    replace_all(image->command);
    replace_all(image->args);
  }
  replace_all(launch.arguments);
  for (auto& [name, value] : launch.environment) {
    if (!IsJsonObject(value)) replace(value);
  }
  return found;
}

std::vector<ReplicaOutput::Remark> ShowBuckets(const Path& buckets, bool has_own_root,
                                               engine::ReplicaLaunch& launch) {
  const std::string& shown = launch.buckets_at;
  if (shown.empty()) return {};
  if (has_own_root) {
    launch.volumes.push_back({buckets.string(), shown});
    return {};
  }
  if (!ReplaceBucketPaths(launch, buckets.string())) return {};
  return {{engine::Severity::kWarning, errors::BucketPathsReplaced(shown, buckets.string())}};
}

}  // namespace caip::host
