#include "emulator/cli/print/own_paths.h"

#include <re2/re2.h>

#include <filesystem>

#include "base/json.h"
#include "host/python/environment_cache.h"

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
    if (parent == parents_.end()) continue;
    const Path source = Path(parent->second) / file;
    std::error_code error;
    if (std::filesystem::is_regular_file(source, error)) return source.string();
  }
  return "";
}

std::string OwnPaths::In(std::string text) const {
  // A frame of a traceback. Other lines keep their paths: a trainer may print its own.
  static const RE2 installed(
      R"re(File "([^"\n]*/environments/([0-9a-f]{32})/lib/python[0-9.]+/site-packages/))re"
      R"re(([^"\n]+\.py))re");
  if (parents_.empty() || text.find("/site-packages/") == std::string::npos) return text;
  std::string replaced;
  re2::StringPiece rest(text);
  re2::StringPiece found[4];
  while (installed.Match(rest, 0, rest.size(), RE2::UNANCHORED, found, 4)) {
    const std::string source = SourceOf(std::string(found[2]), std::string(found[3]));
    const re2::StringPiece& kept = source.empty() ? found[3] : found[1];
    const char* kept_end = source.empty() ? kept.data() + kept.size() : kept.data();
    replaced.append(rest.data(), static_cast<size_t>(kept_end - rest.data()));
    replaced += source;
    rest.remove_prefix(static_cast<size_t>(found[0].data() - rest.data()) + found[0].size());
  }
  return replaced.append(rest.data(), rest.size());
}

void OwnPaths::ShowIn(Json& entry) const {
  const std::string message = StringOr(entry, "message");
  std::string shown = In(message);
  if (shown != message) entry["message"] = std::move(shown);
}

}  // namespace caip::cli
