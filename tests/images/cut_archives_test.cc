// Compressed archives that lack their last bytes. libarchive has no text for some of the failures.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "images/archive_problem.h"
#include "images/image_store.h"
#include "tests/images/image_maker.h"

namespace caip::images {
namespace {

using testing::HasSubstr;

constexpr size_t kCutMax = 32;

class CutArchives : public testing::TestWithParam<const char*> {
 protected:
  CutArchives() {
    store_ = *ImageStore::Open(directory_.path() / "images");
    plan_.name = "gcr.io/project/image:v1";
  }
  // Calls `check` with the bytes without the last 1, 2, 3 ... of them.
  static void ForEachCut(const std::string& whole,
                         const std::function<void(const std::string& cut)>& check) {
    ASSERT_GT(whole.size(), kCutMax);
    for (size_t missing = 1; missing <= kCutMax; ++missing) {
      SCOPED_TRACE(std::to_string(missing) + " bytes are missing");
      check(whole.substr(0, whole.size() - missing));
    }
  }
  void ExpectWhole(const Digest& image) {
    const auto unpacked = store_->Unpack(image);
    ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
    EXPECT_EQ(*ReadFile(unpacked->layers.front() / "file"), "content");
  }

  TemporaryDirectory directory_;
  std::unique_ptr<ImageStore> store_;
  ImagePlan plan_{{{{"file", "content"}}}};
};

TEST_P(CutArchives, AreRefusedByAnImportOrAreWhole) {
  const Path file = directory_.path() / "image.tar";
  ForEachCut(ArchiveOf(MakeSavedImage({plan_}), GetParam()), [&](const std::string& cut) {
    ASSERT_TRUE(WriteFile(file, cut).ok());
    const auto imported = store_->Import({file});
    if (imported.ok()) return ExpectWhole(imported->front().digest);
    EXPECT_EQ(imported.error().code, Code::kDataLoss);
    EXPECT_EQ(imported.error().reason, "archiveBroken");
    EXPECT_THAT(imported.error().message, HasSubstr("The archive is damaged"));
  });
}

TEST_P(CutArchives, AreRefusedAsLayersOrAreWhole) {
  const std::string tar = MakeTar(plan_.layers.front());
  ForEachCut(Compress(tar, GetParam()), [&](const std::string& cut) {
    ASSERT_TRUE(store_->CollectGarbage().ok());  // a layer is unpacked once
    BlobStore& blobs = store_->blobs();
    const auto layer = store_->layers().Unpack(blobs, *blobs.Put(cut), Digest::Of(tar));
    if (!layer.ok()) {
      EXPECT_EQ(layer.error().reason, "archiveBroken") << layer.error().message;
      return;
    }
    EXPECT_EQ(*ReadFile(layer->path / "file"), "content");
  });
}

INSTANTIATE_TEST_SUITE_P(Filters, CutArchives, testing::Values("gzip", "xz", "bzip2", "zstd"),
                         [](const auto& filter) { return std::string(filter.param); });

// A layer that a client pushed or that an archive had, whose compressed data end too early.
TEST(CutLayers, MakeAnImageUnusableInWords) {
  TemporaryDirectory directory;
  const auto store = *ImageStore::Open(directory.path() / "images");
  const std::vector<TarMember> members = {{"file", "content"}};
  const std::string whole = Compress(MakeTar(members), "gzip");
  ImageFiles files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"}};
  const std::string cut = whole.substr(0, whole.size() - 4);
  const std::string config = ConfigOf({{members}});
  const std::string manifest =
      MakeManifest({AddBlob(files, config), kOciConfig, config.size()},
                   {{AddBlob(files, cut), std::string(kOciLayer) + "+gzip", cut.size()}});
  files["index.json"] = IndexOf({{AddBlob(files, manifest), kOciManifest, manifest.size()}});
  WriteFiles(directory.path() / "layout", files);
  const auto imported =
      store->Import({directory.path() / "layout"}, *ImageReference::Parse("gcr.io/p/i:1"));
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  const auto unpacked = store->Unpack(imported->front().digest);
  ASSERT_FALSE(unpacked.ok());
  EXPECT_THAT(unpacked.error().message,
              HasSubstr("Layer 1 of 1 cannot be unpacked: The archive is damaged, or it is not an "
                        "archive of an image: its compressed data are damaged or end too early."));
}

TEST(ArchiveProblem, HasATextWhereLibarchiveHasNone) {
  archive* reader = archive_read_new();
  EXPECT_EQ(ArchiveProblem(reader), kCompressionBroken);
  EXPECT_EQ(ArchiveProblem(reader, "other"), "other");
  archive_set_error(reader, 1, "%s", "known");
  EXPECT_EQ(ArchiveProblem(reader, "other"), "known");
  archive_read_free(reader);
}

}  // namespace
}  // namespace caip::images
