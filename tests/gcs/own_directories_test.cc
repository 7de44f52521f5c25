// A person removes or moves the directories that the store keeps for itself among the buckets,
// while the store is in use. It makes them again, and follows no links that are in their place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

using ::testing::ElementsAre;

constexpr size_t kLargeBytes = 100'000;

class OwnDirectoriesTest : public ::testing::TestWithParam<bool> {
 protected:
  OwnDirectoriesTest() : world_(GetParam()) {
    Open({});
    EXPECT_TRUE(world_->CreateBucket("bkt").ok());
    world_.Put("a", "old");
  }

  void Open(std::function<void()> between_steps, Duration patience = TemporaryFiles::kPatience) {
    world_.Open({.root = world_.root(),
                 .durable = GetParam(),
                 .temporary_patience = patience,
                 .between_steps = std::move(between_steps)});
  }
  Path Temporary() const { return world_.root() / ".caip-tmp"; }
  Path Versions() const { return world_.root() / ".caip-versions"; }
  static bool IsPlainDirectory(const Path& path) {
    return std::filesystem::symlink_status(path).type() == std::filesystem::file_type::directory;
  }

  // Another directory of the host, to which a replica could make a link.
  Path Elsewhere() {
    const Path elsewhere = elsewhere_.path() / "files";
    std::filesystem::create_directories(elsewhere);
    return elsewhere;
  }
  void ReplaceByLink(const Path& own) {
    std::filesystem::remove_all(own);
    std::filesystem::create_directory_symlink(Elsewhere(), own);
  }

  void KeepVersions() {
    Bucket bucket = *world_->GetBucket("bkt");
    bucket.settings = R"({"versioning": {"enabled": true}})";
    EXPECT_TRUE(world_->UpdateBucket(bucket).ok());
  }
  // Replaces the object, and expects to find its earlier version.
  void ExpectVersionKept(std::string_view bytes) {
    const ObjectInfo before = *world_->GetObject("bkt", "a");
    world_.Put("a", bytes);
    const auto version = world_->OpenObject("bkt", "a", {.generation = before.generation});
    ASSERT_TRUE(version.ok()) << version.error().message;
    EXPECT_EQ((*version)->info().size, before.size);
    EXPECT_TRUE(IsPlainDirectory(Versions()));
    EXPECT_TRUE(std::filesystem::exists(Versions() / "bkt" / std::to_string(before.generation)));
  }

  TemporaryDirectory elsewhere_;
  StoreWorld world_;
};

TEST_P(OwnDirectoriesTest, MakesTheOneOfNewFilesAgain) {
  std::filesystem::remove_all(Temporary());
  world_.Put("small", "bytes");
  std::filesystem::remove_all(Temporary());
  world_.Put("large", std::string(kLargeBytes, 'x'));
  std::filesystem::remove_all(Temporary());
  const auto moved = world_->MoveObject("bkt", "small", "moved", {}, {});
  ASSERT_TRUE(moved.ok()) << moved.error().message;
  EXPECT_EQ(world_.Get("moved"), "bytes");
  EXPECT_THAT(world_.Names(), ElementsAre("a", "large", "moved"));
  EXPECT_TRUE(IsPlainDirectory(Temporary()));
  Open({});
  EXPECT_EQ(world_.Get("moved"), "bytes");
  EXPECT_EQ(world_.Get("large"), std::string(kLargeBytes, 'x'));
}

TEST_P(OwnDirectoriesTest, FollowsNoLinkInPlaceOfTheOneOfNewFiles) {
  size_t seen = 0;
  Open([&] { seen += FilesIn(Elsewhere()).size(); });
  ReplaceByLink(Temporary());
  world_.Put("small", "bytes");
  ReplaceByLink(Temporary());
  world_.Put("large", std::string(kLargeBytes, 'x'));
  ReplaceByLink(Temporary());
  EXPECT_TRUE(world_->MoveObject("bkt", "small", "moved", {}, {}).ok());
  EXPECT_EQ(seen + FilesIn(Elsewhere()).size(), 0u);
  EXPECT_TRUE(IsPlainDirectory(Temporary()));
  EXPECT_THAT(world_.Names(), ElementsAre("a", "large", "moved"));
}

// A replica sees the new directory, and could make links of directories in it.
TEST_P(OwnDirectoriesTest, MakesNoDirectoriesInTheNewOne) {
  size_t directories = 0;
  const auto look = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(Temporary())) {
      directories += entry.is_directory() ? 1 : 0;
    }
  };
  Open(look, Duration(0));  // each file in a directory of its own
  world_.Put("a", "first");
  EXPECT_GT(directories, 0u) << "the test means to have directories before";
  std::filesystem::remove_all(Temporary());
  directories = 0;
  for (const char* bytes : {"second", "third"}) world_.Put("a", bytes);
  EXPECT_EQ(directories, 0u);
  EXPECT_EQ(world_.Get("a"), "third");
}

// The client of an upload whose file was removed sends it again: it gets no 404.
TEST_P(OwnDirectoriesTest, AsksForTheBytesOfARemovedFileAgain) {
  for (const size_t size : {size_t{5}, kLargeBytes}) {
    auto writer = world_->NewObject("bkt", "a");
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->Append(std::string(size, 'n')).ok());
    std::filesystem::remove_all(Temporary());
    const auto refused = (*writer)->Commit({}, {}, std::nullopt, std::nullopt);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::kUnavailable) << refused.error().message;
    EXPECT_EQ(world_.Get("a"), "old");
  }
  Open({});
  EXPECT_EQ(world_.Get("a"), "old");
}

TEST_P(OwnDirectoriesTest, MakesTheOneOfVersionsAgain) {
  KeepVersions();
  ExpectVersionKept("first");
  std::filesystem::remove_all(Versions());
  ExpectVersionKept("second");
  Open({});
  ExpectVersionKept("third");
}

// Else the next start would not find the versions that are kept until then.
TEST_P(OwnDirectoriesTest, LeavesAMovedDirectoryOfVersions) {
  KeepVersions();
  ExpectVersionKept("first");
  const Path moved = elsewhere_.path() / "moved";
  std::filesystem::rename(Versions(), moved);
  const size_t before = FilesIn(moved).size();
  ExpectVersionKept("second");
  EXPECT_EQ(FilesIn(moved).size(), before);
}

TEST_P(OwnDirectoriesTest, FollowsNoLinkInPlaceOfTheOneOfVersions) {
  KeepVersions();
  ReplaceByLink(Versions());
  ExpectVersionKept("first");
  EXPECT_TRUE(FilesIn(Elsewhere()).empty());
}

INSTANTIATE_TEST_SUITE_P(Kinds, OwnDirectoriesTest, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "durable" : "relaxed"; });

}  // namespace
}  // namespace caip::gcs
