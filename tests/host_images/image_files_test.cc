// The files of an image over its layers, and the users and groups that they name.

#include "host/images/image_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <climits>
#include <filesystem>

#include "host/images/image_user.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = ImageFiles::Kind;

/// Three layers, lowest first.
struct FilesOfLayers : ::testing::Test {
  static void Write(const TemporaryDirectory& layer, const std::string& path,
                    const std::string& text) {
    ASSERT_TRUE(MakeDirectories((layer.path() / path).parent_path()).ok());
    ASSERT_TRUE(WriteFile(layer.path() / path, text).ok());
  }
  static void Link(const TemporaryDirectory& layer, const std::string& path,
                   const std::string& target) {
    ASSERT_TRUE(MakeDirectories((layer.path() / path).parent_path()).ok());
    std::filesystem::create_symlink(target, layer.path() / path);
  }
  static void Delete(const TemporaryDirectory& layer, const std::string& path) {
    ASSERT_TRUE(MakeDirectories((layer.path() / path).parent_path()).ok());
    ASSERT_EQ(::mknod((layer.path() / path).c_str(), S_IFCHR, makedev(0, 0)), 0);
  }
  /// False if this file system has no such attributes.
  static bool MakeOpaque(const TemporaryDirectory& layer, const std::string& path) {
    const Path directory = layer.path() / path;
    EXPECT_TRUE(MakeDirectories(directory).ok());
    return ::setxattr(directory.c_str(), "user.overlay.opaque", "y", 1, 0) == 0 ||
           ::setxattr(directory.c_str(), "trusted.overlay.opaque", "y", 1, 0) == 0;
  }
  std::vector<Path> Layers() const { return {low.path(), middle.path(), top.path()}; }
  std::string Read(const std::string& path) const {
    return ImageFiles(Layers()).ReadHead(path, 1000);
  }
  Kind KindOf(const std::string& path) const { return ImageFiles(Layers()).KindOf(path); }
  Result<ImageUser> FindUser(const std::string& user) const {
    return FindImageUser(user, Layers());
  }

  TemporaryDirectory low{"caip-layer-"};
  TemporaryDirectory middle{"caip-layer-"};
  TemporaryDirectory top{"caip-layer-"};
};

TEST_F(FilesOfLayers, AreThoseOfTheHighestLayer) {
  Write(low, "etc/a", "low");
  Write(low, "etc/b", "low");
  Write(top, "etc/b", "top");
  EXPECT_EQ(Read("etc/a"), "low");
  EXPECT_EQ(Read("/etc//./b"), "top");
  EXPECT_EQ(ImageFiles(Layers()).ReadHead("etc/b", 2), "to");
  EXPECT_EQ(KindOf("etc"), Kind::kDirectory);
  EXPECT_EQ(KindOf("/"), Kind::kDirectory);
  EXPECT_EQ(KindOf("etc/b"), Kind::kFile);
  EXPECT_EQ(KindOf("etc/b/c"), Kind::kBelowFile);
  EXPECT_EQ(KindOf("etc/c"), Kind::kMissing);
  EXPECT_EQ(Read("etc"), "");
}

TEST_F(FilesOfLayers, HaveTheAttributesOfTheHighestDirectory) {
  Write(low, "a/b/file", "");
  Write(top, "a/b/other", "");
  Link(top, "link", "a");
  ASSERT_EQ(::chmod((low.path() / "a/b").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((top.path() / "a/b").c_str(), 0711), 0);
  const ImageFiles files(Layers());
  const auto found = files.StatusOfDirectory("/a/b");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->st_mode, mode_t{S_IFDIR | 0711});
  EXPECT_TRUE(files.StatusOfDirectory("/"));
  for (const char* path : {"/a/b/file", "/a/c", "/link", "/link/b"}) {
    EXPECT_FALSE(files.StatusOfDirectory(path)) << path;
  }
}

TEST_F(FilesOfLayers, AreFoundThroughLinksIntoOtherLayers) {
  Write(low, "nix/store/p", "of the store");
  Link(middle, "etc/p", "/nix/store/p");
  Link(top, "link", "etc");
  Link(top, "up/link", "../../../../etc/p");
  EXPECT_EQ(Read("etc/p"), "of the store");
  EXPECT_EQ(Read("link/p"), "of the store");
  EXPECT_EQ(Read("up/link"), "of the store");
  EXPECT_EQ(Read("link/../etc/p"), "of the store");
}

TEST_F(FilesOfLayers, AreGoneWhereAHigherLayerDeletedThem) {
  Write(low, "etc/p", "low");
  Write(low, "opt/sub/p", "low");
  Delete(middle, "etc");
  Delete(middle, "opt/sub");
  EXPECT_EQ(KindOf("etc"), Kind::kMissing);
  EXPECT_EQ(KindOf("etc/p"), Kind::kMissing);
  EXPECT_EQ(Read("opt/sub/p"), "");
  Write(top, "etc/q", "top");
  EXPECT_EQ(Read("etc/q"), "top");
  EXPECT_EQ(KindOf("etc/p"), Kind::kMissing) << "the lowest layer stays hidden";
}

TEST_F(FilesOfLayers, AreHiddenByAFileOrALinkInPlaceOfTheirDirectory) {
  Write(low, "etc/p", "low");
  Write(middle, "etc", "a file");
  EXPECT_EQ(KindOf("etc/p"), Kind::kBelowFile);
  Write(low, "lib/p", "low");
  Write(low, "usr/lib/p", "of usr");
  Link(top, "lib", "usr/lib");
  EXPECT_EQ(Read("lib/p"), "of usr");
}

TEST_F(FilesOfLayers, AreHiddenByAnOpaqueDirectory) {
  Write(low, "etc/p", "low");
  if (!MakeOpaque(middle, "etc")) GTEST_SKIP() << "no extended attributes here";
  Write(middle, "etc/q", "middle");
  EXPECT_EQ(KindOf("etc/p"), Kind::kMissing);
  EXPECT_EQ(Read("etc/q"), "middle");
}

TEST_F(FilesOfLayers, AreNeverThoseOfTheHost) {
  Link(low, "absolute", "/etc/passwd");
  Link(low, "relative", "../../../../../../etc/passwd");
  Link(low, "kernel", "/proc/self/root/etc/passwd");
  for (const char* path : {"absolute", "relative", "kernel", "../../etc/passwd"}) {
    EXPECT_EQ(KindOf(path), Kind::kMissing) << path;
    EXPECT_EQ(Read(path), "") << path;
  }
}

TEST_F(FilesOfLayers, EndWithTheirLinksAndNames) {
  Link(low, "circle", "circle");
  Link(low, "a/b", "../a/b/c");
  EXPECT_EQ(KindOf("circle"), Kind::kTooManyLinks);
  EXPECT_EQ(KindOf("a/b/c"), Kind::kTooManyLinks);
  EXPECT_EQ(KindOf("a/" + std::string(256, 'n')), Kind::kTooLong);
  EXPECT_EQ(KindOf(std::string(PATH_MAX, '/')), Kind::kTooLong);
  EXPECT_EQ(KindOf("a/" + std::string(255, 'n')), Kind::kMissing);
}

TEST_F(FilesOfLayers, DoNotWaitForAWriterOfAPipe) {
  ASSERT_EQ(::mkfifo((top.path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(KindOf("pipe"), Kind::kFile);
  EXPECT_EQ(Read("pipe"), "");
}

TEST_F(FilesOfLayers, NameTheUserThroughALinkIntoAnotherLayer) {
  Write(low, "nix/store/p", "svc:x:900:901::/srv:/bin/sh\n");
  Link(top, "etc/passwd", "/nix/store/p");
  EXPECT_EQ(FindUser("svc")->user, 900u);
  EXPECT_EQ(FindUser("svc")->home, "/srv");
}

TEST_F(FilesOfLayers, NameTheUserBelowALinkInPlaceOfTheDirectory) {
  Write(low, "etc/passwd", "app:x:1000:1000::/:/bin/sh\n");
  Write(middle, "usr/etc/passwd", "app:x:7:7::/:/bin/sh\n");
  Link(top, "etc", "usr/etc");
  EXPECT_EQ(FindUser("app")->user, 7u);
}

TEST_F(FilesOfLayers, NameNoUserThatAnOpaqueDirectoryHides) {
  Write(low, "etc/passwd", "app:x:1000:1000::/:/bin/sh\n");
  if (!MakeOpaque(top, "etc")) GTEST_SKIP() << "no extended attributes here";
  EXPECT_EQ(FindUser("app").error().code, Code::kNotFound);
}

/// With users and groups in one layer.
struct GroupsOfAUser : FilesOfLayers {
  void SetUp() override {
    Write(low, "etc/passwd",
          "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1001::/home/app:/bin/sh\n"
          "large:x:4294967295:0::/:/bin/sh\nmain:x:5:2147483648::/:/bin/sh\n"
          "2000:x:3000:3000::/:/bin/sh\n");
    Write(low, "etc/group",
          "root:x:0:\nwheel:x:10:root,app\nbin:x:1:root\napp:x:1001:app\ndata:x:2000:low,app\n"
          "twice:x:2000:app\nnone:x:77:apple\nhigh:x:2147483648:someone\nbroken:x:n:app\n");
  }
};

TEST_F(GroupsOfAUser, AreThoseThatHaveItAsAMember) {
  for (const char* user : {"app", "1000", "app:"}) {
    EXPECT_EQ(FindUser(user)->group, 1001u) << user;
    EXPECT_THAT(FindUser(user)->groups, ElementsAre(10, 2000)) << user;
  }
  EXPECT_THAT(FindUser("")->groups, ElementsAre(1, 10));
}

TEST_F(GroupsOfAUser, AreNoneIfTheImageNamesAGroup) {
  EXPECT_EQ(FindUser("app:data")->group, 2000u);
  EXPECT_THAT(FindUser("app:data")->groups, IsEmpty());
  EXPECT_THAT(FindUser("1000:1001")->groups, IsEmpty());
  EXPECT_THAT(FindUser("4711")->groups, IsEmpty()) << "no user of that ID has a name";
}

TEST_F(GroupsOfAUser, AreRefusedIfAProcessCannotHaveSoMany) {
  std::string table;
  for (int i = 1; i < NGROUPS_MAX; ++i) table += "g:x:" + std::to_string(9999 + i) + ":u\n";
  Write(top, "etc/passwd", "u:x:1:1::/:/bin/sh\n");
  Write(top, "etc/group", table);
  EXPECT_EQ(FindUser("u")->groups.size(), size_t{NGROUPS_MAX - 1});
  Write(top, "etc/group", table + "g:x:2:u\n");
  EXPECT_THAT(FindUser("u").error().message, HasSubstr("a process has at most 65536"));
}

TEST_F(GroupsOfAUser, HaveNoIdsThatMeanNoneToTheKernel) {
  for (const char* user : {"2147483648", "4294967295", "18446744073709551616", "large"}) {
    EXPECT_THAT(FindUser(user).error().message,
                HasSubstr("users and groups are at most 2147483647"))
        << user;
  }
  for (const char* user : {"app:2147483648", "1:4294967295", "app:high", "main"}) {
    EXPECT_THAT(FindUser(user).error().message, HasSubstr("of its group")) << user;
  }
  EXPECT_EQ(FindUser("2147483647:2147483647")->user, 2147483647u);
  EXPECT_EQ(FindUser("2147483647:2147483647")->group, 2147483647u);
}

TEST_F(GroupsOfAUser, AreThoseOfANumberEvenIfAUserHasThatName) {
  EXPECT_EQ(FindUser("2000")->user, 2000u);
  EXPECT_EQ(FindUser("3000")->group, 3000u);
}

}  // namespace
}  // namespace caip::host
