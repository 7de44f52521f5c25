// What people see of a job that failed: their own files, and what to do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "emulator/cli/print/missing_module.h"
#include "emulator/cli/print/own_paths.h"

namespace caip::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kUri = "gs://b/job_1/packages/0123/trainer-0.1.tar.gz";

class OwnPathsTest : public testing::Test {
 protected:
  void SetUp() override {
    Write(source() / "trainer/task.py", "raise ValueError\n");
    Write(Environment() / ".ready",
          R"({"packages": ["gs://b/other.tar.gz", ")" + std::string(kUri) + R"("]})");
  }
  Path state() const { return root_.path() / "state"; }
  Path source() const { return root_.path() / "src"; }
  Path Environment() const { return state() / "environments/0123456789abcdef0123456789abcdef"; }
  std::string Installed(const std::string& file) const {
    return (Environment() / "lib/python3.11/site-packages" / file).string();
  }
  static void Write(const Path& file, const std::string& text) {
    ASSERT_TRUE(MakeDirectories(file.parent_path()).ok());
    ASSERT_TRUE(WriteFile(file, text).ok());
  }
  TemporaryDirectory root_;
};

TEST_F(OwnPathsTest, TracebacksNameTheFilesThatThePackageWasBuiltFrom) {
  ASSERT_TRUE(KeepPackageSource(state(), {kUri}, source()).ok());
  const OwnPaths paths(state());
  const std::string library = "  File \"" + Installed("numpy/core.py") + "\", line 7, in f\n";
  EXPECT_EQ(paths.In("  File \"" + Installed("trainer/task.py") + "\", line 1, in <module>\n" +
                     library + "ValueError\n"),
            "  File \"" + (source() / "trainer/task.py").string() + "\", line 1, in <module>\n" +
                library + "ValueError\n");
}

TEST_F(OwnPathsTest, ReplacesNothingElse) {
  ASSERT_TRUE(KeepPackageSource(state(), {kUri}, source()).ok());
  const std::string printed = "I am " + Installed("trainer/task.py");
  EXPECT_EQ(OwnPaths(state()).In(printed), printed);
  ASSERT_TRUE(KeepPackageSource(state(), {kUri}, root_.path() / "gone").ok());
  const std::string line = "  File \"" + Installed("trainer/task.py") + "\", line 1";
  EXPECT_EQ(OwnPaths().In(line), line);
  EXPECT_EQ(OwnPaths(state()).In(line), line);
  ASSERT_TRUE(KeepPackageSource(state(), {"gs://b/another.tar.gz"}, source()).ok());
  EXPECT_EQ(OwnPaths(state()).In(line), line);
  ASSERT_TRUE(KeepPackageSource(state(), {kUri}, root_.path() / "gone").ok());
  EXPECT_EQ(OwnPaths(state()).In(line), line);
  ASSERT_TRUE(KeepPackageSource(state(), {kUri}, source()).ok());  // the newest note counts
  EXPECT_THAT(OwnPaths(state()).In(line), HasSubstr("/src/trainer/task.py"));
}

TEST_F(OwnPathsTest, KeepsOnlyTheNewestNotes) {
  ASSERT_TRUE(KeepPackageSource(state(), {kUri}, source()).ok());
  for (int i = 0; i < 5; ++i) {
    std::vector<std::string> uris;
    for (int j = 0; j < 100; ++j) uris.push_back("gs://b/" + std::to_string(i * 100 + j));
    ASSERT_TRUE(KeepPackageSource(state(), uris, source()).ok());
  }
  const std::string line = "  File \"" + Installed("trainer/task.py") + "\", line 1";
  EXPECT_EQ(OwnPaths(state()).In(line), line);
}

TEST_F(OwnPathsTest, KeepsTheNotesOfAnEarlierCaipAndWhatFollowsABrokenLine) {
  Write(state() / "package-sources.json",
        PrettyJson({{{"package", kUri}, {"directory", source().string()}}}));
  const std::string line = "  File \"" + Installed("trainer/task.py") + "\", line 1";
  EXPECT_THAT(OwnPaths(state()).In(line), HasSubstr("/src/trainer/task.py"));
  ASSERT_TRUE(KeepPackageSource(state(), {"gs://b/another.tar.gz"}, source()).ok());
  EXPECT_THAT(OwnPaths(state()).In(line), HasSubstr("/src/trainer/task.py"));
  const Path notes = state() / "package-sources.jsonl";
  Write(notes, *ReadFile(notes) + "\n{\"package\": \"gs://b/to");  // a killed process
  ASSERT_TRUE(KeepPackageSource(state(), {kUri}, root_.path() / "gone").ok());
  EXPECT_EQ(OwnPaths(state()).In(line), line);
}

TEST_F(OwnPathsTest, DoesNotKeepAnEverLongerFile) {
  const std::vector<std::string> uris(100, std::string("gs://b/") + std::string(100, 'x'));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(KeepPackageSource(state(), uris, source()).ok());
  EXPECT_LT(std::filesystem::file_size(state() / "package-sources.jsonl"), 300u << 10);
}

Json FailedJob(const std::string& message, const std::string& version) {
  return {{"state", "FAILED"},
          {"errorMessage", message},
          {"trainingInput", {{"pythonModule", "trainer.task"}, {"runtimeVersion", version}}}};
}

TEST(MissingModule, OfARuntimeVersionIsToBeInstalled) {
  const std::string hint = MissingModuleHint(FailedJob(
      "The replica master 0 exited.\nModuleNotFoundError: No module named 'sklearn.svm'", "2.11"));
  EXPECT_THAT(hint, HasSubstr("scikit-learn 1.0.2"));
  EXPECT_THAT(hint, HasSubstr("caip runtimes install 2.11"));
  EXPECT_THAT(hint, HasSubstr("has no module 'sklearn.svm'"));
}

// A Python of another version has `importlib`, but not this part of it.
TEST(MissingModule, HasItsWholeName) {
  const std::string hint = MissingModuleHint(
      FailedJob("ModuleNotFoundError: No module named 'importlib.metadata'", "2.1"));
  EXPECT_THAT(hint, HasSubstr("has no module 'importlib.metadata'"));
}

TEST(MissingModule, OfAnotherPackageIsToBeRequired) {
  const std::string hint =
      MissingModuleHint(FailedJob("ModuleNotFoundError: No module named 'torch'", "2.11"));
  EXPECT_THAT(hint, HasSubstr("install_requires"));
  EXPECT_THAT(hint, HasSubstr("'torch'"));
}

// No other package has it, so install_requires does not help.
TEST(MissingModule, OfTheJobsOwnPackageIsToBeAdded) {
  for (const char* module : {"trainer.extra", "trainer"}) {
    const std::string hint = MissingModuleHint(
        FailedJob("ModuleNotFoundError: No module named '" + std::string(module) + "'", "2.11"));
    EXPECT_THAT(hint, HasSubstr("The job's own package has no module '" + std::string(module)));
    EXPECT_THAT(hint, Not(HasSubstr("install_requires")));
  }
  const std::string other =
      MissingModuleHint(FailedJob("ModuleNotFoundError: No module named 'trainers.a'", "2.11"));
  EXPECT_THAT(other, HasSubstr("install_requires"));
}

TEST(MissingModule, IsNotTheTroubleOfEveryJob) {
  EXPECT_EQ(MissingModuleHint(FailedJob("ValueError", "2.11")), "");
  EXPECT_EQ(MissingModuleHint({{"state", "SUCCEEDED"}}), "");
  Json image = FailedJob("ModuleNotFoundError: No module named 'torch'", "");
  image["trainingInput"].erase("pythonModule");
  EXPECT_EQ(MissingModuleHint(image), "");
}

}  // namespace
}  // namespace caip::cli
