// An import under a name that means another image, which it replaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/images/image_store_world.h"

namespace caip::images {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(ImageStoreTest, AnImportRemovesTheImageThatItReplaces) {
  const std::string name = "gcr.io/project/image:v1";
  const Digest first = ImportSmall(name, "one");
  ASSERT_TRUE(store_->Unpack(first).ok());
  const Digest second = ImportSmall(name, "two");
  EXPECT_THAT(Names(), ElementsAre(name));
  EXPECT_EQ(store_->names().Manifests("gcr.io/project/image")->size(), 1u);
  EXPECT_EQ(store_->blobs().List()->size(), 3u) << "those of the second image";
  EXPECT_FALSE(store_->blobs().Has(first));
  EXPECT_EQ(store_->CollectGarbage()->layers, 0u) << "its layer is gone, too";
  EXPECT_TRUE(store_->Unpack(second).ok());
  ASSERT_TRUE(ImportFrom(directory_.path() / "layout").ok());
  EXPECT_THAT(Names(), ElementsAre(name)) << "the same image does not replace itself";
  EXPECT_EQ(Remove(name).blobs, 3u);
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
}

TEST_F(ImageStoreTest, AnImportOfAnArchiveRemovesTheImageThatItReplaces) {
  const std::string name = "gcr.io/project/image:v1";
  for (const char* bytes : {"one", "two"}) {
    const ImagePlan plan{{{{"file", bytes}}}, name};
    ASSERT_TRUE(ImportFrom(WriteArchive(ArchiveOf(MakeSavedImage({plan})))).ok());
  }
  EXPECT_THAT(Names(), ElementsAre(name));
  EXPECT_EQ(store_->blobs().List()->size(), 3u);
}

TEST_F(ImageStoreTest, AnImportKeepsAReplacedImageThatAnotherTagMeans) {
  const std::string name = "gcr.io/project/image:v1";
  const Digest first = ImportSmall(name, "one");
  ASSERT_TRUE(ImportFrom(directory_.path() / "layout", "gcr.io/project/image:old").ok());
  ASSERT_TRUE(ImportFrom(directory_.path() / "layout", "gcr.io/project/other:1").ok());
  ImportSmall(name, "two");
  EXPECT_EQ(DigestOf("gcr.io/project/image:old"), first);
  ASSERT_TRUE(ImportFrom(directory_.path() / "layout", "gcr.io/project/image:old").ok());
  EXPECT_THAT(Names(), ElementsAre("gcr.io/project/image:old", name, "gcr.io/project/other:1"));
  EXPECT_TRUE(store_->Unpack(first).ok()) << "another repository has it, too";
}

TEST_F(ImageStoreTest, AnImageThatAnIndexMeansStaysWithoutItsTag) {
  ImageFiles files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"}};
  const Descriptor member = AddImage(files, SmallImage(""));
  const std::string index = IndexOf({member});
  files["index.json"] = IndexOf({{AddBlob(files, index), kOciIndex, index.size()}});
  ASSERT_TRUE(ImportFrom(WriteLayout(files), "gcr.io/project/image:multi").ok());
  const auto has_member = [&] {
    return store_->names().FindManifest("gcr.io/project/image", member.digest).ok();
  };
  Push("v1", member.digest);
  ImportSmall("gcr.io/project/image:v1", "one");
  EXPECT_TRUE(has_member()) << "an import replaced its tag";
  EXPECT_THAT(Names(), ElementsAre("gcr.io/project/image:multi", "gcr.io/project/image:v1"));
  Push("v2", member.digest);
  EXPECT_EQ(Remove("gcr.io/project/image:v2").blobs, 0u);
  EXPECT_TRUE(has_member()) << "its tag was removed";
  Remove("gcr.io/project/image:multi");
  EXPECT_FALSE(has_member());
}

TEST_F(ImageStoreTest, AnImportKeepsAReplacedImageThatIsInUse) {
  const std::string name = "gcr.io/project/image:v1";
  const Digest first = ImportSmall(name, "one");
  const std::string old_name = "gcr.io/project/image@" + first.text();
  {
    const auto in_use = store_->Unpack(first);
    ASSERT_TRUE(in_use.ok());
    ImportSmall(name, "two");
    EXPECT_THAT(Names(), ElementsAre(name, old_name));
    EXPECT_EQ(DigestOf(old_name), first) << "another replica of the job may need it";
  }
  const RemovedFiles removed = Remove(old_name);
  EXPECT_EQ(removed.blobs, 3u);
  EXPECT_EQ(removed.layers, 1u);
  EXPECT_THAT(Names(), ElementsAre(name));
}

TEST_F(ImageStoreTest, AnImportDoesNotWaitForOthersToRemoveWhatItReplaces) {
  const std::string name = "gcr.io/project/image:v1";
  const Digest first = ImportSmall(name, "one");
  const auto other = store_->LockForAdding();
  ASSERT_TRUE(other.ok());
  ImportSmall(name, "two");
  EXPECT_THAT(Names(), ElementsAre(name, "gcr.io/project/image@" + first.text()));
}

}  // namespace
}  // namespace caip::images
