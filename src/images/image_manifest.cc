#include "images/image_manifest.h"

#include <sys/utsname.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/json.h"
#include "base/quoting.h"
#include "base/text.h"
#include "images/errors.h"

namespace caip::images {
namespace {

constexpr size_t kIndexEntriesMax = 10'000;
constexpr size_t kListedLayersMax = 20'000;
constexpr long long kBlobBytesMax = 1LL << 50;

// A layer of these kinds is a tar archive, compressed or not: the first bytes say how.
constexpr std::string_view kLayerTypes[] = {
    kOciLayer,
    "application/vnd.oci.image.layer.v1.tar+gzip",
    "application/vnd.oci.image.layer.v1.tar+zstd",
    "application/vnd.oci.image.layer.nondistributable.v1.tar",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+zstd",
    "application/vnd.docker.image.rootfs.diff.tar",
    "application/vnd.docker.image.rootfs.diff.tar.gzip",
    "application/vnd.docker.image.rootfs.diff.tar.zstd",
    "application/vnd.docker.image.rootfs.foreign.diff.tar",
    "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
    "application/vnd.docker.image.rootfs.foreign.diff.tar.zstd",
};

Platform ReadPlatform(const Json& object) {
  return {StringOr(object, "os"), StringOr(object, "architecture"), StringOr(object, "variant")};
}

// `place` names the descriptor in messages: "layers[2]".
Result<Descriptor> ReadDescriptor(const Json& object, const std::string& place) {
  if (!object.is_object()) return errors::ManifestInvalid(place + " is not an object");
  const std::string text = StringOr(object, "digest");
  const auto digest = Digest::Parse(text);
  if (!digest.ok()) {
    return errors::ManifestInvalid(place + ".digest " + Quoted(text) + " is not a sha256 digest");
  }
  const long long size = IntOr(object, "size", -1);
  if (size < 0 || size > kBlobBytesMax) {
    return errors::ManifestInvalid(place + ".size is missing, or it is not a number of bytes");
  }
  Descriptor descriptor{*digest, StringOr(object, "mediaType"), static_cast<uint64_t>(size)};
  if (const Json* platform = Member(object, "platform"); platform && platform->is_object()) {
    descriptor.platform = ReadPlatform(*platform);
  }
  if (const Json* notes = Member(object, "annotations"); notes && notes->is_object()) {
    for (const auto& [name, value] : notes->items()) {
      if (value.is_string()) descriptor.annotations[name] = value.get<std::string>();
    }
  }
  return descriptor;
}

Result<std::vector<Descriptor>> ReadDescriptors(const Json& list, const std::string& place,
                                                size_t limit) {
  if (!list.is_array()) return errors::ManifestInvalid(place + " is not a list");
  if (list.size() > limit) {
    return errors::ManifestInvalid(place + " has " + std::to_string(list.size()) +
                                   " members; at most " + std::to_string(limit) + " are read");
  }
  std::vector<Descriptor> descriptors;
  for (size_t i = 0; i < list.size(); ++i) {
    ASSIGN_OR_RETURN(Descriptor descriptor,
                     ReadDescriptor(list[i], place + "[" + std::to_string(i) + "]"));
    descriptors.push_back(std::move(descriptor));
  }
  return descriptors;
}

// The document, the one who names it, and the form of the document must agree.
Result<std::string> ReadManifestType(const Json& document, std::string_view declared) {
  std::string type = StringOr(document, "mediaType");
  if (!type.empty() && !declared.empty() && type != declared) {
    return errors::ManifestInvalid("its mediaType is " + type + ", but it is named as " +
                                   std::string(declared));
  }
  if (type.empty()) type = declared;
  const bool has_manifests = Member(document, "manifests") != nullptr;
  const bool has_layers = Member(document, "config") || Member(document, "layers");
  if (has_manifests && has_layers) {
    return errors::ManifestInvalid("it has both manifests and layers");
  }
  if (type.empty()) type = has_manifests ? kOciIndex : kOciManifest;
  if (!IsManifestType(type)) return errors::ManifestTypeUnknown(type);
  if (IsIndexType(type) ? has_layers : has_manifests) {
    return errors::ManifestInvalid("its contents do not fit its media type " + type);
  }
  return type;
}

Result<std::vector<std::string>> ReadTexts(const Json& object, const char* name) {
  const Json* list = Member(object, name);
  std::vector<std::string> texts;
  if (list == nullptr || list->is_null()) return texts;
  if (!list->is_array()) return errors::ConfigInvalid(std::string(name) + " is not a list");
  for (const Json& text : *list) {
    if (!text.is_string()) {
      return errors::ConfigInvalid(std::string(name) + " has a member that is not a text");
    }
    texts.push_back(text.get<std::string>());
    if (texts.back().find('\0') != std::string::npos) {
      return errors::ConfigInvalid(std::string(name) + " has a text with a zero byte");
    }
  }
  return texts;
}

Result<std::string> ReadText(const Json& object, const char* name) {
  const Json* text = Member(object, name);
  if (text == nullptr || text->is_null()) return std::string();
  if (!text->is_string()) return errors::ConfigInvalid(std::string(name) + " is not a text");
  if (text->get<std::string>().find('\0') != std::string::npos) {
    return errors::ConfigInvalid(std::string(name) + " has a zero byte");
  }
  return text->get<std::string>();
}

Result<std::vector<Digest>> ReadDiffIds(const Json& document) {
  const Json* rootfs = Member(document, "rootfs");
  if (rootfs == nullptr || !rootfs->is_object()) return errors::ConfigInvalid("rootfs is missing");
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, ReadTexts(*rootfs, "diff_ids"));
  std::vector<Digest> diff_ids;
  for (const std::string& text : texts) {
    const auto digest = Digest::Parse(text);
    if (!digest.ok()) {
      return errors::ConfigInvalid("rootfs.diff_ids: " + Quoted(text) + " is not a sha256 digest");
    }
    diff_ids.push_back(*digest);
  }
  return diff_ids;
}

// Attestations have the platform unknown/unknown.
bool IsForMachines(const Descriptor& member) {
  return !member.platform || member.platform->os != "unknown";
}

Json DescriptorJson(const Descriptor& descriptor) {
  return {{"mediaType", descriptor.media_type},
          {"digest", descriptor.digest.text()},
          {"size", descriptor.size}};
}

}  // namespace

std::string Platform::text() const {
  std::string text = os + "/" + architecture;
  if (!variant.empty()) text += "/" + variant;
  return text;
}

Platform PlatformOfMachine(std::string_view machine) {
  struct Name {
    std::string_view machine;
    const char* architecture;
    const char* variant;
  };
  constexpr Name kNames[] = {
      {"x86_64", "amd64", ""},        {"aarch64", "arm64", "v8"}, {"armv7l", "arm", "v7"},
      {"armv6l", "arm", "v6"},        {"i686", "386", ""},        {"i386", "386", ""},
      {"ppc64le", "ppc64le", ""},     {"s390x", "s390x", ""},     {"riscv64", "riscv64", ""},
      {"loongarch64", "loong64", ""},
  };
  for (const Name& name : kNames) {
    if (name.machine == machine) return {"linux", name.architecture, name.variant};
  }
  return {"linux", std::string(machine)};
}

Platform HostPlatform() {
  struct utsname name {};
  ::uname(&name);
  return PlatformOfMachine(name.machine);
}

std::vector<Digest> ImageManifest::Parts() const {
  std::set<Digest> parts;
  if (config) parts.insert(config->digest);
  for (const Descriptor& layer : layers) parts.insert(layer.digest);
  for (const Descriptor& member : manifests) parts.insert(member.digest);
  return {parts.begin(), parts.end()};
}

bool IsIndexType(std::string_view media_type) {
  return media_type == kOciIndex || media_type == kDockerList;
}

bool IsManifestType(std::string_view media_type) {
  return media_type == kOciManifest || media_type == kDockerManifest || IsIndexType(media_type);
}

Result<ImageManifest> ParseManifest(std::string_view bytes, std::string_view media_type) {
  if (bytes.size() > kManifestBytesMax) return errors::ManifestTooLarge(bytes.size());
  const auto document = ParseJson(bytes);
  if (!document.ok()) return errors::ManifestInvalid(document.error().message);
  if (!document->is_object()) return errors::ManifestInvalid("it is not a JSON object");
  if (IntOr(*document, "schemaVersion", 2) == 1) return errors::ManifestSchemaOne();
  if (IntOr(*document, "schemaVersion", 0) != 2) {
    return errors::ManifestInvalid("its schemaVersion is not 2");
  }
  ImageManifest manifest;
  ASSIGN_OR_RETURN(manifest.media_type, ReadManifestType(*document, media_type));
  const Json empty = Json::array();
  if (IsIndexType(manifest.media_type)) {
    const Json* members = Member(*document, "manifests");
    ASSIGN_OR_RETURN(manifest.manifests,
                     ReadDescriptors(members ? *members : empty, "manifests", kIndexEntriesMax));
  } else {
    const Json* config = Member(*document, "config");
    if (config == nullptr) return errors::ManifestInvalid("config is missing");
    ASSIGN_OR_RETURN(manifest.config, ReadDescriptor(*config, "config"));
    const Json* layers = Member(*document, "layers");
    ASSIGN_OR_RETURN(manifest.layers,
                     ReadDescriptors(layers ? *layers : empty, "layers", kListedLayersMax));
  }
  if (const Json* subject = Member(*document, "subject"); subject && !subject->is_null()) {
    ASSIGN_OR_RETURN(const Descriptor described, ReadDescriptor(*subject, "subject"));
    manifest.subject = described.digest;
  }
  return manifest;
}

Result<Descriptor> ChooseManifest(const ImageManifest& index, const Platform& host) {
  const Descriptor* best = nullptr;
  int best_rank = 0;
  std::set<std::string> others;
  for (const Descriptor& member : index.manifests) {
    if (!IsForMachines(member) ||
        (!member.media_type.empty() && !IsManifestType(member.media_type)))
      continue;
    int rank = 1;  // without a platform, the configuration decides
    if (member.platform) {
      const Platform& platform = *member.platform;
      others.insert(platform.text());
      if (platform.os != host.os || platform.architecture != host.architecture) continue;
      rank = platform.variant == host.variant ? 4 : platform.variant.empty() ? 3 : 2;
    }
    if (rank <= best_rank) continue;
    best_rank = rank;
    best = &member;
  }
  if (best != nullptr) return *best;
  return errors::OtherPlatform({others.begin(), others.end()}, host.text());
}

Status CheckIsImage(const ImageManifest& manifest) {
  if (manifest.IsIndex()) return errors::NotAnImage("it is an index of other manifests");
  const std::string& type = manifest.config->media_type;
  if (type != kOciConfig && type != kDockerConfig) {
    return errors::NotAnImage("its configuration has the media type " + type);
  }
  if (manifest.layers.size() > kLayersMax) return errors::TooManyLayers(manifest.layers.size());
  for (const Descriptor& layer : manifest.layers) {
    if (std::find(std::begin(kLayerTypes), std::end(kLayerTypes), layer.media_type) ==
        std::end(kLayerTypes)) {
      return errors::NotAnImage("a layer has the media type " + layer.media_type);
    }
  }
  return Ok{};
}

Result<ImageConfig> ParseImageConfig(std::string_view bytes) {
  if (bytes.size() > kManifestBytesMax) return errors::ManifestTooLarge(bytes.size());
  const auto document = ParseJson(bytes);
  if (!document.ok()) return errors::ConfigInvalid(document.error().message);
  if (!document->is_object()) return errors::ConfigInvalid("it is not a JSON object");
  ImageConfig config;
  config.platform = ReadPlatform(*document);
  ASSIGN_OR_RETURN(config.diff_ids, ReadDiffIds(*document));
  const Json* run = Member(*document, "config");
  if (run == nullptr || run->is_null()) return config;
  if (!run->is_object()) return errors::ConfigInvalid("config is not an object");
  ASSIGN_OR_RETURN(config.entrypoint, ReadTexts(*run, "Entrypoint"));
  ASSIGN_OR_RETURN(config.command, ReadTexts(*run, "Cmd"));
  ASSIGN_OR_RETURN(config.environment, ReadTexts(*run, "Env"));
  for (const std::string& variable : config.environment) {
    if (variable.find('=') == std::string::npos || variable.starts_with('=')) {
      return errors::ConfigInvalid("Env has a member that is not NAME=value");
    }
  }
  ASSIGN_OR_RETURN(config.working_directory, ReadText(*run, "WorkingDir"));
  ASSIGN_OR_RETURN(config.user, ReadText(*run, "User"));
  return config;
}

std::string MakeManifest(const Descriptor& config, const std::vector<Descriptor>& layers) {
  Json document = {{"schemaVersion", 2},
                   {"mediaType", kOciManifest},
                   {"config", DescriptorJson(config)},
                   {"layers", Json::array()}};
  for (const Descriptor& layer : layers) document["layers"].push_back(DescriptorJson(layer));
  return CompactJson(document);
}

}  // namespace caip::images
