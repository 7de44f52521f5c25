// Whiteouts of a layer, and the rights, owners and extended attributes that its files get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/images/layer_store_world.h"

namespace caip::images {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(LayerStoreTest, WhiteoutsHideFilesOfLowerLayers) {
  const Path root = Root({{"etc/.wh.gone", ""},
                          DirectoryMember("var"),
                          {"var/.wh..wh..opq", ""},
                          {"var/kept", "x"},
                          {".wh..wh.plnk", ""},
                          {".wh..wh.plnk/5.6", "aufs"}});
  const struct stat gone = StatusOf(root / "etc/gone");
  EXPECT_TRUE(S_ISCHR(gone.st_mode));
  EXPECT_EQ(gone.st_rdev, makedev(0, 0));
  EXPECT_TRUE(IsOpaque(root / "var"));
  EXPECT_FALSE(IsOpaque(root / "etc"));
  EXPECT_EQ(*ReadFile(root / "var/kept"), "x");
  EXPECT_FALSE(fs::exists(root / ".wh..wh.plnk"));
}

// OCI Image Format Specification, "Whiteouts": they concern lower layers only, in any order.
TEST_F(LayerStoreTest, WhiteoutsKeepFilesOfTheirOwnLayer) {
  const Path root = Root({{"file", "x"},
                          {".wh.file", ""},
                          {".wh.later", ""},
                          {"later", "y"},
                          {"before/file", "x"},
                          {".wh.before", ""},
                          {".wh.after", ""},
                          DirectoryMember("after"),
                          {".wh.implied", ""},
                          {"implied/file", "z"}});
  EXPECT_EQ(*ReadFile(root / "file"), "x");
  EXPECT_EQ(*ReadFile(root / "later"), "y");
  for (const char* directory : {"before", "after", "implied"}) {
    EXPECT_TRUE(fs::is_directory(root / directory)) << directory;
    EXPECT_TRUE(IsOpaque(root / directory)) << directory << " hides the one of lower layers";
  }
}

TEST_F(LayerStoreTest, RefusesWhiteoutsOfNothing) {
  for (const char* name : {".wh.", "a/.wh..", "a/.wh..."}) {
    EXPECT_THAT(ErrorOf({{name, ""}}), HasSubstr("it deletes no file")) << name;
  }
  EXPECT_THAT(ErrorOf({{"a/.wh.b/c", ""}}), HasSubstr("below a file that marks a deletion"));
}

TEST_F(LayerStoreTest, LeavesOutWhatCouldHarmTheHostAndSaysSo) {
  auto layer =
      Unpack({{"dev/null", "", '3'},
              {"dev/sda", "", '4'},
              {"bin/su", "x", '0', "", 04755},
              {"bin/wall", "x", '0', "", 02755},
              {"x", "x", '0', "", 0644, 0, 0, 0, {{"SCHILY.xattr.security.capability", "c"}}}});
  ASSERT_TRUE(layer.ok()) << layer.error().message;
  EXPECT_FALSE(fs::exists(layer->path / "dev/null"));
  EXPECT_EQ(StatusOf(layer->path / "bin/su").st_mode & 07777, 0755u);
  EXPECT_EQ(StatusOf(layer->path / "bin/wall").st_mode & 07777, 0755u);
  const std::vector<std::string> remarks = layer->remarks;
  EXPECT_THAT(remarks,
              ElementsAre("The image store left out device nodes, which an image does not need: 2 "
                          "files, the first is 'dev/null'.",
                          "The image store left out extended attributes, such as capabilities of "
                          "files: 1 file, 'x'.",
                          "The image store left out set-user-ID and set-group-ID bits of programs: "
                          "2 files, the first is 'bin/su'."));
  EXPECT_EQ(
      Unpack({{"dev/null", "", '3'},
              {"dev/sda", "", '4'},
              {"bin/su", "x", '0', "", 04755},
              {"bin/wall", "x", '0', "", 02755},
              {"x", "x", '0', "", 0644, 0, 0, 0, {{"SCHILY.xattr.security.capability", "c"}}}})
          ->remarks,
      remarks)
      << "also the second time";
}

TEST_F(LayerStoreTest, KeepsTheStickyBitAndInheritedGroupsOfDirectories) {
  const Path root = Root({DirectoryMember("tmp", 01777), DirectoryMember("mail", 02775)});
  EXPECT_EQ(StatusOf(root / "tmp").st_mode & 07777, 01777u);
  EXPECT_EQ(StatusOf(root / "mail").st_mode & 07777, 02775u);
}

TEST_F(LayerStoreTest, AnArchiveCannotSetAttributesOfTheOverlay) {
  const Path root = Root({{"d",
                           "",
                           '5',
                           "",
                           0755,
                           0,
                           0,
                           0,
                           {{"SCHILY.xattr.trusted.overlay.opaque", "y"},
                            {"SCHILY.xattr.trusted.overlay.redirect", "/etc"},
                            {"SCHILY.xattr.user.overlay.redirect", "/etc"},
                            {"SCHILY.xattr.user.mime", "text"}}}});
  EXPECT_FALSE(IsOpaque(root / "d"));
  EXPECT_EQ(AttributeOf(root / "d", "trusted.overlay.redirect"), "");
  EXPECT_EQ(AttributeOf(root / "d", "user.overlay.redirect"), "");
  EXPECT_EQ(AttributeOf(root / "d", "user.mime"), "text");
}

TEST_F(LayerStoreTest, KeepsOwnersWithRightsOverTheHost) {
  if (::geteuid() != 0) GTEST_SKIP() << "this user may not give files to others";
  const Path root = Root({{"file", "x", '0', "", 0600, 1000, 100},
                          {"dir", "", '5', "", 0700, 12, 34},
                          {"link", "", '2', "file", 0777, 5, 6},
                          {"big", "x", '0', "", 0600, 0, 0, 0, {{"uid", "4000000000"}}},
                          {"none", "x", '0', "", 0600, 0, 0, 0, {{"uid", "4294967295"}}}});
  EXPECT_EQ(StatusOf(root / "file").st_uid, 1000u);
  EXPECT_EQ(StatusOf(root / "file").st_gid, 100u);
  EXPECT_EQ(StatusOf(root / "dir").st_uid, 12u);
  EXPECT_EQ(StatusOf(root / "link").st_gid, 6u);
  EXPECT_EQ(StatusOf(root / "big").st_uid, 4'000'000'000u);
  EXPECT_EQ(StatusOf(root / "none").st_uid, 0u) << "it is not the number of a user";
}

}  // namespace
}  // namespace caip::images
