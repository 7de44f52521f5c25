#include "images/layer_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tests/images/layer_store_world.h"

namespace caip::images {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

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

}  // namespace
}  // namespace caip::images
