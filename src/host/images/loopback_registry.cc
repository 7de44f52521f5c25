#include "host/images/loopback_registry.h"

#include <arpa/inet.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/text.h"
#include "host/images/image_errors.h"
#include "http/client.h"
#include "images/errors.h"
#include "images/image_store.h"

namespace caip::host {
namespace {

using images::BlobInfo;
using images::BlobStore;
using images::Descriptor;
using images::Digest;
using images::ImageReference;
using images::Platform;

constexpr int kSilenceSeconds = 10;  // a job that is cancelled waits as long
constexpr int kIndexesMax = 4;
constexpr int kLoopbackNetwork = 127;
constexpr char kPulledImages[] = "localhost/registry-";

bool IsLoopbackAddress(const std::string& host) {
  in_addr address{};
  if (::inet_pton(AF_INET, host.c_str(), &address) != 1) return false;
  return ntohl(address.s_addr) >> 24 == kLoopbackNetwork;
}

// A tag, or the digest if the name has one.
std::string ReferenceIn(const ImageReference& name) {
  return name.digest() ? name.digest()->text() : name.tag();
}

/// The files of one image in a registry. Its manifests are in the store before it is copied.
class RegistryImage final : public images::SourceFiles {
 public:
  RegistryImage(const std::string& registry, const ImageReference& name, BlobStore& blobs,
                std::stop_token stop)
      : registry_(registry),
        name_(name),
        blobs_(blobs),
        stop_(std::move(stop)),
        client_("http://" + registry) {
    client_.set_silence_seconds(kSilenceSeconds);
  }

  /// Stores the manifest of the name, and those that lead from an index to the image for `host`.
  Result<Descriptor> StoreManifests(const Platform& host) {
    ASSIGN_OR_RETURN(const Descriptor top, StoreManifest(ReferenceIn(name_), name_.digest()));
    Descriptor next = top;
    for (int depth = 0; depth <= kIndexesMax; ++depth) {
      ASSIGN_OR_RETURN(const std::string text, blobs_.Read(next.digest, images::kManifestBytesMax));
      ASSIGN_OR_RETURN(const images::ImageManifest read,
                       images::ParseManifest(text, next.media_type));
      if (!read.IsIndex()) {
        NoteSizes(read);
        return top;
      }
      ASSIGN_OR_RETURN(next, images::ChooseManifest(read, host));
      if (blobs_.IsIntact(next.digest)) continue;
      RETURN_IF_ERROR(StoreManifest(next.digest.text(), next.digest));
    }
    return images::errors::ManifestInvalid("its indexes are nested too deeply");
  }

  bool Has(const std::string&) override { return true; }
  // Only the image for this host is pulled: what an index has beside it is not looked at.
  Result<std::string> Read(const std::string& name, size_t) override {
    return CannotOpen(name, ENOENT);
  }
  Result<BlobInfo> Store(const std::string&, const Digest* digest) override {
    if (blobs_.IsKnownIntact(*digest)) {
      ASSIGN_OR_RETURN(const uint64_t size, blobs_.Size(*digest));
      return BlobInfo{*digest, size};
    }
    ASSIGN_OR_RETURN(images::BlobUpload upload, blobs_.BeginOwn());
    const Status received = ReceiveBlob(*digest, upload);
    const uint64_t size = upload.offset();
    if (!received.ok()) {
      upload.Cancel();
      return received.error();
    }
    RETURN_IF_ERROR(upload.Finish(*digest));
    return BlobInfo{*digest, size};
  }

 private:
  void NoteSizes(const images::ImageManifest& manifest) {
    sizes_[manifest.config->digest] = manifest.config->size;
    for (const Descriptor& layer : manifest.layers) sizes_[layer.digest] = layer.size;
  }

  Result<Descriptor> StoreManifest(const std::string& reference,
                                   const std::optional<Digest>& expected) {
    std::string bytes;
    ASSIGN_OR_RETURN(const http::ClientResponse response,
                     Get("manifests/" + reference, [&bytes](std::string_view piece) {
                       bytes += piece;
                       return bytes.size() <= images::kManifestBytesMax;
                     }));
    if (bytes.size() > images::kManifestBytesMax) {
      return images::errors::ManifestTooLarge(bytes.size());
    }
    const Digest digest = Digest::Of(bytes);
    const auto stated = Digest::Parse(response.headers.Get("Docker-Content-Digest"));
    const Digest wanted = expected ? *expected : stated.ok() ? *stated : digest;
    if (wanted != digest) {
      return errors::RegistrySentAnotherManifest(registry_, wanted.text(), digest.text());
    }
    ASSIGN_OR_RETURN(const Digest stored, blobs_.Put(bytes));
    std::string type(response.headers.Get("Content-Type"));
    type.resize(std::min(type.size(), type.find(';')));
    if (!images::IsManifestType(type)) type.clear();  // a server of plain files
    return Descriptor{stored, type, bytes.size()};
  }

  Status ReceiveBlob(const Digest& digest, images::BlobUpload& upload) {
    const uint64_t size = sizes_[digest];
    Status stored = Ok{};
    const auto take = [&](std::string_view piece) {
      if (upload.offset() + piece.size() > size) {
        stored = errors::RegistrySentTooMuch(registry_, digest.text(), size);
      } else {
        stored = upload.Append(piece);
      }
      return stored.ok();
    };
    ASSIGN_OR_RETURN(const auto response, Get("blobs/" + digest.text(), take));
    (void)response;
    return stored;
  }

  Result<http::ClientResponse> Get(const std::string& place,
                                   const std::function<bool(std::string_view)>& take) {
    http::ClientRequest request{.target = "/v2/" + name_.path() + "/" + place};
    request.headers.Add("Accept", Join({images::kOciIndex, images::kOciManifest,
                                        images::kDockerList, images::kDockerManifest, "*/*"},
                                       ", "));
    auto response = client_.Send(
        request, [&](std::string_view piece) { return !stop_.stop_requested() && take(piece); });
    if (stop_.stop_requested()) return images::errors::ReadingStopped();
    if (!response.ok()) return errors::RegistryNotReachable(registry_, response.error());
    if (response->status == 200) return response;
    return errors::RegistryAnswered(registry_, response->status, name_.path() + "/" + place);
  }

  const std::string registry_;
  const ImageReference name_;
  BlobStore& blobs_;
  const std::stop_token stop_;
  http::Client client_;
  std::map<Digest, uint64_t> sizes_;  // that the manifest states
};

// The name of a pulled image in the store. The registry is asked each time, because a tag may mean
// another image there by now.
Result<ImageReference> NameInStore(const std::string& registry, const ImageReference& name) {
  std::string place = registry;
  std::replace(place.begin(), place.end(), ':', '-');
  const std::string tag = name.digest() ? "sha256-" + name.digest()->hex() : name.tag();
  return ImageReference::Parse(kPulledImages + place + "/" + name.path() + ":" + tag);
}

}  // namespace

std::optional<std::string> LoopbackRegistryOf(const ImageReference& name) {
  const size_t colon = name.host().rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string host = name.host().substr(0, colon);
  const std::string port = name.host().substr(colon);
  if (host == "localhost") return "127.0.0.1" + port;
  return IsLoopbackAddress(host) ? std::optional(name.host()) : std::nullopt;
}

Result<Digest> PullFromLoopback(const std::string& registry, const ImageReference& name,
                                images::ImageStore& store, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const ImageReference own_name, NameInStore(registry, name));
  return store.Pull(
      [&](BlobStore& blobs, const Platform& host) -> Result<images::OfferedImage> {
        auto image = std::make_unique<RegistryImage>(registry, name, blobs, stop);
        ASSIGN_OR_RETURN(const Descriptor manifest, image->StoreManifests(host));
        return images::OfferedImage{manifest, std::move(image)};
      },
      own_name);
}

}  // namespace caip::host
