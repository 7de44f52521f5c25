#pragma once
// What tests of the image store share: a small image, and a store with sources to import.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "images/image_store.h"
#include "tests/images/image_maker.h"

namespace caip::images {

/// A platform that is not the one of this host.
inline const Platform kForeign = HostPlatform().architecture == "s390x"
                                     ? Platform{"linux", "amd64"}
                                     : Platform{"linux", "s390x"};

/// Two layers: the upper one adds a file, and deletes one of the lower layer.
inline ImagePlan SmallImage(const std::string& name = "gcr.io/project/image:v1") {
  ImagePlan plan{{{{"base", "1"}, {"gone", "x"}}, {{"top", "2"}, {".wh.gone", ""}}}, name};
  plan.config = {{"Entrypoint", {"/bin/run"}}, {"Env", {"A=b"}}, {"WorkingDir", "/work"}};
  return plan;
}

/// The descriptor with the name that `SmallImage` has.
inline Descriptor Named(Descriptor descriptor) {
  descriptor.annotations["org.opencontainers.image.ref.name"] = "gcr.io/project/image:v1";
  return descriptor;
}

/// A store in a directory of its own.
class ImageStoreTest : public testing::Test {
 protected:
  ImageStoreTest() { store_ = *ImageStore::Open(directory_.path() / "images"); }

  Path WriteArchive(const std::string& bytes, const std::string& name = "image.tar") {
    EXPECT_TRUE(WriteFile(directory_.path() / name, bytes).ok());
    return directory_.path() / name;
  }
  Path WriteLayout(const ImageFiles& files, const std::string& name = "layout") {
    std::filesystem::remove_all(directory_.path() / name);
    WriteFiles(directory_.path() / name, files);
    return directory_.path() / name;
  }
  Result<std::vector<ImportedImage>> ImportFrom(const std::string& source,
                                                const std::string& name = "") {
    std::optional<ImageReference> reference;
    if (!name.empty()) reference = *ImageReference::Parse(name);
    return store_->Import(ImageSource::Parse(source), reference);
  }
  std::string ImportError(const ImageFiles& files) {
    const auto imported = ImportFrom(WriteLayout(files));
    EXPECT_FALSE(imported.ok());
    EXPECT_THAT(Names(), testing::IsEmpty()) << "no name is set";
    EXPECT_THAT(*store_->blobs().List(), testing::IsEmpty()) << "no blob is left";
    EXPECT_THAT(store_->blobs().Uploads(), testing::IsEmpty());
    return imported.ok() ? "" : imported.error().message;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const std::vector<ListedImage> images = *store_->List();
    for (const ListedImage& image : images) {
      names.push_back(image.name.text());
    }
    return names;
  }
  // An image of one layer with these bytes.
  Digest ImportSmall(const std::string& name, const std::string& bytes) {
    const auto imported = ImportFrom(WriteLayout(MakeLayout({{{{{"file", bytes}}}, name}})));
    EXPECT_TRUE(imported.ok()) << imported.error().message;
    return imported->front().digest;
  }
  // As a client pushes a manifest whose blobs the repository has.
  void Push(const std::string& tag, const Digest& manifest) {
    ASSERT_TRUE(
        store_->names().AddManifest("gcr.io/project/image", {manifest, kOciManifest}, {tag}).ok());
  }
  Digest DigestOf(const std::string& name) {
    return *store_->Resolve(*ImageReference::Parse(name));
  }
  Path BlobFile(const Digest& digest) const {
    return directory_.path() / "images/blobs/sha256" / digest.hex();
  }
  RemovedFiles Remove(const std::string& name) {
    const auto removed = store_->Remove(*ImageReference::Parse(name));
    EXPECT_TRUE(removed.ok()) << removed.error().message;
    return removed.ok() ? *removed : RemovedFiles{};
  }

  TemporaryDirectory directory_;
  std::unique_ptr<ImageStore> store_;
};

}  // namespace caip::images
