// Disks and volumes that are full, and storage that refuses operations.

#include <gtest/gtest.h>

#include <chrono>

#include "tests/harness/fault_injector_world.h"

namespace caip::harness {
namespace {

using std::chrono::milliseconds;

TEST_F(FaultInjectorTest, FillsADiskFromItsTriggerToItsUntil) {
  Fault full = DiskFullFault("disk_full 1", "master-0", AtStep(3));
  full.until = AtStep(5);
  Direct({full});
  Running({"master-0", "worker-0"});
  for (const int64_t step : {1, 2, 3, 4, 5, 6}) {
    injector_->Report(Step("master-0", 0, step));
    EXPECT_EQ(injector_->IsDiskFull("master-0"), step == 3 || step == 4) << step;
    EXPECT_FALSE(injector_->IsDiskFull("worker-0"));
  }
  EXPECT_TRUE(injector_->tallies()[0].until_came);
}

TEST_F(FaultInjectorTest, KeepsADiskFullUntilTheReplicaHasANewOne) {
  Direct({DiskFullFault("disk_full 1", "master-0", AtStep(3))});
  Running();
  injector_->Report(Step("master-0", 0, 3));
  Event kept = Start("master-0", 2);
  kept.body = StartEvent{.fresh_disk = false};
  injector_->Report(kept);
  EXPECT_TRUE(injector_->IsDiskFull("master-0"));
  Boot("worker-0", 1);
  EXPECT_TRUE(injector_->IsDiskFull("master-0"));
  Boot("master-0", 3);
  EXPECT_FALSE(injector_->IsDiskFull("master-0"));
}

TEST_F(FaultInjectorTest, FillsVolumesFromItsTriggerToItsUntil) {
  Fault full = VolumeFullFault("volume_full 1", "master-0", AtStep(3));
  full.until = AtStep(5);
  Direct({full});
  Running();
  for (const int64_t step : {1, 2, 3, 4, 5, 6}) {
    injector_->Report(Step("master-0", 0, step));
    EXPECT_EQ(injector_->AreVolumesFull(), step == 3 || step == 4) << step;
    EXPECT_FALSE(injector_->IsDiskFull("master-0"));
  }
  EXPECT_TRUE(injector_->tallies()[0].until_came);
}

TEST_F(FaultInjectorTest, StartsAReplicaAgainThatEndedWithAnErrorWhileVolumesWereFull) {
  Direct({VolumeFullFault("volume_full 1", "master-0", AtStep(3))});
  Running({"master-0", "worker-0", "worker-1"});
  injector_->ReportEnd(Exit("worker-1", 1, 1));
  EXPECT_EQ(world_.Count("replace worker-1"), 0) << "there was space";
  injector_->Report(Step("master-0", 0, 3));
  EXPECT_TRUE(injector_->AreVolumesFull());
  injector_->ReportEnd(Exit("worker-0", 1, 1));
  EXPECT_EQ(world_.Count("replace worker-0"), 1);
  EXPECT_FALSE(injector_->AreVolumesFull());
  injector_->ReportEnd(Exit("master-0", 1, 0, 9));
  EXPECT_EQ(world_.Count("replace master-0"), 0);
}

TEST_F(FaultInjectorTest, ReplacesAReplicaWhoseFullDiskMadeItFailIfTheFaultSaysSo) {
  for (const bool replace : {true, false}) {
    Direct({DiskFullFault("disk_full 1", "master-0", AtStep(3), replace)});
    Running({"master-0", "worker-0"});
    injector_->Report(Step("master-0", 0, 3));
    injector_->ReportEnd(Exit("worker-0", 1, 1));
    EXPECT_EQ(world_.Count("replace worker-0"), 0) << "its own disk has space";
    injector_->ReportEnd(Exit("master-0", 1, 1));
    EXPECT_EQ(world_.Count("replace master-0"), 1) << replace;
  }
}

TEST_F(FaultInjectorTest, LeavesAReplicaThatEndsWellWhileVolumesAreFull) {
  Direct({VolumeFullFault("volume_full 1", "master-0", AtStep(3))});
  Running();
  injector_->Report(Step("master-0", 0, 3));
  injector_->ReportEnd(Exit("master-0", 1));
  EXPECT_EQ(world_.Count("replace master-0"), 0);
  EXPECT_FALSE(injector_->AreVolumesFull());
}

TEST_F(FaultInjectorTest, RefusesStorageWithTheStatusOfTheFault) {
  Direct({RefuseStorageFault("storage_error 1", "", BeforeCreate("*/a"), 429)});
  Running();
  const FaultResponse first =
      injector_->ReportAndWait(Storage("master-0", 1, "create", "job/a"), Phase::kBefore);
  EXPECT_EQ(first.kind, FaultResponse::Kind::kRefuse);
  EXPECT_EQ(first.status, 429);
  EXPECT_EQ(
      injector_->ReportAndWait(Storage("master-0", 1, "create", "job/a"), Phase::kBefore).kind,
      FaultResponse::Kind::kGoOn);
}

TEST_F(FaultInjectorTest, DoesNotRefuseAnOperationWithoutACaller) {
  Direct({RefuseStorageFault("storage_error 1", "master-0", BeforeCreate("*/a")),
          DelayStorageFault("storage_error 2", "", BeforeCreate("*/a"), milliseconds(1))});
  Running();
  Event unheard = Storage("master-0", 1, "create", "job/a");
  BodyOf<StorageEvent>(unheard).is_unanswered = true;
  EXPECT_EQ(injector_->ReportAndWait(unheard, Phase::kBefore).kind, FaultResponse::Kind::kGoOn);
  const std::vector<FaultTally> tallies = injector_->tallies();
  EXPECT_TRUE(tallies[0].injected_at.empty());
  EXPECT_EQ(tallies[0].seen, 1);
  EXPECT_EQ(tallies[1].injected_at.size(), 1u);
}

}  // namespace
}  // namespace caip::harness
