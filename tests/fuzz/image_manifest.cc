// Any text is a manifest, a configuration and a name of an image, or an error with a reason. A
// valid name is read again as itself, and an image that may run has few layers.

#include "images/image_manifest.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "images/image_reference.h"

namespace {

using namespace caip;
using namespace caip::images;

void Require(bool holds) {
  if (!holds) std::abort();
}

template <typename T>
bool IsRefusedWell(const Result<T>& result) {
  return result.error().code == Code::kInvalidArgument && !result.error().reason.empty() &&
         result.error().message.ends_with('.');
}

void CheckManifest(std::string_view text) {
  const auto manifest = ParseManifest(text);
  if (!manifest.ok()) return Require(IsRefusedWell(manifest));
  Require(IsManifestType(manifest->media_type));
  Require(IsIndexType(manifest->media_type) == manifest->IsIndex());
  Require(ParseManifest(text, manifest->media_type).ok());
  if (CheckIsImage(*manifest).ok()) Require(manifest->layers.size() <= kLayersMax);
  const auto chosen = ChooseManifest(*manifest, HostPlatform());
  Require(chosen.ok() || chosen.error().reason == "otherPlatform");
  if (!manifest->IsIndex()) {
    const auto made = ParseManifest(MakeManifest(*manifest->config, manifest->layers));
    Require(made.ok() && made->layers.size() == manifest->layers.size());
  }
}

void CheckConfig(std::string_view text) {
  const auto config = ParseImageConfig(text);
  if (!config.ok()) return Require(IsRefusedWell(config));
  for (const std::string& variable : config->environment) {
    Require(variable.find('=') != std::string::npos && variable.find('\0') == std::string::npos);
  }
}

void CheckReference(std::string_view text) {
  const auto reference = ImageReference::Parse(text);
  if (!reference.ok()) return Require(IsRefusedWell(reference));
  const auto again = ImageReference::Parse(reference->text());
  Require(again.ok() && again->text() == reference->text());
  Require(IsRepositoryPath(reference->path()));
  Require(reference->tag().empty() || IsTag(reference->tag()));
  if (reference->tag().empty()) return;
  const auto familiar =
      ImageReference::Parse(FamiliarName(reference->repository(), reference->tag()));
  Require(familiar.ok() && familiar->repository() == reference->repository());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckManifest(text);
  CheckConfig(text);
  CheckReference(text);
  return 0;
}
