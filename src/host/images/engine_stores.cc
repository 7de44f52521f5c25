#include "host/images/engine_stores.h"

#include <algorithm>

#include "base/text.h"
#include "host/images/image_errors.h"

namespace caip::host {
namespace {

constexpr const char* kEngines[] = {"podman", "docker"};
constexpr std::chrono::seconds kFindTimeout{10};
constexpr std::chrono::minutes kSaveTimeout{30};
constexpr size_t kIdDigits = 64;
// The id, then names with the digests of manifests: "gcr.io/p/i@sha256:...".
constexpr char kEngineFormat[] = "{{.Id}}{{range .RepoDigests}} {{.}}{{end}}";

// "sha256:..." of docker, the bare digits of podman.
std::optional<std::string> ParseEngineId(std::string_view text) {
  std::string_view id = Trim(text);
  if (id.starts_with("sha256:")) id.remove_prefix(7);
  const bool is_id =
      id.size() == kIdDigits && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_id ? std::optional<std::string>(id) : std::nullopt;
}

// Whether one of the names in the engine's answer has the digest; "" is any.
bool IsKnownAs(std::string_view answer, const std::string& digest) {
  if (digest.empty()) return true;
  const std::vector<std::string> words = Split(std::string(Trim(answer)), ' ');
  return std::any_of(words.begin() + 1, words.end(),
                     [&](const std::string& word) { return word.ends_with("@" + digest); });
}

}  // namespace

std::optional<EngineImage> EngineStores::Find(const std::string& uri, const std::stop_token& stop,
                                              const std::string& digest) const {
  const std::string path = FindVariable(own_environment_, "PATH").value_or("");
  for (const char* engine : kEngines) {
    if (FindProgram(engine, path).empty()) continue;
    const auto asked =
        CaptureTool({.argv = {engine, "image", "inspect", "--format", kEngineFormat, "--", uri},
                     .environment = own_environment_,
                     .timeout = kFindTimeout,
                     .stop = stop});
    if (!asked.ok() || !asked->result.ok()) continue;
    auto id = ParseEngineId(asked->out.substr(0, asked->out.find(' ')));
    if (id && IsKnownAs(asked->out, digest)) return EngineImage{engine, *std::move(id)};
  }
  return std::nullopt;
}

Status EngineStores::Save(const EngineImage& image, const Path& file,
                          const std::stop_token& stop) const {
  const auto saved = CaptureTool({.argv = {image.engine, "save", "--output", file, image.id},
                                  .environment = own_environment_,
                                  .timeout = kSaveTimeout,
                                  .stop = stop});
  if (!saved.ok()) return saved.error();
  if (!saved->result.ok()) return errors::EngineCannotSave(image.engine, Trim(saved->err));
  return Ok{};
}

}  // namespace caip::host
