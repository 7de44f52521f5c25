#include "emulator/cli/print/own_paths.h"

#include <utility>

#include "base/json.h"
#include "host/python/environment_cache.h"
#include "host/python/installed_files.h"

namespace caip::cli {
namespace {

constexpr const char* kSourcesFile = "package-sources.json";
constexpr size_t kSourcesMax = 500;
constexpr size_t kSourcesBytesMax = 4 << 20;

// Pairs of URI and directory, the newest last.
std::vector<std::pair<std::string, std::string>> ReadSources(const Path& state) {
  std::vector<std::pair<std::string, std::string>> sources;
  const auto text = ReadFileUpTo(state / kSourcesFile, kSourcesBytesMax);
  const auto json = text.ok() ? ParseJson(*text) : Result<Json>(text.error());
  if (!json.ok() || !json->is_array()) return sources;  // none yet
  for (const Json& entry : *json) {
    sources.emplace_back(StringOr(entry, "package"), StringOr(entry, "directory"));
  }
  return sources;
}

}  // namespace

Status KeepPackageSource(const Path& state, const std::vector<std::string>& uris,
                         const Path& parent) {
  auto sources = ReadSources(state);
  for (const std::string& uri : uris) {
    std::erase_if(sources, [&](const auto& source) { return source.first == uri; });
    sources.emplace_back(uri, parent.string());
  }
  if (sources.size() > kSourcesMax) {
    sources.erase(sources.begin(), sources.end() - static_cast<std::ptrdiff_t>(kSourcesMax));
  }
  Json json = Json::array();
  for (const auto& [uri, directory] : sources) {
    json.push_back({{"package", uri}, {"directory", directory}});
  }
  return WriteFile(state / kSourcesFile, PrettyJson(json) + "\n");
}

OwnPaths::OwnPaths(const Path& state) : state_(state) {
  for (auto& [uri, directory] : ReadSources(state)) parents_[uri] = std::move(directory);
}

// "": the file is not one of the user's.
std::string OwnPaths::SourceOf(const std::string& key, const std::string& file) const {
  for (const std::string& uri : host::PackageUrisOf(state_ / "environments" / key)) {
    const auto parent = parents_.find(uri);
    const bool is_known = parent != parents_.end();
    if (std::string source = is_known ? host::SourceIn(parent->second, file) : "";
        !source.empty()) {
      return source;
    }
  }
  return "";
}

std::string OwnPaths::In(std::string text) const {
  if (parents_.empty()) return text;
  return host::WithSourcesInFrames(
      std::move(text), [this](const auto& key, const auto& file) { return SourceOf(key, file); });
}

void OwnPaths::ShowIn(Json& entry) const {
  const std::string message = StringOr(entry, "message");
  std::string shown = In(message);
  if (shown != message) entry["message"] = std::move(shown);
}

}  // namespace caip::cli
