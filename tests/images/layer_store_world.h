#pragma once
// What tests of the layer store share: a store that unpacks archives, and what a file there is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "images/layer_store.h"
#include "tests/images/tar_maker.h"

namespace caip::images {

/// Of the file itself, also if it is a link.
inline struct stat StatusOf(const Path& path) {
  struct stat status {};
  ::lstat(path.c_str(), &status);
  return status;
}

/// An extended attribute, or "" without one.
inline std::string AttributeOf(const Path& path, const char* name) {
  char value[256];
  const ssize_t size = ::lgetxattr(path.c_str(), name, value, sizeof value);
  return size < 0 ? "" : std::string(value, static_cast<size_t>(size));
}

/// True if the directory hides the one of lower layers.
inline bool IsOpaque(const Path& path) {
  return AttributeOf(path, "user.overlay.opaque") == "y" ||
         AttributeOf(path, "trusted.overlay.opaque") == "y";
}

/// A store in a directory of its own.
class LayerStoreTest : public testing::Test {
 protected:
  explicit LayerStoreTest(UnpackLimits limits = {}) {
    blobs_ = *BlobStore::Open(directory_.path());
    layers_ = *LayerStore::Open(directory_.path() / "layers", limits);
  }
  Result<UnpackedLayer> UnpackBytes(const std::string& tar, const std::string& filter = "") {
    return layers_->Unpack(*blobs_, *blobs_->Put(Compress(tar, filter)), Digest::Of(tar));
  }
  Result<UnpackedLayer> Unpack(const std::vector<TarMember>& members) {
    return UnpackBytes(MakeTar(members));
  }
  // The layer's directory, after a success.
  Path Root(const std::vector<TarMember>& members) {
    auto layer = Unpack(members);
    EXPECT_TRUE(layer.ok()) << layer.error().message;
    return layer.ok() ? layer->path : Path();
  }
  std::string ErrorOf(const std::vector<TarMember>& members) {
    const auto layer = Unpack(members);
    EXPECT_FALSE(layer.ok());
    EXPECT_THAT(FilesOfStore(), testing::IsEmpty()) << "a refused layer leaves nothing behind";
    return layer.ok() ? "" : layer.error().message;
  }
  std::vector<std::string> FilesOfStore() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path() / "layers")) {
      if (entry.path().extension() != ".lock") names.push_back(entry.path().filename());
    }
    return names;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<LayerStore> layers_;
};

}  // namespace caip::images
