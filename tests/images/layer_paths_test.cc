// The paths of a layer's entries: links on the way, and paths that lead out of the image.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "tests/images/layer_store_world.h"

namespace caip::images {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// The links lead to a directory of this test, so that a broken LayerRoot does no harm.
TEST_F(LayerStoreTest, FollowsLinksOfParentsInsideOfTheLayer) {
  const Path outside = directory_.path() / "outside";
  fs::create_directory(outside);
  const std::string far = "../../../../../../../../../.." + outside.string();
  const Path root = Root({DirectoryMember("usr/lib"),
                          LinkMember("lib", "usr/lib"),
                          {"lib/relative", "1"},
                          LinkMember("absolute", outside.string()),
                          {"absolute/file", "2"},
                          LinkMember("up", far),
                          {"up/name", "3"},
                          LinkMember("usr/loop", "../lib/" + far),
                          {"usr/loop/top", "4"}});
  EXPECT_EQ(*ReadFile(root / "usr/lib/relative"), "1");
  EXPECT_TRUE(fs::is_empty(outside));
  const Path inside = root / outside.relative_path();
  EXPECT_EQ(*ReadFile(inside / "file"), "2");
  EXPECT_EQ(*ReadFile(inside / "name"), "3");
  EXPECT_EQ(*ReadFile(inside / "top"), "4");
}

TEST_F(LayerStoreTest, DoesNotFollowTheLinkThatAnEntryReplaces) {
  const Path outside = directory_.path() / "outside";
  const Path secret = outside / "secret";
  fs::create_directory(outside);
  ASSERT_TRUE(WriteFile(secret, "untouched").ok());
  ::chmod(secret.c_str(), 0600);
  ::chmod(outside.c_str(), 0700);
  const Path root = Root({LinkMember("file", secret.string()),
                          {"file", "x", '0', "", 0666},
                          LinkMember("directory", outside.string()),
                          DirectoryMember("directory", 0777),
                          LinkMember("link", secret.string()),
                          HardLinkMember("hard", "link"),
                          LinkMember("pipe", secret.string()),
                          {"pipe", "", '6'},
                          {"first", "1"},
                          HardLinkMember("second", "first"),
                          {"second", "2"}});
  EXPECT_EQ(*ReadFile(root / "file"), "x");
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(root / "directory")));
  EXPECT_EQ(fs::read_symlink(root / "hard"), secret);
  EXPECT_EQ(*ReadFile(root / "first"), "1") << "its hard link is replaced, not written";
  EXPECT_EQ(*ReadFile(secret), "untouched");
  EXPECT_EQ(StatusOf(secret).st_nlink, 1u);
  EXPECT_EQ(StatusOf(secret).st_mode & 07777, 0600u);
  EXPECT_EQ(StatusOf(outside).st_mode & 07777, 0700u);
}

TEST_F(LayerStoreTest, RefusesEntriesThatLeadOut) {
  EXPECT_EQ(ErrorOf({{"../escape", "x"}}),
            "The entry '../escape' leads out of the image. The image is refused.");
  EXPECT_THAT(ErrorOf({{"a/../../escape", "x"}}), HasSubstr("leads out of the image"));
  EXPECT_THAT(ErrorOf({DirectoryMember("..")}), HasSubstr("leads out of the image"));
  EXPECT_EQ(ErrorOf({HardLinkMember("a", "../../no/file")}),
            "The entry 'a' is a link to '../../no/file', which leads out of the image. The image "
            "is refused.");
  EXPECT_EQ(ErrorOf({HardLinkMember("a", "/no/file")}),
            "The entry 'a' is a hard link to '/no/file', which is not a file of its layer. The "
            "image is refused.");
  EXPECT_THAT(ErrorOf({LinkMember("l", "/"), HardLinkMember("a", "l/no/file")}),
              HasSubstr("which is not a file of its layer"));
  EXPECT_THAT(ErrorOf({{"", "x"}}), HasSubstr("would replace the root"));
  EXPECT_THAT(ErrorOf({LinkMember("./", "elsewhere")}), HasSubstr("would replace the root"));
  EXPECT_THAT(ErrorOf({LinkMember("a", "a"), {"a/file", "x"}}), HasSubstr("cannot unpack 'a"));
  EXPECT_THAT(ErrorOf({{"a", "x"}, {"a/file", "x"}}), HasSubstr("Not a directory"));
  EXPECT_THAT(ErrorOf({{std::string(256, 'n'), "x"}}), HasSubstr("File name too long"));
}

TEST_F(LayerStoreTest, AnAbsolutePathIsInsideOfTheLayer) {
  const Path root = Root({{"/no/file", "x"}, {"//tmp//file", "y"}});
  EXPECT_EQ(*ReadFile(root / "no/file"), "x");
  EXPECT_EQ(*ReadFile(root / "tmp/file"), "y");
}

// Each link leads to the next one, a thousand missing directories deep: the stack must not grow
// with all of them.
TEST_F(LayerStoreTest, MakesDeepTargetsOfLinksToLinks) {
  constexpr int kLinks = 38;  // the kernel follows forty
  std::string below;
  for (int i = 0; i < 1000; ++i) below += "/d";
  std::vector<TarMember> members;
  for (int i = 0; i < kLinks; ++i) {
    members.push_back(LinkMember("l" + std::to_string(i), "/l" + std::to_string(i + 1) + below));
  }
  members.push_back({"l0/file", "x"});
  const auto layer = Unpack(members);
  ASSERT_TRUE(layer.ok()) << layer.error().message.substr(0, 200);
  EXPECT_TRUE(fs::is_directory(layer->path / ("l" + std::to_string(kLinks)) / "d/d/d"));
}

TEST_F(LayerStoreTest, ShowsTheBeginningOfALongPath) {
  const std::string name(100'000, 'n');
  const std::string error = ErrorOf({{"../" + name}});
  EXPECT_THAT(error, HasSubstr("The entry '../nnn"));
  EXPECT_THAT(error, HasSubstr("n...' leads out of the image."));
  EXPECT_LT(error.size(), 1200u);
  TarMember device{name};
  device.type = '3';
  const auto layer = Unpack({device});
  ASSERT_TRUE(layer.ok()) << layer.error().message;
  ASSERT_EQ(layer->remarks.size(), 1u);
  EXPECT_THAT(layer->remarks[0], HasSubstr("device nodes, which an image does not need: 1 file"));
  EXPECT_LT(layer->remarks[0].size(), 1200u);
}

}  // namespace
}  // namespace caip::images
