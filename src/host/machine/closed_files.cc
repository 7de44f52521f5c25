#include "host/machine/closed_files.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "host/store/state_directory.h"

namespace caip::host {
namespace {

// <state>/scenarios/<runs of one command>/caches/...
bool IsInCachesOfRuns(const Path& path, const Path& state) {
  const Path below = path.lexically_relative(state / "scenarios");
  const std::vector<Path> parts(below.begin(), below.end());
  return parts.size() > 2 && parts[1] == "caches";
}

}  // namespace

bool IsSecretOfState(const std::string& path, const std::string& state) {
  const std::string authority = state + "/ca";
  return IsBelow(path, state + "/keys") || path == authority ||
         (IsBelow(path, authority) && !path.ends_with(".pem"));
}

std::string FollowLinks(const std::string& path) {
  std::error_code error;
  const Path end = std::filesystem::canonical(path, error);
  return error ? path : end.string();
}

std::vector<Path> HiddenStates(const Path& state, const std::vector<Path>& outer) {
  std::vector<Path> states = {state};
  for (const Path& other : outer) {
    const auto has_it = [&](const Path& at) { return IsBelow(other.string(), at.string()); };
    if (std::ranges::any_of(states, has_it)) continue;
    std::erase_if(states, [&](const Path& at) { return IsBelow(at.string(), other.string()); });
    states.push_back(other);
  }
  return states;
}

ClosedFiles::ClosedFiles(const Path& own, const std::vector<Path>& states,
                         const std::vector<HostMount>& mounts)
    : own_(own), own_end_(FollowLinks(own.string())), states_(states) {
  for (const Path& state : states) {
    for (std::string& other : OtherPlacesOf(state.string(), mounts)) {
      others_.emplace_back(std::move(other), state.string());
    }
  }
}

std::string ClosedFiles::FindNameInStates(const std::string& path) const {
  for (const auto& [other, state] : others_) {
    if (IsBelow(path, other)) return state + path.substr(other.size());
  }
  return path;
}

bool ClosedFiles::Has(const std::string& path) const {
  const std::string name = FindNameInStates(path);
  for (const Path* own : {&own_, &own_end_}) {
    const bool is_in_own = name != *own && IsBelow(name, own->string());
    if (is_in_own) return IsSecretOfState(name, own->string());
  }
  return std::ranges::any_of(states_, [&](const Path& state) {
    if (IsSecretOfState(name, state.string())) return true;
    return IsBelow(name, (state / "scenarios").string()) && !IsInCachesOfRuns(name, state);
  });
}

bool ClosedFiles::IsClosedVolume(const engine::Volume& volume, const std::string& directory) const {
  const std::string name = FindNameInStates(directory);
  const auto is_in = [&](const Path& place) { return IsBelow(name, place.string()); };
  const Path buckets = own_end_ / "buckets";
  if (is_in(buckets)) {
    return std::any_of(std::begin(kWorkOfStorage), std::end(kWorkOfStorage),
                       [&](const char* work) { return is_in(buckets / work); });
  }
  if (is_in(own_end_ / "volumes") || is_in(own_end_ / kLogFilesOfMachines)) return false;
  if (Has(directory)) return true;
  return volume.use == engine::Volume::Use::kShared && std::ranges::any_of(states_, is_in);
}

}  // namespace caip::host
