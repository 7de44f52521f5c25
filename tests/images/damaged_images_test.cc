// Images in the store whose files are damaged or missing: imports repair them, and removals work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/sqlite.h"
#include "base/text.h"
#include "tests/images/image_store_world.h"

namespace caip::images {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Each file of the image in the store, with other bytes of the same size and of another size.
TEST_F(ImageStoreTest, AnImportReplacesDamagedBlobs) {
  const ImageFiles files = MakeLayout({SmallImage()});
  ImageFiles saved = MakeSavedImage({SmallImage()});
  const std::string sources[] = {WriteLayout(files), WriteArchive(ArchiveOf(files), "layout.tar"),
                                 WriteArchive(ArchiveOf(saved), "saved.tar")};
  for (const std::string& source : sources) {
    ASSERT_TRUE(ImportFrom(source).ok());
    const std::vector<BlobInfo> blobs = *store_->blobs().List();
    for (const BlobInfo& blob : blobs) {
      const Path path = directory_.path() / "images/blobs/sha256" / blob.digest.hex();
      const std::string intact = *ReadFile(path);
      for (const std::string& damaged : {std::string(intact.size(), 'x'), intact + "x"}) {
        ASSERT_TRUE(WriteFile(path, damaged).ok());
        const auto imported = ImportFrom(source);
        ASSERT_TRUE(imported.ok()) << source << ": " << imported.error().message;
        EXPECT_EQ(*ReadFile(path), intact) << source;
      }
    }
    ASSERT_TRUE(store_->Unpack(DigestOf("gcr.io/project/image:v1")).ok()) << source;
    Remove("gcr.io/project/image:v1");
  }
}

// Damages the bytes of a manifest: others of the same size, fewer, none, and no file.
const std::vector<std::function<void(const Path&)>> kDamages = {
    [](const Path& file) {
      std::string bytes = *ReadFile(file);
      char& digit = bytes[bytes.find("sha256:") + 10];  // of a digest that it names
      digit = digit == '0' ? '1' : '0';
      EXPECT_TRUE(WriteFile(file, bytes).ok());
    },
    [](const Path& file) { EXPECT_TRUE(WriteFile(file, ReadFile(file)->substr(0, 20)).ok()); },
    [](const Path& file) { EXPECT_TRUE(WriteFile(file, "").ok()); },
    [](const Path& file) { EXPECT_TRUE(fs::remove(file)); },
};

TEST_F(ImageStoreTest, AnImageWithoutItsManifestIsRemovedWithItsBlobs) {
  const std::string name = "gcr.io/project/image:v1";
  ImagePlan other = SmallImage("gcr.io/other/image:v1");
  other.layers[1] = {{"other", "3"}};
  for (size_t i = 0; i < kDamages.size(); ++i) {
    ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage(), other}))).ok());
    const Digest pushed = *store_->blobs().Put("of a push that has no manifest yet");
    ASSERT_TRUE(store_->names().Link("gcr.io/project/image", pushed).ok());
    kDamages[i](BlobFile(DigestOf(name)));
    Remove(name);
    EXPECT_THAT(Names(), ElementsAre("gcr.io/other/image:v1")) << i;
    EXPECT_THAT(*store_->names().Links("gcr.io/project/image"), ElementsAre(pushed)) << i;
    EXPECT_EQ(store_->blobs().List()->size(), 5u) << i << ": four of the other image";
    EXPECT_TRUE(store_->Unpack(DigestOf("gcr.io/other/image:v1")).ok()) << i;
    Remove("gcr.io/other/image:v1");
    EXPECT_EQ(store_->blobs().List()->size(), 1u) << i;
  }
}

TEST_F(ImageStoreTest, AnImportRemovesAReplacedImageWithoutItsManifest) {
  const std::string name = "gcr.io/project/image:v1";
  for (size_t i = 0; i < kDamages.size(); ++i) {
    kDamages[i](BlobFile(ImportSmall(name, "one")));
    ImportSmall(name, "two");
    EXPECT_EQ(store_->blobs().List()->size(), 3u) << i << ": those of the second image";
  }
}

TEST_F(ImageStoreTest, AnIndexWithoutItsBytesTakesItsMembersWithIt) {
  ImageFiles files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"}};
  ImagePlan foreign = SmallImage("");
  foreign.platform = kForeign;
  const std::string index = IndexOf({AddImage(files, foreign), AddImage(files, SmallImage(""))});
  files["index.json"] = IndexOf({{AddBlob(files, index), kOciIndex, index.size()}});
  for (size_t i = 0; i < kDamages.size(); ++i) {
    const Digest digest = ImportFrom(WriteLayout(files), "gcr.io/p/i")->front().digest;
    kDamages[i](BlobFile(digest));
    EXPECT_THAT(Names(), ElementsAre("gcr.io/p/i:latest")) << i << ": not its members";
    Remove("gcr.io/p/i");
    EXPECT_THAT(*store_->names().Repositories(), IsEmpty()) << i;
    EXPECT_THAT(*store_->blobs().List(), IsEmpty()) << i;
  }
}

// The other image is damaged, too: it keeps its blobs until a new import repairs its manifest.
TEST_F(ImageStoreTest, ARemovalKeepsTheBlobsOfAnotherDamagedImage) {
  ImagePlan other = SmallImage("gcr.io/project/image:v2");
  other.layers[1] = {{"other", "3"}};
  const Path layout = WriteLayout(MakeLayout({SmallImage(), other}));
  ASSERT_TRUE(ImportFrom(layout).ok());
  ASSERT_TRUE(fs::remove(BlobFile(DigestOf("gcr.io/project/image:v2"))));
  EXPECT_EQ(Remove("gcr.io/project/image:v1").blobs, 3u);
  EXPECT_EQ(store_->blobs().List()->size(), 3u) << "its configuration and layers";
}

// The manifests of an earlier version have no parts in the table of names.
TEST_F(ImageStoreTest, ACollectionNotesThePartsOfEarlierImages) {
  const std::string name = "gcr.io/project/image:v1";
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage()}))).ok());
  {
    SqliteDatabase database(directory_.path() / "images/names.db",
                            [](Code code, const Path&, std::string_view why) {
                              return Error{code, std::string(why)};
                            });
    ASSERT_TRUE(database.Open(SqliteDatabase::Mode::kExisting).ok());
    ASSERT_TRUE(database.Run("DROP TABLE parts").ok());
  }
  store_ = *ImageStore::Open(directory_.path() / "images");
  EXPECT_THAT(*store_->names().Parts(DigestOf(name)), IsEmpty());
  EXPECT_EQ(store_->CollectGarbage()->blobs, 0u);
  EXPECT_EQ(store_->names().Parts(DigestOf(name))->size(), 3u);
  ASSERT_TRUE(fs::remove(BlobFile(DigestOf(name))));
  Remove(name);
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
}

TEST_F(ImageStoreTest, DoesNotRunAnImageWhoseConfigurationIsDamaged) {
  ImagePlan plan = SmallImage();
  plan.config = {{"Entrypoint", {"/bin/run"}}};
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({plan}))).ok());
  const Digest config = Digest::Of(ConfigOf(plan));
  ASSERT_TRUE(WriteFile(BlobFile(config), ReplaceAll(ConfigOf(plan), "/bin/run", "/bin/rux")).ok());
  const auto unpacked = store_->Unpack(DigestOf("gcr.io/project/image:v1"));
  ASSERT_FALSE(unpacked.ok());
  EXPECT_EQ(unpacked.error().reason, "digestMismatch") << unpacked.error().message;
  EXPECT_THAT(store_->List()->front().problem, HasSubstr("are damaged"));
}

// The store may have what a source leaves out, but only whole.
TEST_F(ImageStoreTest, ADamagedBlobDoesNotStandInForAMissingFile) {
  ImageFiles files = MakeLayout({SmallImage()});
  ASSERT_TRUE(ImportFrom(WriteLayout(files)).ok());
  const Digest layer = Digest::Of(Compress(MakeTar(SmallImage().layers[1]), "gzip"));
  files.erase("blobs/sha256/" + layer.hex());
  ASSERT_TRUE(ImportFrom(WriteLayout(files)).ok());
  const Path path = directory_.path() / "images/blobs/sha256" / layer.hex();
  for (const std::string& damaged : {std::string(ReadFile(path)->size(), 'x'), std::string("x")}) {
    ASSERT_TRUE(WriteFile(path, damaged).ok());
    const auto imported = ImportFrom(WriteLayout(files));
    ASSERT_FALSE(imported.ok());
    EXPECT_EQ(imported.error().reason, "blobMissing") << imported.error().message;
  }
}

}  // namespace
}  // namespace caip::images
