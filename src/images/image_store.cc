#include "images/image_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "images/errors.h"
#include "images/saved_archive.h"

namespace caip::images {
namespace {

constexpr int kNestedIndexesMax = 4;

bool MeansTag(const FoundImage& image, const std::string& tag) {
  if (std::find(image.tags.begin(), image.tags.end(), tag) != image.tags.end()) return true;
  const auto wanted = ImageReference::Parse(tag);
  return std::any_of(image.names.begin(), image.names.end(), [&](const std::string& name) {
    const auto reference = ImageReference::Parse(name);
    return reference.ok() &&
           (reference->tag() == tag || (wanted.ok() && reference->text() == wanted->text()));
  });
}

std::vector<std::string> NamesOf(const std::vector<FoundImage>& images) {
  std::vector<std::string> all;
  for (const FoundImage& image : images) {
    const auto& names = image.names.empty() ? image.tags : image.names;
    all.push_back(names.empty() ? image.manifest.digest.text() : names.front());
  }
  return all;
}

// The images of a source that are wanted.
Result<std::vector<FoundImage>> ChooseImages(std::vector<FoundImage> images,
                                             const ImageSource& source, bool has_name) {
  if (!source.tag.empty()) {
    const std::vector<std::string> names = NamesOf(images);
    std::erase_if(images, [&](const FoundImage& image) { return !MeansTag(image, source.tag); });
    if (images.empty()) return errors::TagOfSourceUnknown(source.text(), source.tag, names);
  }
  if (images.size() > 1 && (has_name || !source.tag.empty())) {
    return errors::SeveralImages(source.text(), NamesOf(images));
  }
  return images;
}

Result<std::vector<ImageReference>> NamesFor(const FoundImage& image, const ImageSource& source,
                                             const std::optional<ImageReference>& name) {
  std::vector<ImageReference> names;
  if (name) {
    if (name->digest()) return errors::NameWithDigest(name->text());
    return std::vector<ImageReference>{*name};
  }
  for (const std::string& text : image.names) {
    ASSIGN_OR_RETURN(ImageReference reference, ImageReference::Parse(text));
    if (!reference.tag().empty()) names.push_back(std::move(reference));
  }
  if (names.empty()) return errors::ImageWithoutName(source.text());
  return names;
}

}  // namespace

// What manifests need.
struct ImageStore::Reached {
  std::set<Digest> manifests;  // those that were read
  std::set<Digest> configs;    // likewise
  std::set<Digest> blobs;
  std::set<Digest> layers;  // their diff ids
};

// The image for this host, of an index or alone.
struct ImageStore::HostImage {
  Digest digest;
  ImageManifest manifest;
  ImageConfig config;
};

Result<std::unique_ptr<ImageStore>> ImageStore::Open(const Path& directory,
                                                     ImageStoreOptions options) {
  RETURN_IF_ERROR(MakeDirectories(directory));
  ::chmod(directory.c_str(), 0700);  // files of images are not for other users of the host
  std::unique_ptr<ImageStore> store(new ImageStore(directory, std::move(options)));
  ASSIGN_OR_RETURN(store->blobs_, BlobStore::Open(directory));
  ASSIGN_OR_RETURN(store->names_, ImageNames::Open(directory / "names.db"));
  ASSIGN_OR_RETURN(store->layers_, LayerStore::Open(directory / "layers", store->options_.limits));
  return store;
}

Result<Fd> ImageStore::Lock(int kind) const {
  const Path path = directory_ / "lock";
  Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return CannotOpen(path, errno);
  while (::flock(lock.get(), kind) != 0) {
    if (errno != EINTR) return CannotLock(path, errno);
  }
  return lock;
}

Result<Fd> ImageStore::LockForAdding() const { return Lock(LOCK_SH); }

Result<std::vector<ImportedImage>> ImageStore::Import(const ImageSource& source,
                                                      const std::optional<ImageReference>& name) {
  ASSIGN_OR_RETURN(Fd lock, LockForAdding());
  auto imported = ImportLocked(source, name);
  lock.Close();
  // A failed import leaves blobs, and an archive has files that no image needs. If the store is
  // busy, the next collection removes them.
  std::error_code error;
  if (imported.ok() && std::filesystem::is_directory(source.path, error)) return imported;
  if (auto writing = Lock(LOCK_EX | LOCK_NB); writing.ok()) (void)Collect(std::move(*writing));
  return imported;
}

Result<std::vector<ImportedImage>> ImageStore::ImportLocked(
    const ImageSource& source, const std::optional<ImageReference>& name) {
  ASSIGN_OR_RETURN(const auto files, OpenSource(source, *blobs_, options_.limits));
  ASSIGN_OR_RETURN(std::vector<FoundImage> found, FindImages(*files, source, *blobs_));
  ASSIGN_OR_RETURN(found, ChooseImages(std::move(found), source, name.has_value()));
  ManifestBudget budget = options_.manifests;
  std::vector<StoredImage> stored;
  std::vector<ImportedImage> imported;
  for (const FoundImage& image : found) {
    ASSIGN_OR_RETURN(std::vector<ImageReference> names, NamesFor(image, source, name));
    ASSIGN_OR_RETURN(StoredImage copied,
                     StoreImage(*files, image.manifest, options_.host, *blobs_, budget));
    imported.push_back({copied.manifests.front().digest, std::move(names)});
    stored.push_back(std::move(copied));
  }
  for (size_t i = 0; i < stored.size(); ++i) {
    RETURN_IF_ERROR(SetNames(stored[i], imported[i].names));
  }
  return imported;
}

Result<Digest> ImageStore::Pull(const OpenOffer& open, const ImageReference& name) {
  ASSIGN_OR_RETURN(const Fd lock, LockForAdding());
  ASSIGN_OR_RETURN(const OfferedImage offered, open(*blobs_, options_.host));
  ManifestBudget budget = options_.manifests;
  ASSIGN_OR_RETURN(const StoredImage stored,
                   StoreImage(*offered.files, offered.manifest, options_.host, *blobs_, budget));
  RETURN_IF_ERROR(SetNames(stored, {name}));
  return offered.manifest.digest;
}

Status ImageStore::SetNames(const StoredImage& image, const std::vector<ImageReference>& names) {
  for (const ImageReference& name : names) {
    RETURN_IF_ERROR(names_->SetImage(name.repository(), name.tag(), image.manifests, image.blobs));
  }
  return Ok{};
}

Result<Digest> ImageStore::Resolve(const ImageReference& name) {
  if (name.digest()) {
    ASSIGN_OR_RETURN(const ManifestRecord found,
                     names_->FindManifest(name.repository(), *name.digest()));
    return found.digest;
  }
  const auto found = names_->Find(name.repository(), name.tag());
  if (found.ok()) return found->digest;
  if (found.error().reason != "nameUnknown") return found.error();
  std::vector<std::string> others;
  ASSIGN_OR_RETURN(const std::vector<ImageName> tags, names_->List(name.repository()));
  for (const ImageName& other : tags) others.push_back(other.tag);
  return errors::NameUnknown(FamiliarName(name.repository(), name.tag()), others);
}

Result<bool> ImageStore::HasMember(const Digest& manifest, const Digest& wanted) {
  if (manifest == wanted) return true;
  ASSIGN_OR_RETURN(const std::string text, blobs_->Read(manifest, kManifestBytesMax));
  ASSIGN_OR_RETURN(const ImageManifest read, ParseManifest(text));
  return std::any_of(read.manifests.begin(), read.manifests.end(),
                     [&](const Descriptor& member) { return member.digest == wanted; });
}

Result<ImageStore::HostImage> ImageStore::FindHostImage(const Digest& manifest) {
  Digest digest = manifest;
  for (int depth = 0; depth <= kNestedIndexesMax; ++depth) {
    ASSIGN_OR_RETURN(const std::string text, blobs_->Read(digest, kManifestBytesMax));
    ASSIGN_OR_RETURN(const ImageManifest read, ParseManifest(text));
    if (read.IsIndex()) {
      ASSIGN_OR_RETURN(const Descriptor chosen, ChooseManifest(read, options_.host));
      digest = chosen.digest;
      continue;
    }
    RETURN_IF_ERROR(CheckIsImage(read));
    ASSIGN_OR_RETURN(const std::string config_text,
                     blobs_->Read(read.config->digest, kManifestBytesMax));
    ASSIGN_OR_RETURN(const ImageConfig config, ParseImageConfig(config_text));
    RETURN_IF_ERROR(CheckConfig(config, read, options_.host));
    return HostImage{digest, read, config};
  }
  return errors::ManifestInvalid("its indexes are nested too deeply");
}

Result<ImageConfig> ImageStore::ReadConfig(const Digest& manifest) {
  ASSIGN_OR_RETURN(const HostImage image, FindHostImage(manifest));
  return image.config;
}

Status ImageStore::Export(const Digest& manifest, const std::string& name, const Path& file) {
  ASSIGN_OR_RETURN(const Fd lock, LockForAdding());  // no blob is removed meanwhile
  ASSIGN_OR_RETURN(const HostImage image, FindHostImage(manifest));
  return WriteSavedArchive(image.manifest, name, *blobs_, file);
}

// The layers of a stack must differ: of equal ones, the highest decides.
Result<UnpackedImage> ImageStore::Unpack(const Digest& manifest, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const HostImage image, FindHostImage(manifest));
  UnpackedImage unpacked{image.digest};
  unpacked.config = image.config;
  const auto& diff_ids = image.config.diff_ids;
  for (size_t i = 0; i < diff_ids.size(); ++i) {
    if (std::find(diff_ids.begin() + static_cast<long>(i) + 1, diff_ids.end(), diff_ids[i]) !=
        diff_ids.end()) {
      continue;
    }
    auto layer = layers_->Unpack(*blobs_, image.manifest.layers[i].digest, diff_ids[i], stop);
    if (!layer.ok()) return errors::InLayer(i + 1, diff_ids.size(), layer.error());
    unpacked.layers.push_back(layer->path);
    unpacked.remarks.insert(unpacked.remarks.end(), layer->remarks.begin(), layer->remarks.end());
    unpacked.locks.push_back(std::move(layer->lock));
  }
  return unpacked;
}

ListedImage ImageStore::Describe(const ImageName& name) {
  ListedImage listed{name};
  const auto image = FindHostImage(name.digest);
  if (!image.ok()) {
    listed.problem = image.error().message;
    return listed;
  }
  listed.platform = image->config.platform;
  listed.layers = image->manifest.layers.size();
  listed.bytes = image->manifest.config->size;
  for (const Descriptor& layer : image->manifest.layers) listed.bytes += layer.size;
  listed.is_unpacked = std::all_of(image->config.diff_ids.begin(), image->config.diff_ids.end(),
                                   [this](const Digest& diff_id) { return layers_->Has(diff_id); });
  return listed;
}

Result<std::vector<ListedImage>> ImageStore::List() {
  ASSIGN_OR_RETURN(const std::vector<ImageName> names, names_->ListAll());
  std::vector<ListedImage> images;
  std::map<Digest, ListedImage> described;  // many tags may mean one image
  for (const ImageName& name : names) {
    auto known = described.find(name.digest);
    if (known == described.end()) known = described.emplace(name.digest, Describe(name)).first;
    images.push_back(known->second);
    images.back().name = name;
  }
  return images;
}

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

// Returns the members that were not read yet. A missing blob needs nothing.
std::set<Digest> ImageStore::ReachParts(const Digest& manifest, Reached& reached) {
  std::set<Digest> members;
  reached.blobs.insert(manifest);
  const auto text = blobs_->Read(manifest, kManifestBytesMax);
  const auto read = text.ok() ? ParseManifest(*text) : Result<ImageManifest>(text.error());
  if (!read.ok()) return members;
  for (const Descriptor& member : read->manifests) {
    reached.blobs.insert(member.digest);
    if (!reached.manifests.contains(member.digest)) members.insert(member.digest);
  }
  for (const Descriptor& layer : read->layers) reached.blobs.insert(layer.digest);
  if (read->config) ReachConfig(read->config->digest, reached);
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
// means, and the links of both to blobs.
Status ImageStore::Forget(const std::string& repository, const Digest& manifest) {
  Reached removed;
  Reach(manifest, removed);
  RETURN_IF_ERROR(names_->RemoveManifest(repository, manifest));
  ASSIGN_OR_RETURN(const std::vector<ImageName> tags, names_->List(repository));
  Reached kept;
  for (const ImageName& tag : tags) Reach(tag.digest, kept);
  ASSIGN_OR_RETURN(const auto manifests, names_->Manifests(repository));
  for (const ManifestRecord& other : manifests) {
    if (!removed.blobs.contains(other.digest)) Reach(other.digest, kept);
  }
  for (const ManifestRecord& other : manifests) {
    if (kept.blobs.contains(other.digest)) continue;
    RETURN_IF_ERROR(names_->RemoveManifest(repository, other.digest));
  }
  for (const Digest& blob : removed.blobs) {
    if (!kept.blobs.contains(blob)) RETURN_IF_ERROR(names_->Unlink(repository, blob));
  }
  return Ok{};
}

Result<RemovedFiles> ImageStore::Remove(const ImageReference& name) {
  ASSIGN_OR_RETURN(Fd lock, Lock(LOCK_EX));
  ASSIGN_OR_RETURN(const Digest digest, Resolve(name));
  const std::string repository = name.repository();
  if (!name.digest()) RETURN_IF_ERROR(names_->Remove(repository, name.tag()));
  ASSIGN_OR_RETURN(const std::vector<ImageName> tags, names_->List(repository));
  const bool has_tag = std::any_of(tags.begin(), tags.end(),
                                   [&](const ImageName& other) { return other.digest == digest; });
  if (name.digest() || !has_tag) RETURN_IF_ERROR(Forget(repository, digest));
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
  RemovedFiles removed;
  ASSIGN_OR_RETURN(removed.blobs, RemoveBlobsExcept(needed.blobs));
  blobs_->RemoveOwnUploads();
  lock.Close();
  ASSIGN_OR_RETURN(removed.layers, layers_->RemoveOthers(needed.layers));
  return removed;
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
