#include "images/image_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace caip::images {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

constexpr char kManifestType[] = "application/vnd.oci.image.manifest.v1+json";
constexpr char kRepository[] = "gcr.io/project/image";

std::vector<std::string> TagsIn(const std::vector<ImageName>& names) {
  std::vector<std::string> tags;
  for (const ImageName& name : names) tags.push_back(name.tag);
  return tags;
}

class ImageNamesTest : public testing::Test {
 protected:
  ImageNamesTest() { Reopen(); }
  void Reopen() {
    auto opened = ImageNames::Open(directory_.path() / "images/names.db");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    names_ = *std::move(opened);
  }
  void SetTag(const std::string& tag, const std::string& bytes) {
    ASSERT_TRUE(names_->Set(kRepository, tag, {Digest::Of(bytes), kManifestType}).ok());
  }

  TemporaryDirectory directory_;
  std::unique_ptr<ImageNames> names_;
};

TEST_F(ImageNamesTest, ATagMeansAManifest) {
  SetTag("latest", "a");
  const ImageName found = *names_->Find(kRepository, "latest");
  EXPECT_EQ(found.digest, Digest::Of("a"));
  EXPECT_EQ(found.media_type, kManifestType);
  SetTag("latest", "b");
  EXPECT_EQ(names_->Find(kRepository, "latest")->digest, Digest::Of("b"));
  EXPECT_EQ(names_->FindManifest(kRepository, Digest::Of("a"))->digest, Digest::Of("a"))
      << "a manifest stays without its tag";
}

TEST_F(ImageNamesTest, ManifestsMayHaveNoTag) {
  ASSERT_TRUE(names_->AddManifest(kRepository, {Digest::Of("a"), kManifestType}).ok());
  EXPECT_TRUE(names_->List(kRepository)->empty());
  EXPECT_EQ(names_->Manifests(kRepository)->size(), 1u);
  EXPECT_EQ(names_->FindManifest("gcr.io/other", Digest::Of("a")).error().reason,
            "manifestUnknown");
}

TEST_F(ImageNamesTest, ListsManifestsWithoutTags) {
  SetTag("latest", "a");
  EXPECT_TRUE(names_->ListUntagged()->empty());
  SetTag("latest", "b");
  ASSERT_TRUE(names_->Set("gcr.io/project/a", "1", {Digest::Of("a"), kManifestType}).ok());
  ASSERT_TRUE(names_->AddManifest("gcr.io/project/a", {Digest::Of("c"), kManifestType}).ok());
  const std::vector<ImageName> untagged = *names_->ListUntagged();
  ASSERT_EQ(untagged.size(), 2u) << "a tag in another repository does not count";
  EXPECT_EQ(untagged[0].text(), "gcr.io/project/a@" + Digest::Of("c").text());
  EXPECT_EQ(untagged[0].media_type, kManifestType);
  EXPECT_EQ(untagged[1].text(), "gcr.io/project/image@" + Digest::Of("a").text());
  EXPECT_EQ(names_->Find(kRepository, "latest")->text(), "gcr.io/project/image:latest");
}

TEST_F(ImageNamesTest, AManifestIsAddedWithAllItsTags) {
  ASSERT_TRUE(
      names_->AddManifest(kRepository, {Digest::Of("a"), kManifestType}, {"one", "two"}).ok());
  EXPECT_EQ(names_->Find(kRepository, "one")->digest, Digest::Of("a"));
  EXPECT_EQ(names_->Find(kRepository, "two")->digest, Digest::Of("a"));
  EXPECT_EQ(names_->Manifests(kRepository)->size(), 1u);
}

TEST_F(ImageNamesTest, AreListedInOrder) {
  SetTag("b", "1");
  SetTag("a", "2");
  SetTag("C", "3");
  EXPECT_THAT(TagsIn(*names_->List(kRepository)), ElementsAre("C", "a", "b"));
  ASSERT_TRUE(names_->Set("a/b", "z", {Digest::Of("4"), kManifestType}).ok());
  EXPECT_THAT(TagsIn(*names_->ListAll()), ElementsAre("z", "C", "a", "b"));
  EXPECT_TRUE(names_->List("none")->empty());
}

TEST_F(ImageNamesTest, AreRemoved) {
  SetTag("a", "1");
  ASSERT_TRUE(names_->Remove(kRepository, "a").ok());
  EXPECT_EQ(names_->Find(kRepository, "a").error().reason, "nameUnknown");
  EXPECT_EQ(names_->Remove(kRepository, "a").error().code, Code::kNotFound);
}

TEST_F(ImageNamesTest, ARemovedManifestTakesItsTags) {
  SetTag("a", "1");
  SetTag("b", "1");
  SetTag("c", "2");
  ASSERT_TRUE(names_->RemoveManifest(kRepository, Digest::Of("1")).ok());
  EXPECT_THAT(TagsIn(*names_->List(kRepository)), ElementsAre("c"));
  EXPECT_EQ(names_->RemoveManifest(kRepository, Digest::Of("1")).error().reason, "manifestUnknown");
}

TEST_F(ImageNamesTest, AManifestMayReferToAnother) {
  const Digest image = Digest::Of("image");
  ASSERT_TRUE(names_->AddManifest(kRepository, {Digest::Of("sign"), kManifestType, image}).ok());
  ASSERT_TRUE(names_->AddManifest(kRepository, {Digest::Of("other"), kManifestType}).ok());
  ASSERT_TRUE(names_->AddManifest("other", {Digest::Of("far"), kManifestType, image}).ok());
  const auto referrers = *names_->Referrers(kRepository, image);
  ASSERT_EQ(referrers.size(), 1u);
  EXPECT_EQ(referrers.front().digest, Digest::Of("sign"));
  EXPECT_EQ(referrers.front().subject, image);
}

TEST_F(ImageNamesTest, ABlobIsSeenByTheRepositoriesThatItIsLinkedTo) {
  const Digest blob = Digest::Of("blob");
  ASSERT_TRUE(names_->Link("a", blob).ok());
  ASSERT_TRUE(names_->Link("a", blob).ok()) << "a second time";
  EXPECT_TRUE(*names_->IsLinked("a", blob));
  EXPECT_FALSE(*names_->IsLinked("b", blob));
  EXPECT_THAT(*names_->Links("a"), ElementsAre(blob));
  EXPECT_THAT(*names_->Repositories(), ElementsAre("a"));
  ASSERT_TRUE(names_->Unlink("a", blob).ok());
  EXPECT_TRUE(names_->Unlink("a", blob).ok()) << "a second time";
  EXPECT_FALSE(*names_->IsLinked("a", blob));
}

TEST_F(ImageNamesTest, AnImageIsSetWithAllItHas) {
  const Digest blob = Digest::Of("blob");
  ASSERT_TRUE(
      names_
          ->SetImage(kRepository, "a",
                     {{Digest::Of("index"), kManifestType}, {Digest::Of("member"), kManifestType}},
                     {blob, blob})
          .ok());
  EXPECT_EQ(names_->Find(kRepository, "a")->digest, Digest::Of("index"));
  EXPECT_EQ(names_->Manifests(kRepository)->size(), 2u);
  EXPECT_THAT(*names_->Links(kRepository), ElementsAre(blob));
}

TEST_F(ImageNamesTest, KeepThePartsOfAManifestWhileARepositoryHasIt) {
  const Digest manifest = Digest::Of("manifest");
  const ManifestRecord record{manifest, kManifestType, {}, {Digest::Of("a"), Digest::Of("b")}};
  ASSERT_TRUE(names_->AddManifest("one", record).ok());
  ASSERT_TRUE(names_->SetImage("two", "tag", {record}, {}).ok());
  EXPECT_THAT(*names_->Parts(manifest), UnorderedElementsAreArray(record.parts));
  ASSERT_TRUE(names_->RemoveManifest("one", manifest).ok());
  Reopen();
  EXPECT_THAT(*names_->Parts(manifest), UnorderedElementsAreArray(record.parts));
  ASSERT_TRUE(names_->Forget("two", {manifest}, {}).ok());
  EXPECT_THAT(*names_->Parts(manifest), IsEmpty());
}

TEST_F(ImageNamesTest, ForgetManifestsWithTheirTagsAndLinks) {
  SetTag("a", "1");
  SetTag("b", "2");
  const Digest kept = Digest::Of("kept");
  const Digest gone = Digest::Of("gone");
  for (const Digest& blob : {kept, gone}) ASSERT_TRUE(names_->Link(kRepository, blob).ok());
  ASSERT_TRUE(names_->Link("other", gone).ok());
  ASSERT_TRUE(names_->Forget(kRepository, {Digest::Of("1"), Digest::Of("none")}, {gone}).ok());
  EXPECT_THAT(TagsIn(*names_->List(kRepository)), ElementsAre("b"));
  EXPECT_EQ(names_->Manifests(kRepository)->size(), 1u);
  EXPECT_THAT(*names_->Links(kRepository), ElementsAre(kept));
  EXPECT_TRUE(*names_->IsLinked("other", gone));
}

TEST_F(ImageNamesTest, FindManifestsWithoutParts) {
  const Digest manifest = Digest::Of("manifest");
  ASSERT_TRUE(names_->AddManifest("one", {manifest, kManifestType}).ok());
  ASSERT_TRUE(names_->AddManifest("two", {manifest, kManifestType}).ok());
  EXPECT_THAT(*names_->ManifestsWithoutParts(), ElementsAre(manifest));
  ASSERT_TRUE(names_->SetParts(manifest, {Digest::Of("a")}).ok());
  EXPECT_THAT(*names_->ManifestsWithoutParts(), IsEmpty());
  EXPECT_THAT(*names_->Parts(manifest), ElementsAre(Digest::Of("a")));
}

TEST_F(ImageNamesTest, AreKeptInTheFile) {
  SetTag("a", "1");
  Reopen();
  EXPECT_EQ(names_->Find(kRepository, "a")->digest, Digest::Of("1"));
}

TEST_F(ImageNamesTest, StoresOnOneFileSeeEachOther) {
  std::vector<std::thread> threads;
  const Path file = directory_.path() / "new/names.db";
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&file, i] {
      auto names = ImageNames::Open(file);
      ASSERT_TRUE(names.ok()) << names.error().message;
      for (int j = 0; j < 5; ++j) {
        const std::string tag = std::to_string(i) + "-" + std::to_string(j);
        const Status set = (*names)->Set(kRepository, tag, {Digest::Of(tag), kManifestType});
        EXPECT_TRUE(set.ok()) << set.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ((*ImageNames::Open(file))->List(kRepository)->size(), 30u);
}

TEST_F(ImageNamesTest, RefuseAForeignFileAndANewerOne) {
  const Path foreign = directory_.path() / "foreign.db";
  ASSERT_TRUE(WriteFile(foreign, std::string(4096, 'x')).ok());
  EXPECT_EQ(ImageNames::Open(foreign).error().code, Code::kDataLoss);
  const Path newer = directory_.path() / "newer.db";
  {
    SqliteDatabase database(newer, [](Code code, const Path&, std::string_view why) {
      return Error{code, std::string(why)};
    });
    ASSERT_TRUE(database.Open(SqliteDatabase::Mode::kCreate).ok());
    ASSERT_TRUE(database.Run("PRAGMA user_version = 99").ok());
  }
  const auto opened = ImageNames::Open(newer);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("A newer caip wrote them."), std::string::npos);
}

}  // namespace
}  // namespace caip::images
