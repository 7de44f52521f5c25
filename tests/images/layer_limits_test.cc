// Layers that cannot be unpacked: damaged archives, more than the limits, and a full disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/images/layer_store_world.h"

namespace caip::images {
namespace {

using testing::IsEmpty;

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

}  // namespace
}  // namespace caip::images
