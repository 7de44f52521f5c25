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

// "sha256:..." of docker, the bare digits of podman.
std::optional<std::string> ParseEngineId(std::string_view text) {
  std::string_view id = Trim(text);
  if (id.starts_with("sha256:")) id.remove_prefix(7);
  const bool is_id =
      id.size() == kIdDigits && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_id ? std::optional<std::string>(id) : std::nullopt;
}

}  // namespace

std::optional<EngineImage> EngineStores::Find(const std::string& uri,
                                              const std::stop_token& stop) const {
  const std::string path = FindVariable(own_environment_, "PATH").value_or("");
  for (const char* engine : kEngines) {
    if (FindProgram(engine, path).empty()) continue;
    const auto asked =
        CaptureTool({.argv = {engine, "image", "inspect", "--format", "{{.Id}}", "--", uri},
                     .environment = own_environment_,
                     .timeout = kFindTimeout,
                     .stop = stop});
    if (!asked.ok() || !asked->result.ok()) continue;
    if (auto id = ParseEngineId(asked->out)) return EngineImage{engine, *std::move(id)};
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
