// A store in a process that may open hardly any more files answers right, or with an error. It
// never says that an object does not exist.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <functional>

#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

using ::testing::UnorderedElementsAre;

/// While it lives, the process can open only `spare` more files.
class FewDescriptors {
 public:
  explicit FewDescriptors(int spare) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit small{.rlim_cur = 256, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
    do {
      taken_.emplace_back(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
    } while (taken_.back().valid());
    taken_.pop_back();
    for (; spare > 0; --spare) taken_.pop_back();
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
  std::vector<Fd> taken_;
};

constexpr int kSpareMax = 8;  // enough for every operation

/// True if the operation was possible. An error must say what is scarce.
bool WasPossible(const Status& status, int spare) {
  if (status.ok()) return true;
  EXPECT_EQ(status.error().code, Code::kUnavailable)
      << status.error().message << " with " << spare << " descriptors";
  return false;
}

/// Runs the operation with more and more descriptors in fresh worlds, until it is possible, and
/// checks the world after each.
void ForEachSpare(const std::function<Status(StoreWorld&)>& operate,
                  const std::function<void(StoreWorld&, bool done)>& check) {
  bool done = false;
  for (int spare = 0; !done; ++spare) {
    ASSERT_LE(spare, kSpareMax);
    StoreWorld world;
    ASSERT_TRUE(world->CreateBucket("bkt").ok());
    world.Put("a", "plain");
    world.Put("a/b", "below");  // the file of "a" moves beside its directory
    world.Put("x/y/z", "deep");
    world.Reopen();
    {
      const FewDescriptors few(spare);
      done = WasPossible(operate(world), spare);
    }
    check(world, done);
  }
}

void ExpectAllObjects(StoreWorld& world) {
  EXPECT_THAT(world.Names(), UnorderedElementsAre("a", "a/b", "x/y/z"));
  EXPECT_EQ(world.Get("a"), "plain");
  EXPECT_EQ(world.Get("a/b"), "below");
}

TEST(FewDescriptors, DoNotShortenAListing) {
  ForEachSpare(
      [](StoreWorld& world) -> Status {
        ASSIGN_OR_RETURN(const Listing listing, world->List("bkt", {}));
        EXPECT_EQ(listing.items.size(), 3u);
        return Ok{};
      },
      [](StoreWorld& world, bool) { ExpectAllObjects(world); });
}

TEST(FewDescriptors, DoNotHideAnObject) {
  for (const std::string name : {"a", "a/b", "x/y/z"}) {
    ForEachSpare(
        [&](StoreWorld& world) -> Status {
          RETURN_IF_ERROR(world->GetObject("bkt", name));
          return Ok{};
        },
        [](StoreWorld& world, bool) { ExpectAllObjects(world); });
  }
}

TEST(FewDescriptors, DeleteAnObjectOrKeepIt) {
  ForEachSpare([](StoreWorld& world) { return world.Delete("a"); },
               [](StoreWorld& world, bool done) {
                 if (!done) return ExpectAllObjects(world);
                 EXPECT_THAT(world.Names(), UnorderedElementsAre("a/b", "x/y/z"));
               });
}

TEST(FewDescriptors, ReplaceAnObjectOrKeepIt) {
  for (const std::string name : {"a", "a/b", "x/y/z", "x/y"}) {
    ForEachSpare(
        [&](StoreWorld& world) -> Status {
          RETURN_IF_ERROR(world.TryPut(name, "new"));
          return Ok{};
        },
        [&](StoreWorld& world, bool done) {
          const bool was_there = name != "x/y";
          EXPECT_EQ(world.Has(name), done || was_there) << name;
          if (!done) return ExpectAllObjects(world);
          EXPECT_EQ(world.Get(name), "new");
        });
  }
}

TEST(FewDescriptors, NeverDeleteABucketWithObjects) {
  ForEachSpare(
      [](StoreWorld& world) -> Status {
        const Status deleted = world->DeleteBucket("bkt");
        EXPECT_FALSE(deleted.ok());
        const bool is_full = !deleted.ok() && deleted.error().code != Code::kResourceExhausted;
        return is_full ? Status(Ok{}) : deleted;
      },
      [](StoreWorld& world, bool) { ExpectAllObjects(world); });
}

}  // namespace
}  // namespace caip::gcs
