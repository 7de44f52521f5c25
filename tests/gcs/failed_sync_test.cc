// Syncs of directories that fail, as on a damaged disk.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "tests/gcs/store_world.h"

namespace {

thread_local bool fails_syncs_of_directories = false;

}  // namespace

/// Stands for that of the C library in this program.
extern "C" int fsync(int file) {
  struct stat status {};
  const bool is_directory = ::fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
  if (!is_directory || !fails_syncs_of_directories) {
    return static_cast<int>(::syscall(SYS_fsync, file));
  }
  errno = EIO;
  return -1;
}

namespace caip::gcs {
namespace {

class FailedSyncs {
 public:
  FailedSyncs() { fails_syncs_of_directories = true; }
  ~FailedSyncs() { fails_syncs_of_directories = false; }
  FailedSyncs(const FailedSyncs&) = delete;
  FailedSyncs& operator=(const FailedSyncs&) = delete;
};

// The file of "a" moves beside the directory of the new object, which must be on the disk first.
TEST(FailedSync, MakesNoSmallObjectIfAnotherOneWouldBeAtRisk) {
  StoreWorld world(true);
  ASSERT_TRUE(world->CreateBucket("bkt").ok());
  ObjectInfo typed;
  typed.content_type = "text/old";
  ASSERT_TRUE(world.TryPut("a", "plain", {}, typed).ok());
  {
    const FailedSyncs failed;
    EXPECT_FALSE(world.TryPut("a/b", "new").ok());
  }
  EXPECT_FALSE(world.Has("a/b"));
  world.Reopen();
  EXPECT_FALSE(world.Has("a/b"));
  EXPECT_EQ(world.Get("a"), "plain");
  EXPECT_EQ(world->GetObject("bkt", "a")->content_type, "text/old");
  EXPECT_EQ(world.Put("a/b", "again").size, 5u);
  EXPECT_EQ(world.Get("a"), "plain");
}

// After a power failure, the bucket would be missing, and the object with it.
TEST(FailedSync, TakesNoObjectForABucketMadeByHandThatIsNotOnTheDisk) {
  StoreWorld world(true);
  std::filesystem::create_directory(world.root() / "bkt");
  {
    const FailedSyncs failed;
    EXPECT_FALSE(world.TryPut("a", "small").ok());
  }
  EXPECT_FALSE(world.Has("a"));
  EXPECT_EQ(world.Put("a", "again").size, 5u);
  {
    const FailedSyncs failed;
    EXPECT_TRUE(world.TryPut("b", "small").ok()) << "by now the bucket is on the disk";
  }
}

// The disk does not take the bucket, but it has taken a later change of it.
TEST(FailedSync, KeepsANewBucketThatAnotherClientHasChanged) {
  StoreWorld world(true);
  std::function<void()> on_step;
  world.Open({.root = world.root(), .between_steps = [&] {
                if (const auto step = std::exchange(on_step, {})) step();
              }});
  on_step = [&] {
    Bucket changed = *world->GetUnsavedBucket("bkt");
    changed.labels["k"] = "changed";
    EXPECT_TRUE(world->UpdateBucket(changed).ok());
    fails_syncs_of_directories = true;
  };
  EXPECT_FALSE(world->CreateBucket("bkt").ok());
  fails_syncs_of_directories = false;
  world.Reopen();
  const auto bucket = world->GetBucket("bkt");
  ASSERT_TRUE(bucket.ok()) << bucket.error().message;
  const std::map<std::string, std::string> labels = {{"k", "changed"}};
  EXPECT_EQ(bucket->labels, labels);
}

}  // namespace
}  // namespace caip::gcs
