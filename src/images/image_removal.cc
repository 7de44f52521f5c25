// How a store removes images, and then the blobs and layers that no name needs (image_store.h).

#include <sys/file.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "images/image_store.h"

namespace caip::images {

// What manifests need.
struct ImageStore::Reached {
  std::set<Digest> manifests;  // those that were read
  std::set<Digest> configs;    // likewise
  std::set<Digest> blobs;
  std::set<Digest> layers;  // their diff ids
};

// Adds a manifest and all that it names, each once: indexes may name the same members very often.
void ImageStore::Reach(const Digest& manifest, Reached& reached) {
  std::vector<Digest> left = {manifest};
  while (!left.empty()) {
    const Digest next = std::move(left.back());
    left.pop_back();
    if (!reached.manifests.insert(next).second) continue;
    const std::set<Digest> members = ReachParts(next, reached);
    left.insert(left.end(), members.begin(), members.end());
  }
}

// Returns the members that were not read yet.
std::set<Digest> ImageStore::ReachParts(const Digest& manifest, Reached& reached) {
  std::set<Digest> members;
  reached.blobs.insert(manifest);
  const auto read = ReadManifest(manifest);
  if (!read.ok()) return ReachKnownParts(manifest, reached);
  for (const Descriptor& member : read->manifests) {
    reached.blobs.insert(member.digest);
    if (!reached.manifests.contains(member.digest)) members.insert(member.digest);
  }
  for (const Descriptor& layer : read->layers) reached.blobs.insert(layer.digest);
  if (read->config) ReachConfig(read->config->digest, reached);
  return members;
}

// The parts of a manifest whose bytes are missing or damaged. Any of them may be a manifest.
std::set<Digest> ImageStore::ReachKnownParts(const Digest& manifest, Reached& reached) {
  std::set<Digest> members;
  const auto parts = names_->Parts(manifest);
  if (!parts.ok()) return members;
  for (const Digest& part : *parts) {
    reached.blobs.insert(part);
    if (!reached.manifests.contains(part)) members.insert(part);
  }
  return members;
}

void ImageStore::ReachConfig(const Digest& config, Reached& reached) {
  reached.blobs.insert(config);
  if (!reached.configs.insert(config).second) return;
  const auto text = blobs_->Read(config, kManifestBytesMax);
  const auto read = text.ok() ? ParseImageConfig(*text) : Result<ImageConfig>(text.error());
  if (read.ok()) reached.layers.insert(read->diff_ids.begin(), read->diff_ids.end());
}

Status ImageStore::ReachFrom(const std::string& repository, Reached& reached) {
  ASSIGN_OR_RETURN(const auto manifests, names_->Manifests(repository));
  for (const ManifestRecord& manifest : manifests) Reach(manifest.digest, reached);
  return Ok{};
}

// Removes a manifest without tags, the members of an index that nothing else in the repository
// means, and the links of both to blobs. A kill in between would leave links that nothing removes.
Status ImageStore::Forget(const std::string& repository, const Digest& manifest) {
  RETURN_IF_ERROR(names_->FindManifest(repository, manifest));
  Reached removed;
  Reach(manifest, removed);
  Reached kept;
  ASSIGN_OR_RETURN(const std::vector<ImageName> tags, names_->List(repository));
  for (const ImageName& tag : tags) {
    if (tag.digest != manifest) Reach(tag.digest, kept);
  }
  ASSIGN_OR_RETURN(const auto manifests, names_->Manifests(repository));
  for (const ManifestRecord& other : manifests) {
    if (!removed.blobs.contains(other.digest)) Reach(other.digest, kept);
  }
  std::vector<Digest> forgotten = {manifest};
  for (const ManifestRecord& other : manifests) {
    if (!kept.blobs.contains(other.digest)) forgotten.push_back(other.digest);
  }
  std::vector<Digest> unlinked;
  std::set_difference(removed.blobs.begin(), removed.blobs.end(), kept.blobs.begin(),
                      kept.blobs.end(), std::back_inserter(unlinked));
  return names_->Forget(repository, forgotten, unlinked);
}

// Whether a tag or an index of the repository means the manifest.
Result<bool> ImageStore::IsMeant(const std::string& repository, const Digest& manifest) {
  ASSIGN_OR_RETURN(const std::vector<ImageName> tags, names_->List(repository));
  for (const ImageName& tag : tags) {
    if (tag.digest == manifest) return true;
  }
  ASSIGN_OR_RETURN(const std::set<Digest> members, IndexMembers(repository));
  return members.contains(manifest);
}

// Whether a replica uses a layer of the image. Its layers are also in use while it is unpacked.
bool ImageStore::IsInUse(const Digest& manifest) {
  Reached reached;
  Reach(manifest, reached);
  return std::any_of(reached.layers.begin(), reached.layers.end(),
                     [this](const Digest& layer) { return layers_->IsInUse(layer); });
}

// Forgets images that an import has replaced, except those that something still means or uses.
Status ImageStore::ForgetReplaced(const std::vector<ImageName>& replaced) {
  for (const ImageName& earlier : replaced) {
    ASSIGN_OR_RETURN(const bool is_meant, IsMeant(earlier.repository, earlier.digest));
    if (is_meant || IsInUse(earlier.digest)) continue;
    const Status forgotten = Forget(earlier.repository, earlier.digest);
    const bool is_gone = !forgotten.ok() && forgotten.error().code == Code::kNotFound;
    if (!forgotten.ok() && !is_gone) return forgotten;
  }
  return Ok{};
}

Result<RemovedFiles> ImageStore::Remove(const ImageReference& name) {
  ASSIGN_OR_RETURN(Fd lock, Lock(LOCK_EX));
  ASSIGN_OR_RETURN(const Digest digest, Resolve(name));
  const std::string repository = name.repository();
  if (!name.digest()) RETURN_IF_ERROR(names_->Remove(repository, name.tag()));
  ASSIGN_OR_RETURN(const bool is_meant, IsMeant(repository, digest));
  if (name.digest() || !is_meant) RETURN_IF_ERROR(Forget(repository, digest));
  return Collect(std::move(lock));
}

Result<RemovedFiles> ImageStore::CollectGarbage() {
  ASSIGN_OR_RETURN(Fd lock, Lock(LOCK_EX));
  return Collect(std::move(lock));
}

// `lock` is for writing. Layers may have millions of files: they are removed without it, so that
// pushes and imports do not wait. Each layer has a lock of its own, and a removed one that an image
// needs again is unpacked again.
Result<RemovedFiles> ImageStore::Collect(Fd lock) {
  ASSIGN_OR_RETURN(const std::vector<std::string> repositories, names_->Repositories());
  Reached needed;
  for (const std::string& repository : repositories) {
    RETURN_IF_ERROR(ReachFrom(repository, needed));
    ASSIGN_OR_RETURN(const std::vector<Digest> links, names_->Links(repository));
    needed.blobs.insert(links.begin(), links.end());
  }
  NoteParts();
  RemovedFiles removed;
  ASSIGN_OR_RETURN(removed.blobs, RemoveBlobsExcept(needed.blobs));
  blobs_->RemoveOwnUploads();
  lock.Close();
  ASSIGN_OR_RETURN(removed.layers, layers_->RemoveOthers(needed.layers));
  return removed;
}

// Completes what an earlier version has stored. A full disk must not keep a user from removing.
void ImageStore::NoteParts() {
  const auto manifests = names_->ManifestsWithoutParts();
  if (!manifests.ok()) return;
  for (const Digest& manifest : *manifests) {
    const auto read = ReadManifest(manifest);
    if (read.ok()) (void)names_->SetParts(manifest, read->Parts());
  }
}

Result<size_t> ImageStore::RemoveBlobsExcept(const std::set<Digest>& needed) {
  size_t removed = 0;
  ASSIGN_OR_RETURN(const std::vector<BlobInfo> blobs, blobs_->List());
  for (const BlobInfo& blob : blobs) {
    if (needed.contains(blob.digest)) continue;
    RETURN_IF_ERROR(blobs_->Remove(blob.digest));
    ++removed;
  }
  return removed;
}

}  // namespace caip::images
