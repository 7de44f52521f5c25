#pragma once
// Reads manifests and indexes of images: OCI's (OCI Image Format Specification, "Image Manifest"
// and "Image Index") and Docker's (schema 2). Nothing here reads a file.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "images/digest.h"

namespace caip::images {

inline constexpr char kOciManifest[] = "application/vnd.oci.image.manifest.v1+json";
inline constexpr char kOciIndex[] = "application/vnd.oci.image.index.v1+json";
inline constexpr char kDockerManifest[] = "application/vnd.docker.distribution.manifest.v2+json";
inline constexpr char kDockerList[] = "application/vnd.docker.distribution.manifest.list.v2+json";
inline constexpr char kOciConfig[] = "application/vnd.oci.image.config.v1+json";
inline constexpr char kDockerConfig[] = "application/vnd.docker.container.image.v1+json";
inline constexpr char kOciLayer[] = "application/vnd.oci.image.layer.v1.tar";

/// Larger manifests and configurations are refused.
inline constexpr size_t kManifestBytesMax = 4 << 20;
/// An image with more layers cannot run: overlayfs and Docker take no more.
inline constexpr size_t kLayersMax = 127;

/// A kind of machine, such as "linux/arm64/v8".
struct Platform {
  std::string os;
  std::string architecture;
  std::string variant = {};

  std::string text() const;
  bool operator==(const Platform&) const = default;
};

/// The platform of this host, in the words of images: "linux/amd64".
Platform HostPlatform();
/// The same for a machine name of uname(2), such as "x86_64".
Platform PlatformOfMachine(std::string_view machine);

/// A blob that a manifest names.
struct Descriptor {
  Digest digest;
  std::string media_type = {};
  uint64_t size = 0;
  std::optional<Platform> platform = {};
  std::map<std::string, std::string> annotations = {};
};

/// A manifest or an index.
struct ImageManifest {
  std::string media_type;             // one of the four above
  std::optional<Descriptor> config;   // of a manifest
  std::vector<Descriptor> layers;     // of a manifest, lowest first
  std::vector<Descriptor> manifests;  // of an index
  std::optional<Digest> subject;      // the manifest that this one describes

  bool IsIndex() const { return !config.has_value(); }
  /// The blobs and manifests that it names, each once. The subject is not a part.
  std::vector<Digest> Parts() const;
};

/// Whether `media_type` is one of a manifest or an index.
bool IsManifestType(std::string_view media_type);
bool IsIndexType(std::string_view media_type);

/// Reads a manifest or an index. `media_type` is what its sender or its descriptor calls it, or ""
/// if nobody does. kInvalidArgument, with the reason "manifestInvalid", for anything else.
Result<ImageManifest> ParseManifest(std::string_view bytes, std::string_view media_type = "");

/// The member of the index for `host`. kFailedPrecondition, with the reason "otherPlatform", if
/// there is none; the text names the platforms that the image has.
Result<Descriptor> ChooseManifest(const ImageManifest& index, const Platform& host);

/// Whether the manifest is of an image that can run: its configuration and layers have known media
/// types, and there are not too many layers. Otherwise kFailedPrecondition, with the reason
/// "notAnImage".
Status CheckIsImage(const ImageManifest& manifest);

/// The parts of an image's configuration that matter when it runs.
struct ImageConfig {
  Platform platform;
  std::vector<std::string> entrypoint;
  std::vector<std::string> command;      // "Cmd"
  std::vector<std::string> environment;  // "NAME=value"
  std::string working_directory;         // "" for "/"
  std::string user;                      // "", "name", "1000", "1000:100"
  std::vector<Digest> diff_ids;          // of the unpacked layers, lowest first
};

/// kInvalidArgument, with the reason "configInvalid", if the text is not a configuration.
Result<ImageConfig> ParseImageConfig(std::string_view bytes);

/// The bytes of an OCI manifest for these parts. Equal parts give equal bytes.
std::string MakeManifest(const Descriptor& config, const std::vector<Descriptor>& layers);

}  // namespace caip::images
