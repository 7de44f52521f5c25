// Images in files and directories of this host that a setting maps a name to.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/images/local_images.h"
#include "host/process/image_map.h"
#include "images/image_store.h"
#include "tests/images/image_maker.h"

namespace caip::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMappedName[] = "gcr.io/p/two";

images::ImagePlan PlanNamed(const std::string& contents, const std::string& name) {
  return {{{{"program", contents}}}, name};
}

struct MappedImages : ::testing::Test {
  /// A layout with the tags v1 and v2.
  Path WriteTwo(const std::string& directory) const {
    const Path path = files.path() / directory;
    images::WriteFiles(path, images::MakeLayout({PlanNamed("1", "v1"), PlanNamed("2", "v2")}));
    return path;
  }
  Path WriteArchive(const std::string& name, const images::ImageFiles& members) const {
    EXPECT_TRUE(WriteFile(files.path() / name, images::ArchiveOf(members)).ok());
    return files.path() / name;
  }
  /// The text of the image's only file, or why it cannot be used.
  std::string ProgramOf(const std::string& entry) {
    const auto location = ImageLocation({entry});
    if (!location) return entry + " is a command";
    const auto image = images.Provide(kMappedName, *location, [](auto, const auto&) {}, {});
    if (!image.ok()) return image.error().message;
    return *ReadFile(Path(image->layers.front()) / "program");
  }

  TemporaryDirectory files{"caip-mapped-"};
  TemporaryDirectory state{"caip-state-"};
  LocalImages images{{.state = state.path(),
                      .store = state.path() / "images",
                      .own_environment = {{"PATH", "/none"}}}};
};

TEST_F(MappedImages, AreChosenByTheirTag) {
  const std::string layout = WriteTwo("two").string();
  EXPECT_EQ(ProgramOf("oci:" + layout + ":v1"), "1");
  EXPECT_EQ(ProgramOf("oci:" + layout + ":v2"), "2");
  EXPECT_THAT(ProgramOf("oci:" + layout), HasSubstr("Choose one, as in oci:PATH:TAG."));
  EXPECT_THAT(ProgramOf("oci:" + layout + ":v3"), HasSubstr("has no image 'v3'. It has v1, v2."));
}

TEST_F(MappedImages, AreReadFromPathsWithBlanksAndColons) {
  EXPECT_EQ(ProgramOf("oci:" + WriteTwo("sp ace").string() + ":v2"), "2");
  EXPECT_EQ(ProgramOf("oci:" + WriteTwo("with:v1").string() + ":v2"), "2");
}

// Each file of the image in the store: missing, and shorter.
TEST_F(MappedImages, AreReadAgainWhereTheStoreHasLostTheirBytes) {
  const std::string entry =
      "oci-archive:" +
      WriteArchive("one.tar", images::MakeLayout({PlanNamed("1", "gcr.io/p/i:v1")})).string();
  ASSERT_EQ(ProgramOf(entry), "1");
  const Path store = state.path() / "images";
  std::vector<Path> blobs;
  for (const auto& blob : std::filesystem::directory_iterator(store / "blobs/sha256")) {
    blobs.push_back(blob.path());
  }
  EXPECT_EQ(blobs.size(), 3u) << "a manifest, a configuration, a layer";
  for (const Path& blob : blobs) {
    const std::string intact = *ReadFile(blob);
    for (const bool is_removed : {true, false}) {
      if (is_removed) {
        std::filesystem::remove(blob);
      } else {
        ASSERT_TRUE(WriteFile(blob, "x").ok());
      }
      EXPECT_EQ(ProgramOf(entry), "1");
      EXPECT_EQ(*ReadFile(blob), intact);
    }
  }
}

TEST_F(MappedImages, AreReadFromEverySourceOfAnImport) {
  const Path layout =
      WriteArchive("oci.tar", images::MakeLayout({PlanNamed("1", "v1"), PlanNamed("2", "v2")}));
  EXPECT_EQ(ProgramOf("oci-archive:" + layout.string() + ":v2"), "2");
  EXPECT_EQ(ProgramOf("oci:" + layout.string() + ":v1"), "1");
  const Path saved = WriteArchive(
      "saved.tar", images::MakeSavedImage({PlanNamed("1", "i:v1"), PlanNamed("2", "i:v2")}));
  EXPECT_EQ(ProgramOf("docker-archive:" + saved.string() + ":i:v2"), "2");
}

TEST_F(MappedImages, ThatAreMissingAreReportedWithAdviceAboutMappings) {
  const std::string place = (files.path() / "none.tar").string();
  EXPECT_THAT(ProgramOf("oci:" + place + ":v1"),
              AllOf(HasSubstr("The image 'gcr.io/p/two' cannot run: It is mapped to '" + place +
                              "', which cannot be read: No such file or directory. "),
                    HasSubstr("caip images map URI=oci:PATH"), Not(HasSubstr("standard input"))));
}

}  // namespace
}  // namespace caip::host
