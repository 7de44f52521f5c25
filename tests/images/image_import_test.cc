// Imports: every kind of source, the names of images, and which image of a source is taken.
#include "images/image_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/images/image_store_world.h"

namespace caip::images {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ImageStoreTest, ImportsAnImageFromEverySource) {
  ImagePlan plan = SmallImage();
  plan.filter = "";
  ImagePlan zstd = SmallImage();
  zstd.filter = "zstd";
  ImageFiles with_both = MakeLayout({SmallImage()});  // as docker writes it since version 25
  for (const auto& [name, bytes] : MakeSavedImage({SmallImage()})) with_both[name] = bytes;
  const struct {
    const char* what;
    std::string source;
  } cases[] = {
      {"a layout", WriteLayout(MakeLayout({SmallImage()}))},
      {"a layout, as skopeo calls it", "oci:" + WriteLayout(MakeLayout({SmallImage()})).string()},
      {"a layout with zstd", WriteLayout(MakeLayout({zstd}), "zstd")},
      {"an archive of a layout", WriteArchive(ArchiveOf(MakeLayout({SmallImage()})), "1")},
      {"one with ./", WriteArchive(ArchiveOf(MakeLayout({SmallImage()}), "", "./"), "2")},
      {"one in a folder", WriteArchive(ArchiveOf(MakeLayout({SmallImage()}), "", "dir/"), "3")},
      {"one with gzip", WriteArchive(ArchiveOf(MakeLayout({SmallImage()}), "gzip"), "4")},
      {"one with zstd", WriteArchive(ArchiveOf(MakeLayout({SmallImage()}), "zstd"), "5")},
      {"docker save", WriteArchive(ArchiveOf(MakeSavedImage({plan})), "6")},
      {"docker save, as skopeo calls it", "docker-archive:" + (directory_.path() / "6").string()},
      {"one with compressed layers", WriteArchive(ArchiveOf(MakeSavedImage({SmallImage()})), "7")},
      {"docker save since version 25", WriteArchive(ArchiveOf(with_both), "8")},
  };
  for (const auto& [what, source] : cases) {
    const auto imported = ImportFrom(source);
    ASSERT_TRUE(imported.ok()) << what << ": " << imported.error().message;
    ASSERT_EQ(imported->size(), 1u) << what;
    ASSERT_EQ(imported->front().names.size(), 1u) << what;
    EXPECT_EQ(imported->front().names.front().text(), "gcr.io/project/image:v1");
    const auto unpacked = store_->Unpack(imported->front().digest);
    ASSERT_TRUE(unpacked.ok()) << what << ": " << unpacked.error().message;
    ASSERT_EQ(unpacked->layers.size(), 2u);
    EXPECT_EQ(*ReadFile(unpacked->layers[0] / "base"), "1");
    EXPECT_EQ(*ReadFile(unpacked->layers[1] / "top"), "2");
    EXPECT_THAT(unpacked->config.entrypoint, ElementsAre("/bin/run"));
    EXPECT_EQ(unpacked->config.working_directory, "/work");
  }
  EXPECT_THAT(Names(), ElementsAre("gcr.io/project/image:v1"));
}

TEST_F(ImageStoreTest, ImportsFromAPipe) {
  const std::string archive = ArchiveOf(MakeSavedImage({SmallImage("busybox:1.36")}));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[1]);
    ::dup2(ends[0], STDIN_FILENO);
    ::_exit(store_->Import({"-"}).ok() ? 0 : 1);
  }
  ::close(ends[0]);
  EXPECT_TRUE(WriteAll(ends[1], archive));
  ::close(ends[1]);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(Names(), ElementsAre("busybox:1.36"));
}

// Docker before version 25 stores equal layers once.
TEST_F(ImageStoreTest, FollowsLinksBetweenLayersOfAnArchive) {
  const ImagePlan plan{{{{"a", "1"}}}, "busybox:1", ""};
  ImageFiles files = MakeSavedImage({plan});
  std::vector<TarMember> members;
  for (const auto& [name, bytes] : files) {
    if (!name.ends_with("layer.tar")) members.push_back({name, bytes});
    if (name.ends_with("layer.tar")) {
      members.push_back({"other/layer.tar", bytes});
      members.push_back(LinkMember(name, "../other/layer.tar"));
    }
  }
  const auto imported = ImportFrom(WriteArchive(MakeTar(members)));
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_TRUE(store_->Unpack(imported->front().digest).ok());
}

TEST_F(ImageStoreTest, NamesAnImageAsItIsTold) {
  const Path layout = WriteLayout(MakeLayout({SmallImage("latest")}));
  EXPECT_EQ(ImportFrom(layout).error().message,
            "The image in '" + layout.string() +
                "' has no name. Name it with --name gcr.io/PROJECT/IMAGE:TAG.");
  ASSERT_TRUE(ImportFrom(layout, "gcr.io/p/i").ok());
  EXPECT_THAT(Names(), ElementsAre("gcr.io/p/i:latest"));
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage("a.b/c:d")})), "gcr.io/p/i:2").ok());
  EXPECT_THAT(Names(), ElementsAre("gcr.io/p/i:2", "gcr.io/p/i:latest"));
  EXPECT_THAT(ImportFrom(layout, "gcr.io/p/i@" + Digest::Of("").text()).error().message,
              HasSubstr("The digest of an image cannot be chosen"));
}

TEST_F(ImageStoreTest, ChoosesOneOfSeveralImages) {
  ImagePlan second = SmallImage("two");
  second.layers.pop_back();
  const Path layout = WriteLayout(MakeLayout({SmallImage("one"), second}));
  EXPECT_EQ(
      ImportFrom(layout, "gcr.io/p/i").error().message,
      "'" + layout.string() + "' has several images: one, two. Choose one, as in oci:PATH:TAG.");
  ASSERT_TRUE(ImportFrom("oci:" + layout.string() + ":two", "gcr.io/p/i").ok());
  EXPECT_EQ(store_->Unpack(DigestOf("gcr.io/p/i"))->layers.size(), 1u);
  EXPECT_EQ(ImportFrom("oci:" + layout.string() + ":three", "gcr.io/p/i").error().message,
            "'" + layout.string() + "' has no image 'three'. It has one, two.");
}

TEST_F(ImageStoreTest, ImportsAllImagesOfAnArchive) {
  ImagePlan second = SmallImage("user/other:2");
  second.layers.pop_back();
  const Path archive = WriteArchive(ArchiveOf(MakeSavedImage({SmallImage("busybox:1"), second})));
  ASSERT_EQ(ImportFrom(archive)->size(), 2u);
  EXPECT_THAT(Names(), ElementsAre("busybox:1", "user/other:2"));
  EXPECT_TRUE(
      ImportFrom("docker-archive:" + archive.string() + ":user/other:2", "gcr.io/p/i").ok());
  EXPECT_EQ(DigestOf("gcr.io/p/i"), DigestOf("user/other:2"));
}

TEST_F(ImageStoreTest, TakesTheImageForThisHost) {
  ImagePlan foreign = SmallImage("");
  foreign.platform = kForeign;
  foreign.layers = {{{"foreign", "x"}}};
  ImageFiles files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"}};
  const Descriptor other = AddImage(files, foreign);
  const std::string index = IndexOf({other, AddImage(files, SmallImage(""))});
  Descriptor whole{AddBlob(files, index), kOciIndex, index.size()};
  whole.annotations["io.containerd.image.name"] = "gcr.io/p/multi:1";
  files["index.json"] = IndexOf({whole});
  ASSERT_TRUE(ImportFrom(WriteLayout(files)).ok());
  EXPECT_EQ(DigestOf("gcr.io/p/multi:1"), whole.digest) << "the name means the index";
  EXPECT_EQ(*ReadFile(store_->Unpack(whole.digest)->layers[0] / "base"), "1");
  EXPECT_TRUE(store_->blobs().Has(other.digest)) << "a registry serves it";
  EXPECT_TRUE(store_->names().FindManifest("gcr.io/p/multi", other.digest).ok());

  files.erase("blobs/sha256/" + Digest::Of(Compress(MakeTar(foreign.layers[0]), "gzip")).hex());
  Remove("gcr.io/p/multi:1");
  ASSERT_TRUE(ImportFrom(WriteLayout(files)).ok()) << "docker save leaves out other platforms";
  EXPECT_FALSE(store_->blobs().Has(other.digest));
  EXPECT_TRUE(store_->Unpack(whole.digest).ok());
}

TEST_F(ImageStoreTest, ALayoutMayBeOneImageForSeveralPlatforms) {
  ImagePlan foreign = SmallImage("");
  foreign.platform = kForeign;
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({foreign, SmallImage("")})), "gcr.io/p/i").ok());
  EXPECT_EQ(store_->List()->front().platform, HostPlatform());
}

TEST(ImageSource, ReadsTheWordsOfOtherTools) {
  TemporaryDirectory directory;
  const Path with_colon = directory.path() / "a:b";
  fs::create_directory(with_colon);
  const auto expect = [](const std::string& text, const Path& path, const std::string& tag) {
    const ImageSource source = ImageSource::Parse(text);
    EXPECT_EQ(source.path, path) << text;
    EXPECT_EQ(source.tag, tag) << text;
  };
  expect("-", "-", "");
  expect("image.tar", "image.tar", "");
  expect(with_colon, with_colon, "");
  expect("oci:" + with_colon.string(), with_colon, "");
  expect("oci:" + with_colon.string() + ":tag", with_colon, "tag");
  expect("oci-archive:" + with_colon.string() + ":gcr.io/p/i:tag", with_colon, "gcr.io/p/i:tag");
  expect("docker-archive:missing.tar:busybox:1", "missing.tar", "busybox:1");
  EXPECT_EQ(ImageSource::Parse("-").text(), "the standard input");
}

}  // namespace
}  // namespace caip::images
