#pragma once
// The service that the API calls: repositories with blobs, uploads, manifests, tags and referrers.

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/random.h"
#include "base/result.h"
#include "fakes/registry/manifest.h"
#include "fakes/registry/names.h"
#include "fakes/registry/ranges.h"
#include "http/message.h"
#include "images/blob_store.h"
#include "images/image_names.h"

namespace caip::registry {

/// A blob, open for reading.
struct OpenBlob {
  Fd file;
  uint64_t size = 0;
};

/// One request that adds bytes to an upload.
struct UploadPiece {
  http::BodyReader& body;
  std::optional<ByteRange> range = {};  // nullopt: all bytes of the body, at the upload's end
};

/// A manifest as it was pushed.
struct StoredManifest {
  images::Digest digest;
  std::string media_type;
  std::string bytes;
};

/// The names of a manifest after its push.
struct PushResult {
  images::Digest digest;
  std::optional<images::Digest> subject;
};

/// A part of a sorted list.
struct Page {
  std::optional<uint64_t> count;  // nullopt: all
  std::string last;               // the list continues after this item; "" from the beginning
};
struct Listed {
  std::vector<std::string> items;
  bool has_more = false;
};

/// A part of the manifests that describe another.
struct ListedReferrers {
  Json index;
  std::optional<images::Digest> next;  // the list continues after it; nullopt at its end
};

/// Keeps other processes from removing unused blobs of the store while the descriptor is open. Any
/// thread.
using StoreLock = std::function<Result<Fd>()>;

/// A registry on an image store. A repository sees the blobs that were pushed to it or mounted. Any
/// thread. Errors have the reasons of errors.h and of images/errors.h.
class Registry {
 public:
  /// The store and the names outlive the registry. `lock` is held from the storing of a blob until
  /// a repository has it. `chance` makes the ids of uploads.
  Registry(images::BlobStore& blobs, images::ImageNames& names, StoreLock lock, Random chance)
      : blobs_(blobs), names_(names), lock_(std::move(lock)), chance_(chance) {}

  // blobs.cc

  /// kNotFound, with the reason "blobUnknown", also for a blob that is damaged: one of at most
  /// 4 MiB is read once, and a larger one is known if it was read before.
  Result<OpenBlob> Open(const Repository& in, const images::Digest& blob);
  /// The repository no longer has the blob. Others keep it.
  Status RemoveBlob(const Repository& in, const images::Digest& blob);
  /// Lets `to` use a blob of `from`, or of any repository if `from` is nullptr. False if there is
  /// no such blob, or if it is damaged, as Open.
  Result<bool> Mount(const Repository& to, const Repository* from, const images::Digest& blob);
  /// Stores a whole blob. If it fails, no upload remains, because the client does not know its id.
  Status PutBlob(const Repository& to, const images::Digest& blob, http::BodyReader& body);

  /// Returns the id of the upload, which belongs to the repository.
  Result<std::string> StartUpload(const Repository& to);
  /// The number of bytes that the upload has.
  Result<uint64_t> UploadOffset(const Repository& to, const std::string& id) const;
  /// Returns the number of bytes that the upload has then. The bytes that came before an error stay
  /// in the upload, which a client may continue.
  Result<uint64_t> AddToUpload(const Repository& to, const std::string& id,
                               const UploadPiece& piece);
  /// Adds the last piece, which may be empty, and makes the upload a blob of the repository.
  Status FinishUpload(const Repository& to, const std::string& id, const UploadPiece& last,
                      const images::Digest& blob);
  Status CancelUpload(const Repository& to, const std::string& id);

  // manifests.cc

  Result<StoredManifest> FindManifest(const Repository& in, std::string_view reference);
  /// `reference` is the digest of the manifest, or a tag that means it from now on, like `tags`.
  Result<PushResult> PutManifest(const Repository& in, std::string_view reference,
                                 const std::vector<std::string>& tags,
                                 std::string_view content_type, std::string_view bytes);
  /// Removes a tag, or a manifest with all its tags.
  Status RemoveManifest(const Repository& in, std::string_view reference);

  /// The tags of a repository, sorted without regard to letter case.
  Result<Listed> Tags(const Repository& in, const Page& page);
  /// The repositories that clients of `host` can name.
  Result<Listed> Repositories(std::string_view host, const Page& page);
  /// An index of the manifests with that subject; only those of a type if it is given, and only
  /// those after the digest `last`. An index has manifests of at most 4 MiB, or one.
  Result<ListedReferrers> Referrers(const Repository& in, const images::Digest& subject,
                                    const std::optional<std::string>& artifact_type,
                                    const std::optional<images::Digest>& last);

 private:
  Status MakeBlob(const Repository& in, images::BlobUpload& upload, const images::Digest& blob);
  std::string NewUploadId(const Repository& to);
  Result<images::BlobUpload> ResumeUpload(const Repository& to, const std::string& id);
  Result<StoredManifest> ReadManifest(const images::Digest& digest, const std::string& media_type);
  Status CheckParts(const Repository& in, const PushedManifest& manifest);
  Status CheckBlob(const Repository& in, const images::Descriptor& blob);
  Status CheckManifest(const Repository& in, const images::Descriptor& manifest);
  Status CheckBytes(const Repository& in, const images::Descriptor& part);
  bool IsUsable(const images::Digest& blob) const;

  images::BlobStore& blobs_;
  images::ImageNames& names_;
  StoreLock lock_;
  std::mutex mutex_;
  Random chance_;
};

}  // namespace caip::registry
