#include "images/image_store.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "images/errors.h"
#include "images/saved_archive.h"

namespace caip::images {
namespace {

constexpr int kNestedIndexesMax = 4;
constexpr std::chrono::milliseconds kLockPause(20);
constexpr std::chrono::milliseconds kLockPatience(2000);

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

// Others may hold the lock one after the other for as long as they push and pull.
Result<Fd> ImageStore::LockForRemovingSoon() const {
  for (auto waited = std::chrono::milliseconds(0);; waited += kLockPause) {
    auto lock = Lock(LOCK_EX | LOCK_NB);
    if (lock.ok() || waited >= kLockPatience) return lock;
    ::poll(nullptr, 0, static_cast<int>(kLockPause.count()));
  }
}

Result<std::vector<ImportedImage>> ImageStore::Import(const ImageSource& source,
                                                      const std::optional<ImageReference>& name) {
  ASSIGN_OR_RETURN(Fd lock, LockForAdding());
  std::vector<ImageName> replaced;
  auto imported = ImportLocked(source, name, replaced);
  lock.Close();
  if (!replaced.empty()) {
    // An image that cannot be removed now stays, and is listed by its digest.
    if (auto writing = LockForRemovingSoon(); writing.ok() && ForgetReplaced(replaced).ok()) {
      (void)Collect(std::move(*writing));
    }
    return imported;
  }
  // A failed import leaves blobs, and an archive has files that no image needs. If the store is
  // busy, the next collection removes them.
  std::error_code error;
  if (imported.ok() && std::filesystem::is_directory(source.path, error)) return imported;
  if (auto writing = Lock(LOCK_EX | LOCK_NB); writing.ok()) (void)Collect(std::move(*writing));
  return imported;
}

Result<std::vector<ImportedImage>> ImageStore::ImportLocked(
    const ImageSource& source, const std::optional<ImageReference>& name,
    std::vector<ImageName>& replaced) {
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
    RETURN_IF_ERROR(NoteReplaced(imported[i], replaced));
    RETURN_IF_ERROR(SetNames(stored[i], imported[i].names));
  }
  return imported;
}

// Adds what the names of the image mean by now, if that is another image.
Status ImageStore::NoteReplaced(const ImportedImage& image, std::vector<ImageName>& replaced) {
  for (const ImageReference& name : image.names) {
    const auto earlier = names_->Find(name.repository(), name.tag());
    if (!earlier.ok() && earlier.error().code != Code::kNotFound) return earlier.error();
    if (earlier.ok() && earlier->digest != image.digest) replaced.push_back(*earlier);
  }
  return Ok{};
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

Result<ImageManifest> ImageStore::ReadManifest(const Digest& manifest) {
  ASSIGN_OR_RETURN(const std::string text, blobs_->Read(manifest, kManifestBytesMax));
  return ParseManifest(text);
}

Result<bool> ImageStore::HasMember(const Digest& manifest, const Digest& wanted) {
  if (manifest == wanted) return true;
  ASSIGN_OR_RETURN(const ImageManifest read, ReadManifest(manifest));
  return std::any_of(read.manifests.begin(), read.manifests.end(),
                     [&](const Descriptor& member) { return member.digest == wanted; });
}

Result<ImageStore::HostImage> ImageStore::FindHostImage(const Digest& manifest) {
  Digest digest = manifest;
  for (int depth = 0; depth <= kNestedIndexesMax; ++depth) {
    ASSIGN_OR_RETURN(const ImageManifest read, ReadManifest(digest));
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

bool ImageStore::HasImage(const Digest& manifest) {
  const auto image = FindHostImage(manifest);
  if (!image.ok()) return false;
  const auto& layers = image->manifest.layers;
  return std::all_of(layers.begin(), layers.end(), [this](const Descriptor& layer) {
    const auto size = blobs_->Size(layer.digest);
    return size.ok() && *size == layer.size;
  });
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

// The manifests of the repository that its indexes name.
Result<std::set<Digest>> ImageStore::IndexMembers(const std::string& repository) {
  ASSIGN_OR_RETURN(const auto manifests, names_->Manifests(repository));
  std::set<Digest> members;
  for (const ManifestRecord& manifest : manifests) {
    if (!IsIndexType(manifest.media_type)) continue;
    const auto read = ReadManifest(manifest.digest);
    const auto parts = read.ok() ? read->Parts() : names_->Parts(manifest.digest);
    if (!parts.ok()) return parts.error();
    members.insert(parts->begin(), parts->end());
  }
  return members;
}

// The tags, and the manifests that neither a tag nor an index means.
Result<std::vector<ImageName>> ImageStore::AllNames() {
  ASSIGN_OR_RETURN(std::vector<ImageName> names, names_->ListAll());
  ASSIGN_OR_RETURN(const std::vector<ImageName> untagged, names_->ListUntagged());
  std::map<std::string, std::set<Digest>> members;  // by repository
  for (const ImageName& name : untagged) {
    if (!members.contains(name.repository)) {
      ASSIGN_OR_RETURN(members[name.repository], IndexMembers(name.repository));
    }
    if (!members[name.repository].contains(name.digest)) names.push_back(name);
  }
  std::stable_sort(names.begin(), names.end(), [](const ImageName& a, const ImageName& b) {
    return a.repository < b.repository;  // the tags stay before the digests
  });
  return names;
}

Result<std::vector<ListedImage>> ImageStore::List() {
  ASSIGN_OR_RETURN(const std::vector<ImageName> names, AllNames());
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

}  // namespace caip::images
