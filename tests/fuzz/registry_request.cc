// The first byte of an input selects a value of a request to the registry: the name of a
// repository, a reference, a range, or a manifest. A value that is accepted fits what it is about.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fakes/registry/manifest.h"
#include "fakes/registry/names.h"
#include "fakes/registry/ranges.h"
#include "images/image_reference.h"

namespace {

using namespace caip;
using namespace caip::registry;

void Require(bool holds) {
  if (!holds) std::abort();
}

// The text is a host, a line end and a name.
void CheckName(std::string_view text) {
  const size_t end = text.find('\n');
  const std::string_view host = text.substr(0, end);
  const std::string_view name = end == text.npos ? text : text.substr(end + 1);
  const auto found = FindRepository(host, name);
  if (!found.ok()) return Require(found.error().reason == "nameInvalid");
  Require(found->stored.size() <= 255 && found->stored.find("..") == std::string::npos);
  const auto shown = ShownName(host, found->stored);
  Require(shown && FindRepository(host, *shown)->stored == found->stored);
}

void CheckReference(std::string_view text) {
  const auto reference = ParseReference(text);
  if (!reference.ok()) return;
  Require(reference->digest ? reference->digest->text() == text : reference->tag == text);
  Require(text.find('/') == text.npos);
}

void CheckPieceRange(std::string_view text) {
  const auto range = ParsePieceRange(text);
  if (range) Require(range->first <= range->last && range->length() > 0);
}

void CheckBlobRange(std::string_view text) {
  constexpr uint64_t kSize = 1000;
  const BlobRange range = ParseBlobRange(text, kSize);
  if (range.kind != BlobRange::Kind::kPart) return;
  Require(range.bytes.first <= range.bytes.last && range.bytes.last < kSize);
}

// The text is a content type, a line end and a document.
void CheckManifest(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == text.npos) return;
  const auto manifest = ParsePushedManifest(text.substr(0, end), text.substr(end + 1));
  if (!manifest.ok()) return Require(manifest.error().reason == "manifestInvalid");
  Require(images::IsManifestType(manifest->parts.media_type));
  Require(manifest->elsewhere.size() <= manifest->parts.layers.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      CheckName(text);
      break;
    case 1:
      CheckReference(text);
      break;
    case 2:
      CheckPieceRange(text);
      break;
    case 3:
      CheckBlobRange(text);
      break;
    default:
      CheckManifest(text);
      break;
  }
  return 0;
}
