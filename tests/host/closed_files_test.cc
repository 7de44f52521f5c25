// Files of state directories that no machine sees.

#include "host/machine/closed_files.h"

#include <gtest/gtest.h>

#include "host/machine/host_tree.h"

namespace caip::host {
namespace {

// The machine of a run. None of these directories exists.
class ClosedFilesTest : public ::testing::Test {
 protected:
  using Use = engine::Volume::Use;

  bool IsClosedVolume(const std::string& directory, Use use = Use::kShared) const {
    return closed_.IsClosedVolume({directory, "/mnt/nfs/in", use}, directory);
  }

  const Path outer_ = "/caip-absent/disk/state";
  const Path own_ = outer_ / "scenarios/play-1/run-1";
  const ClosedFiles closed_{own_,
                            {outer_},
                            ParseMounts("27 1 254:0 / / rw - ext4 /dev/vda rw\n"
                                        "28 27 8:1 / /caip-absent rw - ext4 /dev/sdb rw\n"
                                        "29 27 8:1 /disk /caip-other rw - ext4 /dev/sdb rw\n")};
};

TEST_F(ClosedFilesTest, AreKeysAndTheRunsOfOtherScenarios) {
  for (const char* place :
       {"keys", "keys/token", "ca", "ca/ca.key", "scenarios", "scenarios/play-1",
        "scenarios/play-1/run-1", "scenarios/play-1/run-2/a", "scenarios/play-1/run-1/keys",
        "scenarios/play-1/run-1/ca/ca.key"}) {
    EXPECT_TRUE(closed_.Has((outer_ / place).string())) << place;
    EXPECT_TRUE(closed_.Has((Path("/caip-other/state") / place).string())) << place;
  }
  for (const char* place : {"ca/ca.pem", "runtimes", "scenarios/play-1/caches/environments",
                            "scenarios/play-1/run-1/python/hook"}) {
    EXPECT_FALSE(closed_.Has((outer_ / place).string())) << place;
  }
  EXPECT_FALSE(closed_.Has("/caip-other/keys"));
}

TEST_F(ClosedFilesTest, AreAllVolumesInStateDirectoriesButBucketsAndThoseOfTheRun) {
  for (const char* place :
       {"", "disks", "keys", "buckets/bkt", "scenarios/play-1/run-1/disks",
        "scenarios/play-1/run-1/buckets/.caip-tmp/a", "scenarios/play-1/run-2/volumes/0"}) {
    EXPECT_TRUE(IsClosedVolume((outer_ / place).lexically_normal().string())) << place;
    EXPECT_TRUE(IsClosedVolume((Path("/caip-other/state") / place).string())) << place;
  }
  for (const char* place : {"buckets", "buckets/bkt", "volumes/0", "disks/.log-storage/1"}) {
    EXPECT_FALSE(IsClosedVolume((own_ / place).string())) << place;
  }
  EXPECT_FALSE(IsClosedVolume("/caip-absent/disk"));
}

// A run's own folder may be in a state directory: what the machine writes there is lost with it.
TEST_F(ClosedFilesTest, AreNotFoldersThatAMachineDoesNotChange) {
  EXPECT_FALSE(IsClosedVolume((outer_ / "project").string(), Use::kCopyOnWrite));
  EXPECT_FALSE(IsClosedVolume((outer_ / "project").string(), Use::kReadOnly));
  EXPECT_TRUE(IsClosedVolume((outer_ / "keys").string(), Use::kReadOnly));
}

}  // namespace
}  // namespace caip::host
