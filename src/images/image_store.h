#pragma once
// The container images of a state directory: their blobs, their names and their unpacked layers.
//
//   <directory>/blobs, uploads   see blob_store.h
//   <directory>/names.db         see image_names.h
//   <directory>/layers           see layer_store.h
//   <directory>/lock             locked for reading while blobs are added that no name needs yet,
//                                and for writing by the garbage collection
//
// A registry that shares the store links a blob to its repository before it finishes the upload,
// and a manifest before it stores it: the garbage collection keeps linked blobs.

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "images/blob_store.h"
#include "images/image_import.h"
#include "images/image_manifest.h"
#include "images/image_names.h"
#include "images/image_reference.h"
#include "images/image_source.h"
#include "images/layer_store.h"

namespace caip::images {

struct ImageStoreOptions {
  UnpackLimits limits = {};
  ManifestBudget manifests = {};  // of one import
  Platform host = HostPlatform();
};

/// An image that was imported.
struct ImportedImage {
  Digest digest;                           // of its manifest or index
  std::vector<ImageReference> names = {};  // what it is called from now on
};

/// An image of a list.
struct ListedImage {
  ImageName name;
  /// Of the image for this host. Unset, with the reason in `problem`, if the store has none.
  std::optional<Platform> platform = {};
  uint64_t bytes = 0;  // of its blobs
  size_t layers = 0;
  bool is_unpacked = false;
  std::string problem = {};
};

/// What a machine needs. While the object lives, no process removes the layers.
struct UnpackedImage {
  Digest manifest;                // of the image for this host
  std::vector<Path> layers = {};  // lowest first, each once
  ImageConfig config = {};
  std::vector<std::string> remarks = {};  // what the layers do not have, in sentences
  std::vector<Fd> locks = {};
};

struct RemovedFiles {
  size_t blobs = 0;
  size_t layers = 0;
};

/// A store on one directory. Any thread, and several processes on one directory.
class ImageStore {
 public:
  /// Makes the directory if it is missing.
  static Result<std::unique_ptr<ImageStore>> Open(const Path& directory,
                                                  ImageStoreOptions options = {});

  BlobStore& blobs() { return *blobs_; }
  ImageNames& names() { return *names_; }
  LayerStore& layers() { return *layers_; }

  /// Imports the image, under `name` or the names that the source gives it. Without `name`, all
  /// images of the source are imported, or the one with the source's tag. A name that is in use
  /// means the new image from then on, and the earlier image is removed, unless a tag or an index
  /// of its repository means it or a replica uses one of its layers. After an error, no name has
  /// changed.
  Result<std::vector<ImportedImage>> Import(const ImageSource& source,
                                            const std::optional<ImageReference>& name = {});

  /// Imports an image from elsewhere under `name`, which has a tag. Blobs that the store has are
  /// not read again. Returns the digest of its manifest or index.
  Result<Digest> Pull(const OpenOffer& open, const ImageReference& name);
  /// Keeps the garbage collections of all processes away while the result lives, for callers that
  /// add blobs before a name needs them.
  Result<Fd> LockForAdding() const;

  /// The manifest or index that a name means. kNotFound, with the reason "nameUnknown" or
  /// "manifestUnknown", if the store does not have it.
  Result<Digest> Resolve(const ImageReference& name);
  /// Whether `manifest` is `wanted`, or an index that has it.
  Result<bool> HasMember(const Digest& manifest, const Digest& wanted);
  /// Whether the store has the image for this host: its manifest and configuration are intact, and
  /// its layers have the right sizes. Layers are not read. `manifest` may be an index.
  bool HasImage(const Digest& manifest);
  /// The configuration of the image for this host. `manifest` may be an index.
  Result<ImageConfig> ReadConfig(const Digest& manifest);
  /// Writes the image for this host to a new file, as `docker save` does, with the name
  /// "repository:tag".
  Status Export(const Digest& manifest, const std::string& name, const Path& file);
  /// Unpacks the image for this host. `manifest` may be an index. kCancelled after `stop` is
  /// requested.
  Result<UnpackedImage> Unpack(const Digest& manifest, const std::stop_token& stop = {});
  /// All images by repository: first those with a tag, by tag, then those that neither a tag nor
  /// an index means, by digest.
  Result<std::vector<ListedImage>> List();
  /// Removes a tag, or with a digest a manifest with all its tags, and then what no name needs.
  /// Layers in use are removed by a later call. kNotFound as Resolve.
  Result<RemovedFiles> Remove(const ImageReference& name);
  /// Removes blobs and layers that no name and no link needs.
  Result<RemovedFiles> CollectGarbage();

 private:
  struct Reached;
  struct HostImage;

  ImageStore(Path directory, ImageStoreOptions options)
      : directory_(std::move(directory)), options_(std::move(options)) {}

  Result<Fd> Lock(int kind) const;
  Result<Fd> LockForRemovingSoon() const;
  Result<std::vector<ImportedImage>> ImportLocked(const ImageSource& source,
                                                  const std::optional<ImageReference>& name,
                                                  std::vector<ImageName>& replaced);
  Status NoteReplaced(const ImportedImage& image, std::vector<ImageName>& replaced);
  Status SetNames(const StoredImage& image, const std::vector<ImageReference>& names);
  Result<ImageManifest> ReadManifest(const Digest& manifest);
  Result<HostImage> FindHostImage(const Digest& manifest);
  Result<std::set<Digest>> IndexMembers(const std::string& repository);
  Result<std::vector<ImageName>> AllNames();
  ListedImage Describe(const ImageName& name);
  void Reach(const Digest& manifest, Reached& reached);
  std::set<Digest> ReachParts(const Digest& manifest, Reached& reached);
  std::set<Digest> ReachKnownParts(const Digest& manifest, Reached& reached);
  void ReachConfig(const Digest& config, Reached& reached);
  Status ReachFrom(const std::string& repository, Reached& reached);
  Status Forget(const std::string& repository, const Digest& manifest);
  Result<bool> IsMeant(const std::string& repository, const Digest& manifest);
  bool IsInUse(const Digest& manifest);
  Status ForgetReplaced(const std::vector<ImageName>& replaced);
  Result<RemovedFiles> Collect(Fd lock);
  void NoteParts();
  Result<size_t> RemoveBlobsExcept(const std::set<Digest>& needed);

  Path directory_;
  ImageStoreOptions options_;
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<ImageNames> names_;
  std::unique_ptr<LayerStore> layers_;
};

}  // namespace caip::images
