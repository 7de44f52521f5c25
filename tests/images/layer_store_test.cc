#include "images/layer_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>

#include "tests/images/tar_maker.h"

namespace caip::images {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct stat StatusOf(const Path& path) {
  struct stat status {};
  ::lstat(path.c_str(), &status);
  return status;
}

std::string AttributeOf(const Path& path, const char* name) {
  char value[256];
  const ssize_t size = ::lgetxattr(path.c_str(), name, value, sizeof value);
  return size < 0 ? "" : std::string(value, static_cast<size_t>(size));
}

bool IsOpaque(const Path& path) {
  return AttributeOf(path, "user.overlay.opaque") == "y" ||
         AttributeOf(path, "trusted.overlay.opaque") == "y";
}

class LayerStoreTest : public testing::Test {
 protected:
  explicit LayerStoreTest(UnpackLimits limits = {}) {
    blobs_ = *BlobStore::Open(directory_.path());
    layers_ = *LayerStore::Open(directory_.path() / "layers", limits);
  }
  Result<UnpackedLayer> UnpackBytes(const std::string& tar, const std::string& filter = "") {
    return layers_->Unpack(*blobs_, *blobs_->Put(Compress(tar, filter)), Digest::Of(tar));
  }
  Result<UnpackedLayer> Unpack(const std::vector<TarMember>& members) {
    return UnpackBytes(MakeTar(members));
  }
  // The layer's directory, after a success.
  Path Root(const std::vector<TarMember>& members) {
    auto layer = Unpack(members);
    EXPECT_TRUE(layer.ok()) << layer.error().message;
    return layer.ok() ? layer->path : Path();
  }
  std::string ErrorOf(const std::vector<TarMember>& members) {
    const auto layer = Unpack(members);
    EXPECT_FALSE(layer.ok());
    EXPECT_THAT(FilesOfStore(), IsEmpty()) << "a refused layer leaves nothing behind";
    return layer.ok() ? "" : layer.error().message;
  }
  std::vector<std::string> FilesOfStore() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path() / "layers")) {
      if (entry.path().extension() != ".lock") names.push_back(entry.path().filename());
    }
    return names;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<LayerStore> layers_;
};

TEST_F(LayerStoreTest, UnpacksFilesDirectoriesAndLinks) {
  const Path root = Root({DirectoryMember("./", 0711),
                          DirectoryMember("./etc/", 0750),
                          {"./etc/name", "hello", '0', "", 0640},
                          LinkMember("etc/link", "name"),
                          HardLinkMember("etc/hard", "./etc/name"),
                          {"etc/empty"},
                          {"etc/pipe", "", '6', "", 0600}});
  EXPECT_EQ(StatusOf(root).st_mode & 07777, 0711u);
  EXPECT_EQ(StatusOf(root / "etc").st_mode & 07777, 0750u);
  EXPECT_EQ(*ReadFile(root / "etc/name"), "hello");
  EXPECT_EQ(StatusOf(root / "etc/name").st_mode & 07777, 0640u);
  EXPECT_EQ(StatusOf(root / "etc/name").st_mtime, 1'600'000'000);
  EXPECT_EQ(StatusOf(root / "etc").st_mtime, 1'600'000'000) << "although files were added later";
  EXPECT_EQ(fs::read_symlink(root / "etc/link"), "name");
  EXPECT_EQ(StatusOf(root / "etc/hard").st_ino, StatusOf(root / "etc/name").st_ino);
  EXPECT_EQ(fs::file_size(root / "etc/empty"), 0u);
  EXPECT_TRUE(S_ISFIFO(StatusOf(root / "etc/pipe").st_mode));
}

TEST_F(LayerStoreTest, ReadsEveryCompressionInThisProcess) {
  for (const char* filter : {"", "gzip", "zstd", "xz", "bzip2"}) {
    const std::string bytes = std::string(3 << 20, 'x') + filter;
    const auto layer = UnpackBytes(MakeTar({{"file", bytes}}), filter);
    ASSERT_TRUE(layer.ok()) << filter << ": " << layer.error().message;
    EXPECT_EQ(*ReadFile(layer->path / "file"), bytes);
  }
}

// libarchive would run programs of the PATH for these.
TEST_F(LayerStoreTest, RefusesCompressionsThatNeedOtherPrograms) {
  const Path bin = directory_.path() / "bin";
  fs::create_directories(bin);
  for (const char* program : {"grzip", "lrzip", "lzop"}) {
    ASSERT_TRUE(WriteFile(bin / program, "#!/bin/sh\ntouch " + (bin / "ran").string()).ok());
    ::chmod((bin / program).c_str(), 0755);
  }
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (bin.string() + ":" + path).c_str(), 1);
  for (const std::string& magic :
       {std::string("GRZipII\0\x02\x04:)", 12), std::string("LRZI\0\x06", 6),
        std::string("\x89LZO\0\r\n\x1a\n", 9), std::string("begin 644 file\n")}) {
    const auto layer = UnpackBytes(magic + std::string(4096, '\0'));
    ASSERT_FALSE(layer.ok());
    EXPECT_EQ(layer.error().reason, "archiveBroken");
  }
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(fs::exists(bin / "ran"));
}

TEST_F(LayerStoreTest, StopsUnpackingAndLeavesNothing) {
  const std::string tar = MakeTar({{"file", std::string(1 << 20, 'x')}});
  const Digest diff_id = Digest::Of(tar);
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = layers_->Unpack(*blobs_, *blobs_->Put(tar), diff_id, stop.get_token());
  EXPECT_EQ(stopped.error().code, Code::kCancelled);
  EXPECT_FALSE(layers_->Has(diff_id));
  EXPECT_TRUE(UnpackBytes(tar).ok()) << "it is unpacked when it is wanted again";
}

TEST_F(LayerStoreTest, AnEmptyLayerHasNoFiles) {
  EXPECT_TRUE(fs::is_empty(Root({})));
  const auto nothing = UnpackBytes("");
  ASSERT_TRUE(nothing.ok()) << nothing.error().message;
  EXPECT_TRUE(fs::is_empty(nothing->path));
}

TEST_F(LayerStoreTest, KeepsNamesByteForByte) {
  const std::string composed = "caf\xc3\xa9";
  const std::string decomposed = "cafe\xcc\x81";
  const std::string latin1 = "caf\xe9";
  const std::string longer = "d/" + std::string(200, 'n');
  const Path root = Root({{composed, "1"},
                          {"x", "2", '0', "", 0644, 0, 0, 0, {{"path", decomposed}}},
                          {latin1, "3"},
                          {longer, "4"},
                          {"y", "", '2', "", 0777, 0, 0, 0, {{"linkpath", decomposed}}},
                          {"new\nline", "5"}});
  EXPECT_EQ(*ReadFile(root / composed), "1");
  EXPECT_EQ(*ReadFile(root / decomposed), "2");
  EXPECT_EQ(*ReadFile(root / latin1), "3");
  EXPECT_EQ(*ReadFile(root / longer), "4");
  EXPECT_EQ(fs::read_symlink(root / "y"), decomposed);
  EXPECT_EQ(*ReadFile(root / "new\nline"), "5");
}

TEST_F(LayerStoreTest, MakesParentsThatTheArchiveLeavesOut) {
  const Path root = Root({{"a/b/c", "x"}});
  EXPECT_EQ(*ReadFile(root / "a/b/c"), "x");
  EXPECT_EQ(StatusOf(root / "a/b").st_mode & 07777, 0755u);
}

TEST_F(LayerStoreTest, LaterEntriesReplaceEarlierOnes) {
  const Path root = Root({{"a", "1"},
                          {"a", "2"},
                          {"d/inner/file", "x"},
                          LinkMember("d", "elsewhere"),
                          LinkMember("l", "a"),
                          DirectoryMember("l"),
                          {"l/file", "y"},
                          DirectoryMember("kept"),
                          {"kept/file", "z"},
                          DirectoryMember("kept", 0700)});
  EXPECT_EQ(*ReadFile(root / "a"), "2");
  EXPECT_EQ(fs::read_symlink(root / "d"), "elsewhere");
  EXPECT_EQ(*ReadFile(root / "l/file"), "y");
  EXPECT_EQ(*ReadFile(root / "kept/file"), "z");
  EXPECT_EQ(StatusOf(root / "kept").st_mode & 07777, 0700u);
}

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

TEST_F(LayerStoreTest, RefusesDamagedArchives) {
  const std::string tar = MakeTar({{"a", std::string(100'000, 'a')}, {"b", "b"}});
  const auto refused = [this](const std::string& bytes, const std::string& reason) {
    const auto layer = layers_->Unpack(*blobs_, *blobs_->Put(bytes), Digest::Of("other"));
    ASSERT_FALSE(layer.ok());
    EXPECT_EQ(layer.error().reason, reason) << layer.error().message;
    EXPECT_EQ(layer.error().code, Code::kDataLoss);
    EXPECT_THAT(FilesOfStore(), IsEmpty());
  };
  refused(tar, "digestMismatch");
  refused(tar.substr(0, 50'000), "archiveBroken");
  refused(Compress(tar, "gzip").substr(0, 200), "archiveBroken");
  refused(Compress(tar, "zstd").substr(0, 40), "archiveBroken");
  refused("no archive at all", "archiveBroken");
  refused(std::string(4096, 'x'), "archiveBroken");
  std::string damaged = tar;
  damaged[10] = 'x';  // its checksum is wrong
  refused(damaged, "archiveBroken");
  std::string other = Compress(tar, "gzip");
  other[other.size() / 2] = static_cast<char>(~other[other.size() / 2]);
  refused(other, "archiveBroken");
}

TEST_F(LayerStoreTest, CountsBytesAfterTheEndOfTheArchive) {
  const std::string tar = MakeTar({{"a", "x"}}) + std::string(70'000, '\0') + "more";
  const auto layer = UnpackBytes(tar, "gzip");
  ASSERT_TRUE(layer.ok()) << layer.error().message;
}

TEST_F(LayerStoreTest, UnpacksALayerOnce) {
  const std::string tar = MakeTar({{"a", "x"}});
  const auto first = UnpackBytes(tar);
  ASSERT_TRUE(WriteFile(first->path / "mark", "").ok());
  const auto second = UnpackBytes(tar, "gzip");
  EXPECT_EQ(second->path, first->path);
  EXPECT_TRUE(fs::exists(second->path / "mark"));
}

TEST_F(LayerStoreTest, ManyThreadsMayUnpackTheSameLayer) {
  const std::string tar = MakeTar({{"a", std::string(1 << 20, 'x')}});
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, &tar, &done] { done += UnpackBytes(tar).ok(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 8);
}

TEST_F(LayerStoreTest, TwoProcessesMayUnpackTheSameLayer) {
  const std::string tar = MakeTar({{"a", std::string(1 << 20, 'x')}});
  const Digest blob = *blobs_->Put(tar);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    const auto layers = LayerStore::Open(directory_.path() / "layers");
    ::_exit((*layers)->Unpack(*blobs_, blob, Digest::Of(tar)).ok() ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(layers_->Has(Digest::Of(tar)));
}

TEST_F(LayerStoreTest, StartsAgainAfterAKilledProcess) {
  const std::string tar = MakeTar({{"a", "x"}});
  const Path partial = directory_.path() / "layers" / (Digest::Of(tar).hex() + ".partial");
  fs::create_directories(partial / "left/over");
  const auto layer = UnpackBytes(tar);
  ASSERT_TRUE(layer.ok()) << layer.error().message;
  EXPECT_FALSE(fs::exists(layer->path / "left"));
  EXPECT_FALSE(fs::exists(partial));
}

TEST_F(LayerStoreTest, RemovesLayersThatNobodyNeedsOrUses) {
  const std::string needed = MakeTar({{"needed", "x"}});
  const std::string used = MakeTar({{"used", "x"}});
  const std::string other = MakeTar({{"other/deep/file", "x"}});
  ASSERT_TRUE(UnpackBytes(needed).ok());
  ASSERT_TRUE(UnpackBytes(other).ok());
  fs::create_directories(directory_.path() / "layers" / (Digest::Of("killed").hex() + ".partial") /
                         "x");
  {
    const auto lease = UnpackBytes(used);
    EXPECT_EQ(*layers_->RemoveOthers({Digest::Of(needed)}), 1u);
    EXPECT_TRUE(layers_->Has(Digest::Of(needed)));
    EXPECT_TRUE(layers_->Has(Digest::Of(used)));
    EXPECT_FALSE(layers_->Has(Digest::Of(other)));
  }
  EXPECT_EQ(*layers_->RemoveOthers({Digest::Of(needed)}), 1u);
  EXPECT_FALSE(layers_->Has(Digest::Of(used)));
  EXPECT_THAT(FilesOfStore(),
              ElementsAre(Digest::Of(needed).hex(), Digest::Of(needed).hex() + ".remarks"));
}

// Compressed members may follow each other: the archive has ten million files in a few megabytes.
TEST_F(LayerStoreTest, RefusesTenMillionFiles) {
  std::string headers;
  for (int i = 0; i < 10'000; ++i) AppendTarHeader(headers, {"file", "", 'V'}, 0);
  const std::string member = Compress(headers, "gzip");
  std::string bytes;
  for (int i = 0; i < 1'000; ++i) bytes += member;
  const auto layer = layers_->Unpack(*blobs_, *blobs_->Put(bytes), Digest::Of("other"));
  ASSERT_FALSE(layer.ok());
  EXPECT_EQ(layer.error().message,
            "A layer of the image has more than 4000000 files, which is the limit.");
}

// As on a full disk: a file may not be longer than a limit.
TEST_F(LayerStoreTest, AFailedWriteLeavesNothingBehind) {
  const Digest blob = *blobs_->Put(MakeTar({{"a/file", std::string(100'000, 'x')}}));
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit {
      50'000, RLIM_INFINITY
    };
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto layer = layers_->Unpack(*blobs_, blob, blob);
    ::_exit(!layer.ok() &&
                    layer.error().message == "cannot unpack 'a/file' of the image: File too large"
                ? 0
                : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(FilesOfStore(), IsEmpty());
  EXPECT_TRUE(layers_->Unpack(*blobs_, blob, blob).ok()) << "when there is room again";
}

class SmallLayerStoreTest : public LayerStoreTest {
 protected:
  SmallLayerStoreTest() : LayerStoreTest({.bytes = 1 << 20, .entries = 100}) {}
};

TEST_F(SmallLayerStoreTest, RefusesMoreBytesAndFilesThanTheLimits) {
  const auto bomb = UnpackBytes(MakeTar({{"zeros", std::string(2 << 20, '\0')}}), "gzip");
  ASSERT_FALSE(bomb.ok());
  EXPECT_EQ(bomb.error().reason, "imageTooLarge");
  EXPECT_EQ(bomb.error().code, Code::kResourceExhausted);
  std::vector<TarMember> many;
  for (int i = 0; i < 101; ++i) many.push_back({"file-" + std::to_string(i)});
  EXPECT_EQ(ErrorOf(many), "A layer of the image has more than 100 files, which is the limit.");
  many.pop_back();
  EXPECT_TRUE(Unpack(many).ok());
  const auto sparse = Unpack({{"sparse",
                               "x",
                               '0',
                               "",
                               0644,
                               0,
                               0,
                               0,
                               {{"GNU.sparse.major", "0"},
                                {"GNU.sparse.minor", "1"},
                                {"GNU.sparse.size", "8000000000000"},
                                {"GNU.sparse.map", "0,1,7999999999999,0"}}}});
  ASSERT_FALSE(sparse.ok()) << "holes count, too";
  EXPECT_EQ(sparse.error().reason, "imageTooLarge") << sparse.error().message;
}

TEST_F(SmallLayerStoreTest, CountsDirectoriesThatNoEntryMakes) {
  const auto deep = [](std::string path) {
    for (int i = 0; i < 59; ++i) path += "/d";
    return path + "/file";
  };
  EXPECT_EQ(ErrorOf({{deep("a")}, {deep("b")}, {"last"}}),
            "A layer of the image has more than 100 files, which is the limit.");
  EXPECT_TRUE(Unpack({{deep("a")}, {"last"}}).ok());
  std::vector<TarMember> directories;
  std::string path = "d";
  for (int i = 0; i < 99; ++i, path += "/d") directories.push_back(DirectoryMember(path + "/"));
  const auto unpacked = Unpack(directories);
  EXPECT_TRUE(unpacked.ok()) << "a directory counts once: " << unpacked.error().message;
}

class ShortNamesLayerStoreTest : public LayerStoreTest {
 protected:
  ShortNamesLayerStoreTest() : LayerStoreTest({.directory_names = 1000}) {}
};

TEST_F(ShortNamesLayerStoreTest, RefusesLongNamesOfDirectories) {
  std::vector<TarMember> members;
  for (char c = 'a'; c <= 'l'; ++c) members.push_back(DirectoryMember(std::string(90, c)));
  EXPECT_EQ(ErrorOf(members),
            "The names of the directories in a layer of the image have more than 1000 bytes, which "
            "is the limit.");
  members.resize(11);
  EXPECT_TRUE(Unpack(members).ok());
  const std::vector<TarMember> same(20, DirectoryMember(std::string(90, 'a')));
  EXPECT_TRUE(Unpack(same).ok()) << "a directory is kept once";
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
