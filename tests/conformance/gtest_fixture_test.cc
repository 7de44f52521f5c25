// The GoogleTest fixture, used as a user would use it.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "places.h"
#include "tests/fixtures/caip_gtest.h"

namespace {

class GoogleTestFixture : public caip_gtest::EmulatorTest {
 public:
  static void SetUpTestSuite() {
    ::setenv("CAIP", CAIP_BINARY_DIR "/caip", /*overwrite=*/0);
    EmulatorTest::SetUpTestSuite();
  }
};

TEST_F(GoogleTestFixture, RunsAJobToItsEnd) {
  const std::string folder = ::testing::TempDir() + "/gtest_fixture_trainer";
  std::filesystem::create_directories(folder + "/trainer");
  std::ofstream(folder + "/trainer/__init__.py") << "";
  std::ofstream(folder + "/trainer/task.py") << "import sys\n"
                                                "print('trained')\n"
                                                "sys.exit('--fail' in sys.argv)\n";
  MakeBucket("models");
  const std::string words = "--package-path '" + folder +
                            "/trainer' --module-name trainer.task --runtime-version 2.11 "
                            "--job-dir gs://models/out";
  const caip_gtest::Job job = SubmitJob(words);
  EXPECT_EQ(job.state, "SUCCEEDED") << job.log;
  EXPECT_EQ(job.exit_code, 0);
  EXPECT_NE(job.log.find("trained"), std::string::npos);
  EXPECT_FALSE(ReadObject("models", "out/packages").size() > 0);
  const caip_gtest::Job failed = SubmitJob(words + " -- --fail");
  EXPECT_EQ(failed.state, "FAILED") << failed.log;
  EXPECT_EQ(failed.exit_code, 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
