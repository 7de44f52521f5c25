// A bucket keeps a version of an object before the object is removed. The process is killed in
// between, or the removal fails: the object is live, and must not be among the versions as well.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>

#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

constexpr int kRemovalStepsMax = 20;
constexpr size_t kLargeObjectBytes = 100'000;

/// Removes the live object "a".
struct Removal {
  const char* name;
  std::function<Status(StoreWorld&)> remove;
};

Status PutBytes(StoreWorld& world, size_t size) {
  const auto put = world.TryPut("a", std::string(size, 'n'));
  return put.ok() ? Status(Ok{}) : Status(put.error());
}

Status PutAsUpload(StoreWorld& world) {
  ASSIGN_OR_RETURN(const auto writer, world->ResumeObject("bkt", "a", "abc123"));
  RETURN_IF_ERROR(writer->Append("uploaded"));
  RETURN_IF_ERROR(writer->Commit({}, {}, std::nullopt, std::nullopt));
  return Ok{};
}

Status MoveObjectTo(StoreWorld& world, const std::string& from, const std::string& to) {
  const auto moved = world->MoveObject("bkt", from, to, {}, {});
  return moved.ok() ? Status(Ok{}) : Status(moved.error());
}

const Removal kRemovals[] = {
    {"small object", [](StoreWorld& world) { return PutBytes(world, 3); }},
    {"large object", [](StoreWorld& world) { return PutBytes(world, kLargeObjectBytes); }},
    {"upload", PutAsUpload},
    {"deletion", [](StoreWorld& world) { return world.Delete("a"); }},
    {"move away", [](StoreWorld& world) { return MoveObjectTo(world, "a", "b"); }},
    {"move over it", [](StoreWorld& world) { return MoveObjectTo(world, "c", "a"); }},
};

class InterruptedRemovalTest : public ::testing::TestWithParam<bool> {
 protected:
  InterruptedRemovalTest() {
    EXPECT_TRUE(world_->CreateBucket("bkt").ok());
    Bucket bucket = *world_->GetBucket("bkt");
    bucket.settings = is_soft() ? R"({"softDeletePolicy":{"retentionDurationSeconds":"3600"}})"
                                : R"({"versioning":{"enabled":true}})";
    EXPECT_TRUE(world_->UpdateBucket(bucket).ok());
  }
  // The bucket keeps deleted objects, or noncurrent versions.
  static bool is_soft() { return GetParam(); }

  void Reopen(std::function<void()> between_steps = {}) {
    world_.Open({.root = world_.root(), .between_steps = std::move(between_steps)});
  }
  bool IsLive(int64_t generation) {
    const auto live = world_->GetObject("bkt", "a");
    return live.ok() && live->generation == generation;
  }
  bool IsKept(int64_t generation) {
    const auto listed = world_->List("bkt", {.versions = !is_soft(), .soft_deleted = is_soft()});
    EXPECT_TRUE(listed.ok());
    for (const ObjectInfo& item : listed->items) {
      const bool is_live = !item.time_deleted && !item.hard_delete_time;
      if (item.name == "a" && item.generation == generation && !is_live) return true;
    }
    return false;
  }
  // The listing of versions shows the live object alone if both have the same generation.
  bool HasFile(int64_t generation) {
    const Path versions = world_.root() / ".caip-versions" / "bkt";
    return std::filesystem::exists(versions / std::to_string(generation));
  }
  void ExpectOneOf(int64_t generation, const std::string& where) {
    const bool is_live = IsLive(generation);
    EXPECT_EQ(IsKept(generation), !is_live) << where;
    EXPECT_EQ(HasFile(generation), !is_live) << where;
  }

  // In a process of its own. True: it was killed before it could finish.
  bool RunUntilStep(const Removal& removal, int step) {
    world_.Close();
    const pid_t child = ::fork();
    if (child == 0) {
      Reopen([&step] {
        if (step-- == 0) ::_exit(9);
      });
      ::_exit(removal.remove(world_).ok() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_NE(WEXITSTATUS(status), 1) << removal.name << " fails without a kill";
    return WEXITSTATUS(status) == 9;
  }

  StoreWorld world_{true};
};

TEST_P(InterruptedRemovalTest, KeepsAnObjectLiveOrAsAVersionWhereverTheProcessEnds) {
  for (const Removal& removal : kRemovals) {
    bool is_killed = true;
    for (int step = 0; is_killed; ++step) {
      ASSERT_LT(step, kRemovalStepsMax) << removal.name << " has no end";
      Reopen();
      const int64_t generation = world_.Put("a", "old").generation;
      world_.Put("c", "another");
      is_killed = RunUntilStep(removal, step);
      Reopen();
      ExpectOneOf(generation, std::string(removal.name) + ", step " + std::to_string(step));
    }
  }
}

TEST_P(InterruptedRemovalTest, KeepsNoVersionIfTheNewFileCannotGetItsName) {
  const int64_t generation = world_.Put("a", "old").generation;
  Reopen([this] {
    for (const std::string& file : FilesIn(world_.root() / ".caip-tmp")) {
      std::filesystem::remove(world_.root() / ".caip-tmp" / file);
    }
  });
  for (const size_t size : {size_t{3}, kLargeObjectBytes}) {
    EXPECT_FALSE(PutBytes(world_, size).ok()) << size;
    EXPECT_TRUE(IsLive(generation)) << size;
    ExpectOneOf(generation, std::to_string(size) + " bytes");
  }
}

TEST_P(InterruptedRemovalTest, KeepsNoVersionIfTheCommitCannotBeNoted) {
  const int64_t generation = world_.Put("a", "old").generation;
  std::filesystem::create_directories(world_.uploads() / "abc123.note" / "occupied");
  EXPECT_FALSE(PutAsUpload(world_).ok());
  EXPECT_TRUE(IsLive(generation));
  ExpectOneOf(generation, "the note's place is taken");
}

TEST_P(InterruptedRemovalTest, TakesBackWhatAnEarlierEmulatorLeft) {
  const int64_t generation = world_.Put("a", "old").generation;
  bool is_killed = RunUntilStep(kRemovals[0], 0);
  ASSERT_TRUE(is_killed);
  EXPECT_TRUE(HasFile(generation)) << "the test means to end between two steps";
  Reopen();
  EXPECT_TRUE(IsLive(generation));
  ExpectOneOf(generation, "after the restart");
  EXPECT_EQ(world_.Get("a"), "old");
  world_.Put("a", "new");
  ExpectOneOf(generation, "after it was replaced");
}

INSTANTIATE_TEST_SUITE_P(Kinds, InterruptedRemovalTest, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "soft" : "noncurrent"; });

}  // namespace
}  // namespace caip::gcs
