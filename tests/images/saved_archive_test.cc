// Images that leave the store for a container engine, and the members of an index.

#include "images/saved_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "images/image_store.h"
#include "tests/images/image_maker.h"

namespace caip::images {
namespace {

using testing::SizeIs;

class SavedArchiveTest : public testing::Test {
 protected:
  SavedArchiveTest() { store_ = *ImageStore::Open(directory_.path() / "images"); }

  Digest Import(const ImageFiles& files) {
    WriteFiles(directory_.path() / "layout", files);
    const auto imported =
        store_->Import({directory_.path() / "layout"}, *ImageReference::Parse("gcr.io/p/i:1"));
    EXPECT_TRUE(imported.ok()) << imported.error().message;
    return imported->front().digest;
  }
  static ImagePlan Plan(const std::string& contents) {
    return {{{{"a", contents}}, {{"b", "x"}}, {{"a", contents}}}, ""};
  }

  TemporaryDirectory directory_;
  std::unique_ptr<ImageStore> store_;
};

TEST_F(SavedArchiveTest, IsReadByTarAndByAnotherStore) {
  const Digest digest = Import(MakeLayout({Plan("one")}));
  const Path file = directory_.path() / "saved.tar";
  ASSERT_TRUE(store_->Export(digest, "localhost/caip:1", file).ok());
  EXPECT_EQ(std::system(("tar -tf '" + file.string() + "' > /dev/null").c_str()), 0);
  const auto other = *ImageStore::Open(directory_.path() / "other");
  const auto again = other->Import({file});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->front().names.front().text(), "localhost/caip:1");
  EXPECT_THAT(other->ReadConfig(again->front().digest)->diff_ids, SizeIs(3));
  EXPECT_THAT(other->Unpack(again->front().digest)->layers, SizeIs(2)) << "equal ones count once";
}

TEST_F(SavedArchiveTest, ReplacesNoFile) {
  const Digest digest = Import(MakeLayout({Plan("one")}));
  const Path file = directory_.path() / "saved.tar";
  ASSERT_TRUE(WriteFile(file, "mine").ok());
  EXPECT_FALSE(store_->Export(digest, "localhost/caip:1", file).ok());
  EXPECT_EQ(*ReadFile(file), "mine");
}

TEST_F(SavedArchiveTest, NeedsAnImageOfTheStore) {
  EXPECT_FALSE(
      store_->Export(Digest::Of("none"), "localhost/caip:1", directory_.path() / "f").ok());
}

TEST_F(SavedArchiveTest, ComesFromTheMemberOfAnIndexForThisHost) {
  ImagePlan foreign = Plan("foreign");
  foreign.platform = {"linux", "riscv64"};
  ImageFiles files = MakeLayout({foreign, Plan("own")});
  const std::string index = files["index.json"];
  const Digest digest = AddBlob(files, index);
  files["index.json"] = IndexOf({{digest, kOciIndex, index.size()}});
  ASSERT_EQ(Import(files), digest);
  ASSERT_TRUE(store_->Export(digest, "localhost/caip:1", directory_.path() / "saved.tar").ok());
  ImageFiles alone;
  EXPECT_TRUE(*store_->HasMember(digest, digest));
  EXPECT_TRUE(*store_->HasMember(digest, AddImage(alone, foreign).digest));
  EXPECT_FALSE(*store_->HasMember(digest, Digest::Of("another")));
  EXPECT_FALSE(store_->HasMember(Digest::Of("another"), digest).ok());
}

}  // namespace
}  // namespace caip::images
