#include "host/machine/named_paths.h"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <string_view>

#include "base/files.h"
#include "host/machine/host_tree.h"

namespace caip::host {
namespace {

bool IsPresent(const Path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The directory of a file's siblings: a script may import them. A program of ".../bin" needs what
// is beside that directory.
Path SurroundingsOf(const Path& file) {
  const Path directory = file.parent_path();
  return directory.filename() == "bin" ? directory.parent_path() : directory;
}

// A script may import what is elsewhere in its repository.
Path RepositoryOf(const Path& directory) {
  for (Path at = directory; at.has_relative_path(); at = at.parent_path()) {
    if (IsPresent(at / ".git")) return at;
  }
  return directory;
}

// Where paths may begin in a word or in the value of a variable: "--data=/path", "/bin:/usr/bin".
std::vector<size_t> PathStarts(std::string_view text) {
  std::vector<size_t> starts;
  for (size_t part = 0; part != text.npos;) {
    const size_t end = text.find(':', part);
    const size_t equals = text.substr(0, end).find("=/", part);
    if (text.substr(part).starts_with('/')) {
      starts.push_back(part);
    } else if (equals != text.npos) {
      starts.push_back(equals + 1);
    }
    part = end == text.npos ? end : end + 1;
  }
  return starts;
}

constexpr int kColonsOfAPath = 8;
// A path may have a few colons, and colons separate paths. What does not exist is dropped later.
void AddPaths(std::string_view text, std::vector<std::string>& paths) {
  const int colons_max = text.size() < PATH_MAX ? kColonsOfAPath : 0;  // long lists have many parts
  for (const size_t start : PathStarts(text)) {
    size_t end = text.find(':', start);
    paths.emplace_back(text.substr(start, end - start));
    for (int colons = 0; end != text.npos && colons < colons_max; ++colons) {
      end = text.find(':', end + 1);
      paths.emplace_back(text.substr(start, end - start));
    }
  }
}

}  // namespace

std::vector<std::string> NamedPaths(const engine::ReplicaLaunch& launch,
                                    const std::string& buckets) {
  std::vector<std::string> paths;
  const std::vector<std::string> argv = launch.Argv();
  for (const std::string& word : argv) AddPaths(word, paths);
  for (const auto& [name, value] : launch.environment) AddPaths(value, paths);
  paths.insert(paths.end(), launch.needs.begin(), launch.needs.end());
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    if (!IsPresent(path) && !IsBelow(path, buckets))
      continue;  // a trainer may make its job directory
    found.push_back(Path(path).lexically_normal().string());
    if (std::find(argv.begin(), argv.end(), path) == argv.end()) continue;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) continue;
    found.push_back(SurroundingsOf(path).string());
    found.push_back(RepositoryOf(SurroundingsOf(path)).string());
    found.push_back(SurroundingsOf(std::filesystem::canonical(path, error)).string());
  }
  return found;
}

}  // namespace caip::host
