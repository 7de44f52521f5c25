// Jobs that are Python packages: packaging, pip, the environment, tracebacks, bad packages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/caip_command.h"

namespace caip::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PythonJobs : public ::testing::Test {
 protected:
  void SetUp() override {
    const Transcript made = caip_.Run({"buckets", "create", "staging-1"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    package_ = WritePackage(Parent(), "print('hi')\n");
  }

  Path Parent() const { return caip_.state().parent_path() / "app"; }

  std::vector<std::string> Words(const std::string& job, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        "jobs",           "submit",           "training",     job,
        "--stream-logs",  "--region",         "us-central1",  "--runtime-version",
        "2.11",           "--python-version", "3.7",          "--staging-bucket",
        "gs://staging-1", "--module-name",    "trainer.task", "--package-path",
        package_.string()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  CaipCommand caip_;
  Path package_;
};

TEST_F(PythonJobs, RunFromTheInstalledSdistAndStartWithoutPipTheSecondTime) {
  WritePackage(Parent(),
               "import os, sys, trainer\n"
               "print('FILE', os.path.abspath(trainer.__file__))\n"
               "print('ARGS', sys.argv[1:])\n"
               "print('CONFIG', os.environ['TF_CONFIG'])\n");
  const Transcript run =
      caip_.Run(Words("first", {"--job-dir", "gs://staging-1/out", "--", "--n", "1"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("Installing the package: gs://staging-1/first/"));
  EXPECT_THAT(run.err, HasSubstr("ARGS ['--n', '1', '--job-dir', 'gs://staging-1/out']"));
  EXPECT_THAT(run.err, Not(HasSubstr("FILE " + Parent().string()))) << "not the source tree";
  EXPECT_THAT(run.err, HasSubstr("\"task\": {\"type\": \"chief\", \"index\": 0"));
  EXPECT_THAT(run.err, HasSubstr("Task completed successfully."));
  EXPECT_TRUE(std::filesystem::exists(package_ / "__init__.py"));
  EXPECT_FALSE(std::filesystem::exists(Parent() / "setup.py")) << "the generated one is removed";

  const Transcript again = caip_.Run(Words("second"));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, Not(HasSubstr("Processing ")));
}

TEST_F(PythonJobs, FindTheirPackageFileInTheWorkingDirectory) {
  WritePackage(Parent(), "import glob\nprint('PACKAGES', glob.glob('*.tar.gz'))\n");
  const struct {
    const char* job;
    std::vector<std::string> isolation;  // {}: a machine where the host allows it
  } rows[] = {{"installs", {"--isolation", "process"}},
              {"installed_before", {"--isolation", "process"}},
              {"on_a_machine", {}}};
  for (const auto& row : rows) {
    const Transcript run = caip_.Run(Words(row.job, row.isolation));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const Json job = caip_.Describe(row.job);
    const Path package = job["trainingInput"]["packageUris"].at(0).get<std::string>();
    EXPECT_THAT(run.err, HasSubstr("PACKAGES ['" + package.filename().string() + "']\n"))
        << row.job;
  }
}

TEST_F(PythonJobs, AnUncaughtExceptionIsOneEntryAndEndsTheErrorMessage) {
  WritePackage(Parent(), "def f():\n    raise ValueError('no such digit')\nf()\n");
  const Transcript run = caip_.Run(Words("raises"));
  EXPECT_EQ(run.exit_code, 1);
  const std::string message = StringOr(caip_.Describe("raises"), "errorMessage");
  EXPECT_THAT(message, HasSubstr("The replica master 0 exited with a non-zero status of 1. \n"
                                 "Traceback (most recent call last):\n"));
  EXPECT_THAT(message, HasSubstr("ValueError: no such digit"));
  EXPECT_THAT(message,
              HasSubstr("To find out more about why your job exited please check the logs"));
}

TEST_F(PythonJobs, AMissingModuleFailsTheJob) {
  std::vector<std::string> words = Words("missing");
  *std::find(words.begin(), words.end(), "trainer.task") = "trainer.nothing";
  const Transcript run = caip_.Run(words);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("No module named trainer.nothing"));
  EXPECT_EQ(caip_.StateOf("missing"), "FAILED");
  EXPECT_THAT(StringOr(caip_.Describe("missing"), "errorMessage"),
              HasSubstr("No module named trainer.nothing"));
}

TEST_F(PythonJobs, APackageThatCannotBeInstalledFailsTheJobWithPipsWords) {
  std::ofstream(Parent() / "setup.py")
      << "import sys\n"
         "from setuptools import setup\n"
         "if 'sdist' not in sys.argv and 'egg_info' not in sys.argv: sys.exit('no compiler here')\n"
         "setup(name='trainer', version='1.0', packages=['trainer'])\n";
  const Transcript run = caip_.Run(Words("broken"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(caip_.StateOf("broken"), "FAILED");
  EXPECT_THAT(run.err, HasSubstr("no compiler here"));
  EXPECT_THAT(StringOr(caip_.Describe("broken"), "errorMessage"),
              HasSubstr("exited with a non-zero status of 1"));
}

TEST_F(PythonJobs, AFailingBuildIsReportedByTheClientAndNothingIsSent) {
  std::ofstream(Parent() / "setup.py") << "raise RuntimeError('broken setup')\n";
  const Transcript run = caip_.Run(Words("unbuilt"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("Packaging of user Python code failed with message:"));
  EXPECT_THAT(run.err, HasSubstr("broken setup"));
  EXPECT_TRUE(caip_.Describe("unbuilt").is_null());
}

TEST_F(PythonJobs, AMissingBucketIsRefusedAndNotCreated) {
  std::vector<std::string> words = Words("nobucket");
  *std::find(words.begin(), words.end(), "gs://staging-1") = "gs://missing-1";
  const Transcript run = caip_.Run(words);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("missing-1"));
  EXPECT_FALSE(std::filesystem::exists(caip_.state() / "buckets/missing-1"));

  const Transcript dir = caip_.Run(Words("nojobdir", {"--job-dir", "gs://missing-2/out"}));
  EXPECT_EQ(dir.exit_code, 1);
  EXPECT_THAT(dir.err, HasSubstr("job_dir"));
  EXPECT_TRUE(caip_.Describe("nojobdir").is_null());
}

TEST_F(PythonJobs, ValidateOnlyChecksEverythingAndLeavesNothing) {
  const Transcript good = caip_.Run(Words("checked", {"--validate-only"}));
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.err, HasSubstr("Job [checked] is valid; nothing was submitted."));
  const Transcript bad =
      caip_.Run(Words("checked", {"--validate-only", "--job-dir", "gs://missing-3/x",
                                  "--master-machine-type", "n1-standard-4"}));
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, HasSubstr("master_type"));
  const Transcript place =
      caip_.Run(Words("checked", {"--validate-only", "--job-dir", "gs://missing-3/x"}));
  EXPECT_EQ(place.exit_code, 1);
  EXPECT_THAT(place.err, HasSubstr("missing-3"));
  EXPECT_TRUE(std::filesystem::is_empty(caip_.state() / "buckets/staging-1"));
  EXPECT_TRUE(caip_.Describe("checked").is_null());
}

TEST_F(PythonJobs, AnUnreadablePackageIsRefused) {
  const Transcript run = caip_.Run({"jobs", "submit", "training", "unreadable", "--stream-logs",
                                    "--region", "us-central1", "--runtime-version", "2.11",
                                    "--python-version", "3.7", "--module-name", "trainer.task",
                                    "--packages", "gs://staging-1/nothing/trainer-0.0.0.tar.gz"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("The provided GCS paths cannot be read by service account"));
}

TEST_F(PythonJobs, AReplicaThatKillsItselfIsRestarted) {
  WritePackage(
      Parent(),
      "import os, signal\n"
      "here = os.environ['STORAGE_EMULATOR_HOST']\n"
      "import urllib.request\n"
      "url = here + '/upload/storage/v1/b/staging-1/o?uploadType=media&ifGenerationMatch=0'\n"
      "for n in range(5):\n"
      "    try:\n"
      "        urllib.request.urlopen(urllib.request.Request(\n"
      "            url + '&name=boot%d' % n, data=b'x', method='POST'))\n"
      "    except urllib.error.HTTPError:\n"
      "        continue\n"
      "    break\n"
      "print('BOOT', n, flush=True)\n"
      "if n < 2: os.kill(os.getpid(), signal.SIGKILL)\n");
  const Transcript run = caip_.Run(Words("killed"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("BOOT 0"));
  EXPECT_THAT(run.err, HasSubstr("BOOT 1"));
  EXPECT_THAT(run.err, HasSubstr("BOOT 2"));
}

TEST_F(PythonJobs, StorageViewPathIsADirectory) {
  WritePackage(Parent(),
               "import argparse, os\n"
               "p = argparse.ArgumentParser(); p.add_argument('--job-dir')\n"
               "d = p.parse_args().job_dir\n"
               "os.makedirs(d, exist_ok=True)\n"
               "open(os.path.join(d, 'model.txt'), 'w').write('weights')\n");
  const Transcript run = caip_.Run(
      Words("pathview", {"--job-dir", "gs://staging-1/path/out", "--storage-view", "path"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(*ReadFile(caip_.BucketFile("staging-1", "path/out/model.txt")), "weights");
}

}  // namespace
}  // namespace caip::testing
