#include "images/image_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/images/image_store_world.h"

namespace caip::images {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ImageStoreTest, RefusesLayersThatAreNotTheOnesOfTheConfiguration) {
  ImageFiles files = MakeLayout({SmallImage()});
  ImagePlan other = SmallImage();
  other.layers[1] = {{"other", "x"}};
  const auto manifest = ParseManifest(
      files.at("blobs/sha256/" + ParseManifest(files.at("index.json"))->manifests[0].digest.hex()));
  const std::string config = ConfigOf(other);
  const std::string text =
      MakeManifest({AddBlob(files, config), kOciConfig, config.size()}, manifest->layers);
  files["index.json"] = IndexOf({{AddBlob(files, text), kOciManifest, text.size()}});
  ASSERT_TRUE(ImportFrom(WriteLayout(files), "gcr.io/p/i").ok());
  const auto unpacked = store_->Unpack(DigestOf("gcr.io/p/i"));
  ASSERT_FALSE(unpacked.ok());
  EXPECT_THAT(unpacked.error().message,
              HasSubstr("Layer 2 of 2 cannot be unpacked: A layer of the image is not the one"));
  EXPECT_EQ(unpacked.error().reason, "digestMismatch");
}

TEST_F(ImageStoreTest, AStackHasEachLayerOnce) {
  const std::vector<TarMember> a = {{"a", "1"}};
  const std::vector<TarMember> b = {{".wh.a", ""}};
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({{{a, b, a}}}))).ok());
  const auto unpacked = store_->Unpack(DigestOf("gcr.io/project/image:v1"));
  ASSERT_EQ(unpacked->layers.size(), 2u) << "overlayfs takes no directory twice";
  EXPECT_EQ(unpacked->layers[0].filename(), Digest::Of(MakeTar(b)).hex());
  EXPECT_EQ(unpacked->layers[1].filename(), Digest::Of(MakeTar(a)).hex());
}

TEST_F(ImageStoreTest, ResolvesTagsAndDigests) {
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage()}))).ok());
  const Digest digest = DigestOf("gcr.io/project/image:v1");
  EXPECT_EQ(DigestOf("gcr.io/project/image@" + digest.text()), digest);
  EXPECT_EQ(store_->Resolve(*ImageReference::Parse("gcr.io/project/image")).error().message,
            "The image store has no image 'gcr.io/project/image:latest'. Its repository has the "
            "tags v1.");
  EXPECT_EQ(store_->Resolve(*ImageReference::Parse("busybox")).error().message,
            "The image store has no image 'busybox:latest'.");
  EXPECT_EQ(store_->Resolve(*ImageReference::Parse("gcr.io/other@" + digest.text())).error().reason,
            "manifestUnknown");
}

TEST_F(ImageStoreTest, ListsImages) {
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage()}))).ok());
  const ListedImage image = store_->List()->front();
  EXPECT_EQ(image.platform, HostPlatform());
  EXPECT_EQ(image.layers, 2u);
  EXPECT_GT(image.bytes, 100u);
  EXPECT_FALSE(image.is_unpacked);
  ASSERT_TRUE(store_->Unpack(image.name.digest).ok());
  EXPECT_TRUE(store_->List()->front().is_unpacked);
  const std::vector<BlobInfo> blobs = *store_->blobs().List();
  for (const BlobInfo& blob : blobs) {
    ASSERT_TRUE(store_->blobs().Remove(blob.digest).ok());
  }
  EXPECT_THAT(store_->List()->front().problem, HasSubstr("has no blob"));
}

// Clients pull a pushed manifest by its digest after its tag means another one.
TEST_F(ImageStoreTest, ListsPushedImagesWithoutTagsByTheirDigests) {
  const std::string name = "gcr.io/project/image:v1";
  const Digest first = ImportSmall(name, "one");
  const Digest second = ImportSmall("gcr.io/project/image:other", "two");
  Push("v1", second);
  Remove("gcr.io/project/image:other");
  const std::string old_name = "gcr.io/project/image@" + first.text();
  EXPECT_THAT(Names(), ElementsAre(name, old_name));
  const ListedImage listed = store_->List()->back();
  EXPECT_EQ(listed.name.tag, "");
  EXPECT_EQ(listed.name.digest, first);
  EXPECT_EQ(listed.platform, HostPlatform());
  EXPECT_TRUE(store_->Unpack(first).ok());
  Remove(name);
  EXPECT_THAT(Names(), ElementsAre(old_name)) << "what is on the disk is listed";
  Remove(old_name);
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
}

TEST_F(ImageStoreTest, ImportsRemovalsAndUnpackingMayHappenAtOnce) {
  const Path layout = WriteLayout(MakeLayout({SmallImage()}));
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, &layout, &failures, i] {
      const auto store = *ImageStore::Open(directory_.path() / "images");  // as another process
      const auto name = *ImageReference::Parse("gcr.io/p/i" + std::to_string(i));
      for (int round = 0; round < 5; ++round) {
        const auto imported = store->Import({layout}, name);
        const auto unpacked = imported.ok() ? store->Unpack(imported->front().digest)
                                            : Result<UnpackedImage>(imported.error());
        const bool is_whole = unpacked.ok() && fs::exists(unpacked->layers[1] / "top");
        const auto removed = store->Remove(name);
        if (!is_whole || !removed.ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
  ASSERT_TRUE(store_->CollectGarbage().ok());
  for (const auto& entry : fs::directory_iterator(directory_.path() / "images/layers")) {
    ADD_FAILURE() << entry.path() << " is left";
  }
}

TEST_F(ImageStoreTest, IsClosedToOtherUsers) {
  EXPECT_EQ(fs::status(directory_.path() / "images").permissions(), fs::perms::owner_all);
}

}  // namespace
}  // namespace caip::images
