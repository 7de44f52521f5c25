// Manifests, tags and referrers of a registry.

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "fakes/registry/errors.h"
#include "fakes/registry/registry.h"
#include "images/image_reference.h"

namespace caip::registry {
namespace {

// "lexical order (i.e. case-insensitive alphanumeric order)" of the specification. Names that
// differ only in letter case are ordered by their bytes.
std::pair<std::string, std::string_view> OrderOf(std::string_view item) {
  return {LowerCase(item), item};
}

bool Precedes(const std::string& a, const std::string& b) { return OrderOf(a) < OrderOf(b); }

Listed CutPage(std::vector<std::string> items, const Page& page) {
  std::sort(items.begin(), items.end(), Precedes);
  if (!page.last.empty()) {
    items.erase(items.begin(), std::upper_bound(items.begin(), items.end(), page.last, Precedes));
  }
  const uint64_t count = page.count.value_or(items.size());
  const bool has_more = items.size() > count;
  if (has_more) items.resize(count);
  return {std::move(items), has_more && count > 0};
}

// The failure of a search that the client describes with its own names.
Error WithShownName(const Error& error, const Repository& in, std::string_view reference) {
  const bool is_unknown = error.reason == "nameUnknown" || error.reason == "manifestUnknown";
  return is_unknown ? errors::ManifestUnknown(in.shown, reference) : error;
}

Json ReferrerJson(const StoredManifest& stored, const PushedManifest& manifest) {
  Json json = {{"mediaType", stored.media_type},
               {"size", stored.bytes.size()},
               {"digest", stored.digest.text()}};
  if (!manifest.artifact_type.empty()) json["artifactType"] = manifest.artifact_type;
  if (!manifest.annotations.is_null()) json["annotations"] = manifest.annotations;
  return json;
}

}  // namespace

Result<StoredManifest> Registry::ReadManifest(const images::Digest& digest,
                                              const std::string& media_type) {
  auto bytes = blobs_.Read(digest, images::kManifestBytesMax);
  if (bytes.ok()) return StoredManifest{digest, media_type, *std::move(bytes)};
  const Code code = bytes.error().code;
  if (code != Code::kNotFound && code != Code::kDataLoss) return bytes.error();
  return errors::ManifestDamaged(digest.text());
}

// Nothing has an invalid tag, so a search for it finds nothing.
Result<StoredManifest> Registry::FindManifest(const Repository& in, std::string_view reference) {
  const auto parsed = ParseReference(reference);
  if (!parsed.ok() && parsed.error().reason == "tagInvalid") {
    return errors::ManifestUnknown(in.shown, reference);
  }
  if (!parsed.ok()) return parsed.error();
  if (parsed->digest) {
    const auto found = names_.FindManifest(in.stored, *parsed->digest);
    if (!found.ok()) return WithShownName(found.error(), in, reference);
    return ReadManifest(found->digest, found->media_type);
  }
  const auto found = names_.Find(in.stored, parsed->tag);
  if (!found.ok()) return WithShownName(found.error(), in, reference);
  return ReadManifest(found->digest, found->media_type);
}

// A client sends a blob again only if the repository does not have it. So a blob that is read here
// and is damaged is missing from then on, also for HEAD and mounts.
//
// Other clients may store or remove the blob meanwhile. All files with the bytes of one digest have
// the same size, so the size is right if it is read after the blob was found intact.
Status Registry::CheckBytes(const Repository& in, const images::Descriptor& part) {
  const Error unknown = errors::ManifestBlobUnknown(in.shown, part.digest.text());
  const auto first_size = blobs_.Size(part.digest);
  if (first_size.ok() && *first_size == part.size) {
    return IsUsable(part.digest) ? Status(Ok{}) : unknown;
  }
  if (!blobs_.IsKnownIntact(part.digest)) return unknown;
  const auto size = blobs_.Size(part.digest);
  if (!size.ok()) return unknown;
  if (*size == part.size) return Ok{};
  return errors::DescriptorSizeWrong(part.digest.text(), part.size, *size);
}

Status Registry::CheckBlob(const Repository& in, const images::Descriptor& blob) {
  ASSIGN_OR_RETURN(const bool is_linked, names_.IsLinked(in.stored, blob.digest));
  if (!is_linked) return errors::ManifestBlobUnknown(in.shown, blob.digest.text());
  return CheckBytes(in, blob);
}

Status Registry::CheckManifest(const Repository& in, const images::Descriptor& manifest) {
  const auto found = names_.FindManifest(in.stored, manifest.digest);
  if (!found.ok()) return errors::ManifestBlobUnknown(in.shown, manifest.digest.text());
  return CheckBytes(in, manifest);
}

Status Registry::CheckParts(const Repository& in, const PushedManifest& manifest) {
  const images::ImageManifest& parts = manifest.parts;
  if (parts.config) RETURN_IF_ERROR(CheckBlob(in, *parts.config));
  for (const images::Descriptor& layer : parts.layers) {
    if (!manifest.elsewhere.contains(layer.digest)) RETURN_IF_ERROR(CheckBlob(in, layer));
  }
  for (const images::Descriptor& part : parts.manifests) RETURN_IF_ERROR(CheckManifest(in, part));
  return Ok{};
}

Result<PushResult> Registry::PutManifest(const Repository& in, std::string_view reference,
                                         const std::vector<std::string>& tags,
                                         std::string_view content_type, std::string_view bytes) {
  ASSIGN_OR_RETURN(const Reference target, ParseReference(reference));
  for (const std::string& tag : tags) {
    if (!images::IsTag(tag)) return errors::TagInvalid(tag);
  }
  const images::Digest digest = images::Digest::Of(bytes);
  if (target.digest && *target.digest != digest) {
    return errors::ManifestDigestWrong(reference, digest.text());
  }
  ASSIGN_OR_RETURN(const PushedManifest manifest, ParsePushedManifest(content_type, bytes));
  // This may read blobs: the lock would keep a removal waiting meanwhile. The check with the lock
  // reads only those that have changed since.
  RETURN_IF_ERROR(CheckParts(in, manifest));
  ASSIGN_OR_RETURN(const Fd lock, lock_());
  RETURN_IF_ERROR(CheckParts(in, manifest));
  const auto stored = blobs_.Put(bytes);
  if (!stored.ok()) return stored.error();
  const images::ManifestRecord record{digest, manifest.parts.media_type, manifest.parts.subject,
                                      manifest.parts.Parts()};
  std::vector<std::string> all_tags = tags;
  if (!target.digest) all_tags.push_back(target.tag);
  RETURN_IF_ERROR(names_.AddManifest(in.stored, record, all_tags));
  return PushResult{digest, manifest.parts.subject};
}

Status Registry::RemoveManifest(const Repository& in, std::string_view reference) {
  const auto parsed = ParseReference(reference);
  if (!parsed.ok() && parsed.error().reason == "tagInvalid") {
    return errors::ManifestUnknown(in.shown, reference);
  }
  if (!parsed.ok()) return parsed.error();
  const Status removed = parsed->digest ? names_.RemoveManifest(in.stored, *parsed->digest)
                                        : names_.Remove(in.stored, parsed->tag);
  return removed.ok() ? removed : WithShownName(removed.error(), in, reference);
}

Result<Listed> Registry::Tags(const Repository& in, const Page& page) {
  ASSIGN_OR_RETURN(const auto names, names_.List(in.stored));
  if (names.empty()) {
    ASSIGN_OR_RETURN(const auto known, names_.Repositories());
    const bool is_known = std::binary_search(known.begin(), known.end(), in.stored);
    if (!is_known) return errors::NameUnknown(in.shown);
  }
  std::vector<std::string> tags;
  for (const images::ImageName& name : names) tags.push_back(name.tag);
  return CutPage(std::move(tags), page);
}

Result<Listed> Registry::Repositories(std::string_view host, const Page& page) {
  ASSIGN_OR_RETURN(const auto known, names_.Repositories());
  std::vector<std::string> shown;
  for (const std::string& stored : known) {
    if (auto name = ShownName(host, stored)) shown.push_back(std::move(*name));
  }
  return CutPage(std::move(shown), page);
}

Result<ListedReferrers> Registry::Referrers(const Repository& in, const images::Digest& subject,
                                            const std::optional<std::string>& artifact_type,
                                            const std::optional<images::Digest>& last) {
  ASSIGN_OR_RETURN(const auto records, names_.Referrers(in.stored, subject));
  Json manifests = Json::array();
  uint64_t bytes = 0;
  std::optional<images::Digest> read;
  bool has_more = false;
  for (const images::ManifestRecord& record : records) {
    if (last && record.digest <= *last) continue;
    const auto found = ReadManifest(record.digest, record.media_type);
    if (!found.ok() && found.error().reason == "manifestUnknown") continue;
    if (!found.ok()) return found.error();
    const StoredManifest& stored = *found;
    bytes += stored.bytes.size();
    has_more = read && bytes > images::kManifestBytesMax;
    if (has_more) break;
    read = record.digest;
    ASSIGN_OR_RETURN(const PushedManifest manifest,
                     ParsePushedManifest(record.media_type, stored.bytes));
    if (artifact_type && *artifact_type != manifest.artifact_type) continue;
    manifests.push_back(ReferrerJson(stored, manifest));
  }
  Json index = {
      {"schemaVersion", 2}, {"mediaType", images::kOciIndex}, {"manifests", std::move(manifests)}};
  return ListedReferrers{std::move(index), has_more ? read : std::nullopt};
}

}  // namespace caip::registry
