#include "images/image_import.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "images/errors.h"
#include "images/image_reference.h"

namespace caip::images {
namespace {

constexpr int kIndexDepthMax = 4;
constexpr size_t kIndexFileMax = kManifestBytesMax;
constexpr char kRefName[] = "org.opencontainers.image.ref.name";
constexpr char kImageName[] = "io.containerd.image.name";

std::string BlobFileName(const Digest& digest) { return "blobs/sha256/" + digest.hex(); }

// A whole name has a repository. A word alone is a tag.
void AddSourceName(const std::string& name, FoundImage& image) {
  const bool is_whole = name.find_first_of("/:") != std::string::npos;
  if (is_whole && ImageReference::Parse(name).ok()) {
    image.names.push_back(name);
  } else if (IsTag(name)) {
    image.tags.push_back(name);
  }
}

FoundImage ImageOf(const Descriptor& descriptor) {
  FoundImage image{descriptor};
  for (const char* key : {kImageName, kRefName}) {
    const auto name = descriptor.annotations.find(key);
    if (name != descriptor.annotations.end()) AddSourceName(name->second, image);
  }
  return image;
}

Result<std::vector<FoundImage>> FindInLayout(SourceFiles& files) {
  const auto layout = files.Read("oci-layout", kIndexFileMax);
  if (layout.ok()) {
    const auto document = ParseJson(*layout);
    const std::string version =
        document.ok() ? StringOr(*document, "imageLayoutVersion") : "missing";
    if (!version.starts_with("1.")) return errors::LayoutVersionUnknown(version);
  }
  ASSIGN_OR_RETURN(const std::string text, files.Read("index.json", kIndexFileMax));
  ASSIGN_OR_RETURN(const ImageManifest index, ParseManifest(text, kOciIndex));
  std::vector<FoundImage> images;
  for (const Descriptor& descriptor : index.manifests) {
    if (!descriptor.media_type.empty() && !IsManifestType(descriptor.media_type)) continue;
    images.push_back(ImageOf(descriptor));
  }
  const bool has_names = std::any_of(images.begin(), images.end(), [](const FoundImage& image) {
    return !image.names.empty() || !image.tags.empty();
  });
  // Several manifests without names are one image for several platforms.
  if (images.size() < 2 || has_names) return images;
  ASSIGN_OR_RETURN(const Descriptor chosen, ChooseManifest(index, HostPlatform()));
  return std::vector<FoundImage>{FoundImage{chosen}};
}

// Docker names all layers alike; the first bytes tell compressed ones.
std::string LayerTypeOf(const BlobStore& blobs, const Digest& digest) {
  unsigned char start[4] = {};
  const auto file = blobs.OpenBlob(digest);
  if (!file.ok() || ::read(file->get(), start, sizeof start) != sizeof start) return kOciLayer;
  if (start[0] == 0x1f && start[1] == 0x8b) return std::string(kOciLayer) + "+gzip";
  if (start[0] == 0x28 && start[1] == 0xb5 && start[2] == 0x2f && start[3] == 0xfd) {
    return std::string(kOciLayer) + "+zstd";
  }
  return kOciLayer;
}

Result<BlobInfo> StoreNamedFile(SourceFiles& files, const std::string& name) {
  if (!files.Has(name)) return errors::FileOfImageMissing(name);
  const Path file(name);
  const auto named = Digest::ParseHex(file.stem().string());
  const bool is_config = file.extension() == ".json" && named.ok();  // its name is its digest
  return files.Store(name, is_config ? &*named : nullptr);
}

Result<FoundImage> ReadSavedImage(SourceFiles& files, const Json& saved, BlobStore& blobs) {
  const std::string config_name = StringOr(saved, "Config");
  const Json* layer_names = Member(saved, "Layers");
  if (config_name.empty() || layer_names == nullptr || !layer_names->is_array()) {
    return errors::ManifestInvalid("an image of manifest.json has no Config or no Layers");
  }
  if (layer_names->size() > kLayersMax) return errors::TooManyLayers(layer_names->size());
  ASSIGN_OR_RETURN(const BlobInfo stored, StoreNamedFile(files, config_name));
  const Descriptor config{stored.digest, kOciConfig, stored.size};
  std::vector<Descriptor> layers;
  for (const Json& name : *layer_names) {
    if (!name.is_string())
      return errors::ManifestInvalid("Layers of manifest.json is not a list of names");
    ASSIGN_OR_RETURN(const BlobInfo layer, StoreNamedFile(files, name.get<std::string>()));
    layers.push_back({layer.digest, LayerTypeOf(blobs, layer.digest), layer.size});
  }
  const std::string manifest = MakeManifest(config, layers);
  ASSIGN_OR_RETURN(const Digest digest, blobs.Put(manifest));
  FoundImage image{{digest, kOciManifest, manifest.size()}};
  const Json* names = Member(saved, "RepoTags");
  if (names == nullptr || !names->is_array()) return image;
  for (const Json& name : *names) {
    if (name.is_string()) AddSourceName(name.get<std::string>(), image);
  }
  return image;
}

Result<std::vector<FoundImage>> FindInSavedArchive(SourceFiles& files, BlobStore& blobs) {
  ASSIGN_OR_RETURN(const std::string text, files.Read("manifest.json", kIndexFileMax));
  const auto document = ParseJson(text);
  if (!document.ok() || !document->is_array()) {
    return errors::ManifestInvalid("manifest.json of the archive is not a JSON list");
  }
  std::vector<FoundImage> images;
  for (const Json& saved : *document) {
    ASSIGN_OR_RETURN(FoundImage image, ReadSavedImage(files, saved, blobs));
    images.push_back(std::move(image));
  }
  return images;
}

// Copies blobs with what a descriptor says about them. Indexes may name a member often, also in
// indexes of indexes: it is copied once for each depth.
class ImageCopy {
 public:
  ImageCopy(SourceFiles& files, const Platform& host, BlobStore& blobs, ManifestBudget& budget)
      : files_(files), host_(host), blobs_(blobs), budget_(budget) {}

  Status Add(const Descriptor& descriptor, bool is_for_host, int depth = 0) {
    if (depth > kIndexDepthMax) return errors::ManifestInvalid("its indexes are nested too deeply");
    RETURN_IF_ERROR(Copy(descriptor, "its manifest"));
    const Place place{descriptor.digest, descriptor.media_type, depth};
    if (!added_.insert({place, is_for_host}).second) return Ok{};
    ASSIGN_OR_RETURN(const ImageManifest manifest, ReadManifest(descriptor));
    if (manifest.IsIndex()) return AddIndex(manifest, is_for_host, depth);
    return AddManifest(manifest, is_for_host);
  }

  StoredImage stored() && { return std::move(stored_); }

 private:
  // A manifest as an index at that depth names it.
  using Place = std::tuple<Digest, std::string, int>;

  Result<ImageManifest> Parse(std::string_view text, const std::string& media_type) {
    if (budget_.count == 0 || text.size() > budget_.bytes) return errors::TooManyManifests();
    --budget_.count;
    budget_.bytes -= text.size();
    return ParseManifest(text, media_type);
  }

  Result<ImageManifest> ReadManifest(const Descriptor& descriptor) {
    ASSIGN_OR_RETURN(const std::string text, blobs_.Read(descriptor.digest, kManifestBytesMax));
    ASSIGN_OR_RETURN(const ImageManifest manifest, Parse(text, descriptor.media_type));
    if (read_.insert(descriptor.digest).second) {
      stored_.manifests.push_back(
          {descriptor.digest, manifest.media_type, manifest.subject, manifest.Parts()});
    }
    return manifest;
  }

  Status AddManifest(const ImageManifest& manifest, bool is_for_host) {
    if (is_for_host) RETURN_IF_ERROR(CheckIsImage(manifest));
    RETURN_IF_ERROR(StoreBlob(*manifest.config, "its configuration"));
    if (is_for_host) {
      ASSIGN_OR_RETURN(const std::string text,
                       blobs_.Read(manifest.config->digest, kManifestBytesMax));
      ASSIGN_OR_RETURN(const ImageConfig config, ParseImageConfig(text));
      RETURN_IF_ERROR(CheckConfig(config, manifest, host_));
    }
    for (size_t i = 0; i < manifest.layers.size(); ++i) {
      RETURN_IF_ERROR(StoreBlob(manifest.layers[i], "layer " + std::to_string(i + 1) + " of " +
                                                        std::to_string(manifest.layers.size())));
    }
    return Ok{};
  }

  Status AddIndex(const ImageManifest& index, bool is_for_host, int depth) {
    std::optional<Digest> chosen;
    if (is_for_host) {
      ASSIGN_OR_RETURN(const Descriptor member, ChooseManifest(index, host_));
      chosen = member.digest;
    }
    for (const Descriptor& member : index.manifests) {
      const bool is_chosen = member.digest == chosen;
      bool is_added = is_chosen;
      if (!is_chosen) {
        ASSIGN_OR_RETURN(is_added, IsWhole(member, depth + 1));
      }
      if (is_added) RETURN_IF_ERROR(Add(member, is_chosen, depth + 1));
    }
    return Ok{};
  }

  // `docker save` leaves out the images for other platforms, but not their entries in the index.
  Result<bool> IsWhole(const Descriptor& descriptor, int depth) {
    if (depth > kIndexDepthMax || !IsManifestType(descriptor.media_type)) return false;
    const Place place{descriptor.digest, descriptor.media_type, depth};
    if (const auto known = whole_.find(place); known != whole_.end()) return known->second;
    ASSIGN_OR_RETURN(const bool is_whole, LooksWhole(descriptor, depth));
    whole_[place] = is_whole;
    return is_whole;
  }

  Result<bool> LooksWhole(const Descriptor& descriptor, int depth) {
    const auto text = files_.Read(BlobFileName(descriptor.digest), kManifestBytesMax);
    if (!text.ok()) return false;
    const auto manifest = Parse(*text, descriptor.media_type);
    if (!manifest.ok() && manifest.error().code == Code::kResourceExhausted) {
      return manifest.error();
    }
    if (!manifest.ok()) return false;
    const auto is_here = [this](const Descriptor& blob) {
      return files_.Has(BlobFileName(blob.digest));
    };
    if (manifest->config && !is_here(*manifest->config)) return false;
    if (!std::all_of(manifest->layers.begin(), manifest->layers.end(), is_here)) return false;
    for (const Descriptor& member : manifest->manifests) {
      ASSIGN_OR_RETURN(const bool is_whole, IsWhole(member, depth + 1));
      if (!is_whole) return false;
    }
    return true;
  }

  Status StoreBlob(const Descriptor& descriptor, const std::string& what) {
    RETURN_IF_ERROR(Copy(descriptor, what));
    if (copied_.insert(descriptor.digest).second) stored_.blobs.push_back(descriptor.digest);
    return Ok{};
  }

  // A manifest that was made for an archive is in the store already.
  Status Copy(const Descriptor& descriptor, const std::string& what) {
    const std::string name = BlobFileName(descriptor.digest);
    if (!files_.Has(name) && !IsStored(descriptor.digest)) {
      return errors::BlobOfImageMissing(what, descriptor.digest.text());
    }
    if (files_.Has(name)) {
      ASSIGN_OR_RETURN(const BlobInfo stored, files_.Store(name, &descriptor.digest));
      (void)stored;
    }
    ASSIGN_OR_RETURN(const uint64_t size, blobs_.Size(descriptor.digest));
    if (size != descriptor.size) {
      return errors::BlobSizeWrong(what, descriptor.digest.text(), descriptor.size, size);
    }
    return Ok{};
  }

  bool IsStored(const Digest& digest) {
    if (!intact_.contains(digest) && !blobs_.IsIntact(digest)) return false;
    intact_.insert(digest);
    return true;
  }

  SourceFiles& files_;
  const Platform& host_;
  BlobStore& blobs_;
  ManifestBudget& budget_;
  std::set<Digest> intact_;  // blobs of the store, not of the source, whose bytes were checked
  std::set<std::pair<Place, bool>> added_;  // and whether for this host
  std::map<Place, bool> whole_;
  std::set<Digest> read_;    // the manifests of `stored_`
  std::set<Digest> copied_;  // its blobs
  StoredImage stored_;
};

}  // namespace

Result<std::vector<FoundImage>> FindImages(SourceFiles& files, const ImageSource& source,
                                           BlobStore& blobs) {
  std::vector<FoundImage> images;
  if (files.Has("index.json")) {
    ASSIGN_OR_RETURN(images, FindInLayout(files));
  } else if (files.Has("manifest.json")) {
    ASSIGN_OR_RETURN(images, FindInSavedArchive(files, blobs));
  }
  if (images.empty()) return errors::ImageMissing(source.text());
  return images;
}

Result<StoredImage> StoreImage(SourceFiles& files, const Descriptor& manifest, const Platform& host,
                               BlobStore& blobs, ManifestBudget& budget) {
  ImageCopy copy(files, host, blobs, budget);
  RETURN_IF_ERROR(copy.Add(manifest, true));
  return std::move(copy).stored();
}

Status CheckConfig(const ImageConfig& config, const ImageManifest& manifest, const Platform& host) {
  const Platform& built = config.platform;
  const bool is_known = !built.os.empty() && !built.architecture.empty();
  if (is_known && (built.os != host.os || built.architecture != host.architecture)) {
    return errors::OtherPlatform({built.text()}, host.text());
  }
  if (config.diff_ids.size() != manifest.layers.size()) {
    return errors::LayersDoNotFit(manifest.layers.size(), config.diff_ids.size());
  }
  return Ok{};
}

}  // namespace caip::images
