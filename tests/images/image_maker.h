#pragma once
// Images as files: an OCI layout, or what `docker save` writes. Tests damage single files.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "images/digest.h"
#include "images/image_manifest.h"
#include "tests/images/tar_maker.h"

namespace caip::images {

/// The files of a source by their paths.
using ImageFiles = std::map<std::string, std::string>;

/// An image to make.
struct ImagePlan {
  std::vector<std::vector<TarMember>> layers;
  std::string name = "gcr.io/project/image:v1";  // "" for none
  std::string filter = "gzip";                   // of the layers
  Platform platform = HostPlatform();
  Json config = Json::object();  // Entrypoint and so on
};

inline std::string ConfigOf(const ImagePlan& plan) {
  Json diff_ids = Json::array();
  for (const auto& layer : plan.layers) diff_ids.push_back(Digest::Of(MakeTar(layer)).text());
  return CompactJson({{"architecture", plan.platform.architecture},
                      {"os", plan.platform.os},
                      {"config", plan.config},
                      {"rootfs", {{"type", "layers"}, {"diff_ids", diff_ids}}}});
}

inline Digest AddBlob(ImageFiles& files, const std::string& bytes) {
  const Digest digest = Digest::Of(bytes);
  files["blobs/sha256/" + digest.hex()] = bytes;
  return digest;
}

/// Adds the blobs of an image; the descriptor of its manifest.
inline Descriptor AddImage(ImageFiles& files, const ImagePlan& plan) {
  const std::string config = ConfigOf(plan);
  std::vector<Descriptor> layers;
  for (const auto& layer : plan.layers) {
    const std::string bytes = Compress(MakeTar(layer), plan.filter);
    const std::string type =
        std::string(kOciLayer) + (plan.filter.empty() ? "" : "+" + plan.filter);
    layers.push_back({AddBlob(files, bytes), type, bytes.size()});
  }
  const std::string manifest =
      MakeManifest({AddBlob(files, config), kOciConfig, config.size()}, layers);
  Descriptor descriptor{AddBlob(files, manifest), kOciManifest, manifest.size()};
  descriptor.platform = plan.platform;
  if (!plan.name.empty()) descriptor.annotations["org.opencontainers.image.ref.name"] = plan.name;
  return descriptor;
}

inline std::string IndexOf(const std::vector<Descriptor>& members) {
  Json list = Json::array();
  for (const Descriptor& member : members) {
    Json object = {
        {"mediaType", member.media_type}, {"digest", member.digest.text()}, {"size", member.size}};
    if (member.platform) {
      object["platform"] = {{"os", member.platform->os},
                            {"architecture", member.platform->architecture}};
    }
    if (!member.annotations.empty()) object["annotations"] = member.annotations;
    list.push_back(object);
  }
  return CompactJson({{"schemaVersion", 2}, {"mediaType", kOciIndex}, {"manifests", list}});
}

inline ImageFiles MakeLayout(const std::vector<ImagePlan>& plans) {
  ImageFiles files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"}};
  std::vector<Descriptor> members;
  for (const ImagePlan& plan : plans) members.push_back(AddImage(files, plan));
  files["index.json"] = IndexOf(members);
  return files;
}

/// The form of `docker save` before version 25.
inline ImageFiles MakeSavedImage(const std::vector<ImagePlan>& plans) {
  ImageFiles files;
  Json images = Json::array();
  for (const ImagePlan& plan : plans) {
    const std::string config = ConfigOf(plan);
    const std::string config_name = Digest::Of(config).hex() + ".json";
    files[config_name] = config;
    Json layers = Json::array();
    for (const auto& layer : plan.layers) {
      const std::string name = Digest::Of(MakeTar(layer) + "id").hex() + "/layer.tar";
      files[name] = Compress(MakeTar(layer), plan.filter);
      layers.push_back(name);
    }
    Json image = {{"Config", config_name}, {"RepoTags", nullptr}, {"Layers", layers}};
    if (!plan.name.empty()) image["RepoTags"] = {plan.name};
    images.push_back(image);
  }
  files["manifest.json"] = CompactJson(images);
  files["repositories"] = "{}";
  return files;
}

inline std::string ArchiveOf(const ImageFiles& files, const std::string& filter = "",
                             const std::string& prefix = "") {
  std::vector<TarMember> members;
  for (const auto& [name, bytes] : files) members.push_back({prefix + name, bytes});
  return Compress(MakeTar(members), filter);
}

inline void WriteFiles(const Path& directory, const ImageFiles& files) {
  for (const auto& [name, bytes] : files) {
    std::filesystem::create_directories((directory / name).parent_path());
    [[maybe_unused]] const Status written = WriteFile(directory / name, bytes);
    assert(written.ok());
  }
}

}  // namespace caip::images
