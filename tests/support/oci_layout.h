#pragma once
// Makes OCI image layouts (https://github.com/opencontainers/image-spec, "Image Layout") on disk,
// from directories, with tar.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"

namespace caip::testing {

/// A layout below a directory that is removed afterwards, with a single image.
class OciLayout {
 public:
  OciLayout() {
    EXPECT_TRUE(MakeDirectories(Directory() / "blobs/sha256").ok());
    EXPECT_TRUE(WriteFile(Directory() / "oci-layout", R"({"imageLayoutVersion":"1.0.0"})").ok());
  }
  Path Directory() const { return directory_.path() / "layout"; }

  /// Adds the files of a directory as the highest layer so far.
  void AddLayer(const Path& files) {
    const Path archive = directory_.path() / "layer.tar";
    const std::string tar = "tar --numeric-owner --owner=0 --group=0 -C '" + files.string() +
                            "' -cf '" + archive.string() + "' .";
    ASSERT_EQ(std::system(tar.c_str()), 0);
    AddArchive(archive);
  }

  /// Adds a tar archive as the highest layer so far.
  void AddArchive(const Path& archive) {
    const auto bytes = ReadFile(archive);
    ASSERT_TRUE(bytes.ok());
    Json layer = Put(*bytes, "application/vnd.oci.image.layer.v1.tar");
    diff_ids_.push_back(layer["digest"]);
    layers_.push_back(std::move(layer));
  }

  /// Completes the image. `config` has Entrypoint, Cmd, Env, WorkingDir, User.
  void Finish(const Json& config, const std::string& architecture = OwnArchitecture()) {
    const Json image = {{"architecture", architecture},
                        {"os", "linux"},
                        {"config", config},
                        {"rootfs", {{"type", "layers"}, {"diff_ids", diff_ids_}}}};
    const Json manifest = {
        {"schemaVersion", 2},
        {"mediaType", "application/vnd.oci.image.manifest.v1+json"},
        {"config", Put(image.dump(), "application/vnd.oci.image.config.v1+json")},
        {"layers", layers_}};
    const Json index = {
        {"schemaVersion", 2},
        {"manifests",
         Json::array({Put(manifest.dump(), "application/vnd.oci.image.manifest.v1+json")})}};
    ASSERT_TRUE(WriteFile(Directory() / "index.json", index.dump()).ok());
  }

  static std::string OwnArchitecture() {
#if defined(__aarch64__)
    return "arm64";
#else
    return "amd64";
#endif
  }

 private:
  Json Put(const std::string& bytes, const std::string& media_type) {
    const std::string hex = Sha256Hex(bytes);
    EXPECT_TRUE(WriteFile(Directory() / "blobs/sha256" / hex, bytes).ok());
    return {{"mediaType", media_type}, {"digest", "sha256:" + hex}, {"size", bytes.size()}};
  }

  TemporaryDirectory directory_{"caip-image-"};
  Json layers_ = Json::array();
  Json diff_ids_ = Json::array();
};

/// Writes a system of busybox with the commands of a shell into the directory.
inline void WriteBusybox(const Path& files) {
  ASSERT_TRUE(std::filesystem::exists("/bin/busybox")) << "scripts/setup installs busybox-static";
  ASSERT_TRUE(MakeDirectories(files / "bin").ok());
  ASSERT_TRUE(MakeDirectories(files / "etc").ok());
  std::filesystem::copy_file("/bin/busybox", files / "bin/busybox");
  for (const char* applet : {"sh", "cat", "ls", "pwd", "stat", "id", "env", "hostname", "touch",
                             "echo", "grep", "sleep", "wget", "nslookup", "true", "wc", "mkdir"}) {
    std::filesystem::create_symlink("busybox", files / "bin" / applet);
  }
  ASSERT_TRUE(
      WriteFile(files / "etc/passwd", "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/home:\n")
          .ok());
}

}  // namespace caip::testing
