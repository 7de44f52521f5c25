#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "host/python/runtime_environments.h"
#include "host/python/runtime_installation.h"

namespace caip::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearestVersion, IsTheSameThenOfTheSameMinorThenTheNearestNewerThenTheNewestOlder) {
  const std::vector<std::string> available = {"2.14.0", "2.13.1", "2.13.0", "2.12.0",
                                              "2.11.1", "2.11.0", "2.5.0",  "1.15.5"};
  EXPECT_EQ(NearestVersion("2.11.0", available), "2.11.0");
  EXPECT_EQ(NearestVersion("2.11.5", available), "2.11.1");
  EXPECT_EQ(NearestVersion("2.12.1", available), "2.12.0");
  EXPECT_EQ(NearestVersion("2.6.0", available), "2.11.1");
  EXPECT_EQ(NearestVersion("2.12.9", {"2.13.0", "2.13.1", "2.14.0"}), "2.13.1");
  EXPECT_EQ(NearestVersion("2.20.0", available), "2.14.0");
  EXPECT_EQ(NearestVersion("1.2", available), "1.15.5");
  EXPECT_EQ(NearestVersion("2.11.0", {"2.12.0rc1", "2.10.0"}), "2.10.0");
  EXPECT_EQ(NearestVersion("2.11.0", {}), "");
}

TEST(Versions, AreComparedByTheirNumbers) {
  EXPECT_EQ(CompareVersions("2.9", "2.11"), -1);
  EXPECT_EQ(CompareVersions("2.11", "2.9"), 1);
  EXPECT_EQ(CompareVersions("2.11", "2.11.0"), 0);
}

TEST(VersionsOfIndex, AreThoseThatPipLists) {
  EXPECT_THAT(
      VersionsOfIndex("xgboost (2.1.4)\nAvailable versions: 2.1.4, 2.1.3\n  INSTALLED: 1\n"),
      ElementsAre("2.1.4", "2.1.3"));
  EXPECT_THAT(VersionsOfIndex(""), IsEmpty());
}

class Runtimes : public testing::Test {
 protected:
  RuntimeEnvironment Make(const std::string& version) {
    RuntimeEnvironment runtime{.root = root_.path() / version,
                               .version = version,
                               .wanted_python = "3.7",
                               .python_version = "3.11.2",
                               .packages = {{"scikit-learn", "sklearn", "1.0.2", "1.0.2"},
                                            {"tensorflow", "tensorflow", "2.11.0", "2.12.0"}}};
    EXPECT_TRUE(MakeDirectories(runtime.root).ok());
    return runtime;
  }
  TemporaryDirectory root_;
};

TEST_F(Runtimes, AreFoundOnceTheyAreComplete) {
  const RuntimeEnvironment runtime = Make("2.11");
  EXPECT_FALSE(FindRuntime(root_.path(), "2.11"));
  ASSERT_TRUE(KeepRuntime(runtime).ok());
  const auto found = FindRuntime(root_.path(), "2.11");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->python(), root_.path() / "2.11/bin/python3");
  EXPECT_THAT(found->Differences(),
              ElementsAre("Python 3.11.2 (3.7)", "tensorflow 2.12.0 (2.11.0)"));
  ASSERT_TRUE(KeepRuntime(Make("2.9")).ok());
  Make("2.8");  // incomplete
  std::vector<std::string> versions;
  for (const RuntimeEnvironment& each : ListRuntimes(root_.path()))
    versions.push_back(each.version);
  EXPECT_THAT(versions, ElementsAre("2.11", "2.9"));
}

TEST_F(Runtimes, AreRemovedAlsoWhenIncomplete) {
  ASSERT_TRUE(KeepRuntime(Make("2.11")).ok());
  Make("2.8");
  for (const char* version : {"2.11", "2.8"}) {
    EXPECT_EQ(*RemoveRuntime(root_.path(), version), true);
    EXPECT_FALSE(std::filesystem::exists(root_.path() / version));
    EXPECT_EQ(*RemoveRuntime(root_.path(), version), false);
  }
}

TEST_F(Runtimes, AreNotRemovedWhileAnotherProcessChangesThem) {
  Make("2.11");
  const auto lock = LockRuntimes(root_.path());
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(RemoveRuntime(root_.path(), "2.11").error().code, Code::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::exists(root_.path() / "2.11"));
}

TEST_F(Runtimes, OfAJobsVersionThatNamesAnotherDirectoryDoNotExist) {
  ASSERT_TRUE(KeepRuntime(Make("2.11")).ok());
  const Path inner = root_.path() / "inner";
  ASSERT_TRUE(MakeDirectories(inner).ok());
  for (const char* version : {"../2.11", "", ".", "..", "/etc", "2.11/../2.11"}) {
    EXPECT_FALSE(FindRuntime(inner, version)) << version;
    EXPECT_EQ(*RemoveRuntime(inner, version), false) << version;
  }
  EXPECT_TRUE(std::filesystem::exists(root_.path() / "2.11"));
}

}  // namespace
}  // namespace caip::host
