#include "host/python/installed_files.h"

#include <re2/re2.h>

#include <filesystem>
#include <system_error>

namespace caip::host {

std::string WithSourcesInFrames(std::string text, const SourceOf& source_of) {
  static const RE2 installed(
      R"re(File "([^"\n]*/environments/([0-9a-f]{32})/lib/python[0-9.]+/site-packages/))re"
      R"re(([^"\n]+\.py))re");
  if (text.find("/site-packages/") == std::string::npos) return text;
  std::string replaced;
  re2::StringPiece rest(text);
  re2::StringPiece found[4];
  while (installed.Match(rest, 0, rest.size(), RE2::UNANCHORED, found, 4)) {
    const std::string source = source_of(std::string(found[2]), std::string(found[3]));
    const re2::StringPiece& kept = source.empty() ? found[3] : found[1];
    const char* kept_end = source.empty() ? kept.data() + kept.size() : kept.data();
    replaced.append(rest.data(), static_cast<size_t>(kept_end - rest.data()));
    replaced += source;
    rest.remove_prefix(static_cast<size_t>(found[0].data() - rest.data()) + found[0].size());
  }
  return replaced.append(rest.data(), rest.size());
}

std::string SourceIn(const Path& parent, const std::string& file) {
  const Path source = parent / file;
  std::error_code error;
  return std::filesystem::is_regular_file(source, error) ? source.string() : "";
}

}  // namespace caip::host
