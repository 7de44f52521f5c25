// `caip migrate`: where the job comes from, what is printed where, and the exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/ai_service.h"

namespace caip::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kJobFile[] = R"(jobId: census
createTime: '2022-02-09T17:36:42Z'
state: SUCCEEDED
labels: {team: vision}
trainingInput:
  region: us-central1
  runtimeVersion: '2.11'
  pythonModule: trainer.task
  packageUris: ['gs://bkt/trainer-0.1.tar.gz']
  args: [--epochs, '3']
)";

const Words kSubmit = {"jobs",
                       "submit",
                       "training",
                       "census",
                       "--region",
                       "us-central1",
                       "--module-name",
                       "trainer.task",
                       "--packages",
                       "gs://bkt/t.tgz",
                       "--runtime-version",
                       "2.11",
                       "--job-dir",
                       "gs://bkt/out",
                       "--",
                       "--epochs",
                       "3"};

class Migrate : public AiTest {
 protected:
  int RunWords(const Words& before, Words line, const Words& flags = {}) {
    Words words = {"migrate"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.push_back("--");
    words.insert(words.end(), before.begin(), before.end());
    words.insert(words.end(), line.begin(), line.end());
    return Run(words);
  }
};

TEST_F(Migrate, PrintsTheFileAndBesideItTheCommandAndTheDifferences) {
  EXPECT_EQ(Run({"migrate", Write("job.yaml", kJobFile).string()}), 0) << err_;
  EXPECT_EQ(out_,
            "workerPoolSpecs:\n"
            "- machineSpec:\n"
            "    machineType: n1-standard-4\n"
            "  pythonPackageSpec:\n"
            "    args:\n"
            "    - --epochs\n"
            "    - '3'\n"
            "    executorImageUri: us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11:latest\n"
            "    packageUris:\n"
            "    - gs://bkt/trainer-0.1.tar.gz\n"
            "    pythonModule: trainer.task\n"
            "  replicaCount: 1\n");
  EXPECT_THAT(err_, StartsWith("Create the job with\n  caip ai custom-jobs create --region "
                               "us-central1 --display-name census --labels team=vision --config "
                               "FILE\nWhat differs for the trainer and its owner:\n  job id\n"));
  EXPECT_THAT(service_.requests, IsEmpty());
}

TEST_F(Migrate, ItsOutputIsTheFileOfTheCommandItNames) {
  ASSERT_EQ(Run({"migrate", Write("job.yaml", kJobFile).string()}), 0) << err_;
  const std::string file = Write("spec.yaml", out_).string();
  ASSERT_EQ(Run({"ai", "custom-jobs", "create", "--region=us-central1", "--display-name=census",
                 "--strict", "--dry-run", "--config", file}),
            0)
      << err_;
  EXPECT_THAT(out_, HasSubstr("\"pythonModule\": \"trainer.task\""));
}

TEST_F(Migrate, ReadsTheWordsOfASubmitInAllTheirForms) {
  for (const Words& before :
       {Words{}, Words{"caip"}, Words{"gcloud", "ai-platform"}, Words{"gcloud", "ml-engine"},
        Words{"gcloud", "beta", "ai-platform"}}) {
    EXPECT_EQ(RunWords(before, kSubmit), 0) << err_;
    EXPECT_THAT(out_, AllOf(HasSubstr("    - --epochs\n    - '3'\n    - --job-dir\n"),
                            HasSubstr("outputUriPrefix: gs://bkt/out/")));
  }
}

TEST_F(Migrate, PrintsACommand) {
  EXPECT_EQ(RunWords({}, kSubmit, {"--as-command"}), 0) << err_;
  EXPECT_THAT(out_, StartsWith("caip ai custom-jobs create --region us-central1 --display-name "
                               "census --config /dev/stdin <<'END_OF_JOB'\n"));
  EXPECT_THAT(err_, StartsWith("What differs"));
}

TEST_F(Migrate, NamesPackagesThatAreNotUploadedYetAndUploadsThemIfAsked) {
  Words line = kSubmit;
  line[9] = Write("dist/t-0.1.tar.gz", "an archive").string();
  EXPECT_EQ(RunWords({}, line), 0) << err_;
  EXPECT_THAT(err_, AllOf(HasSubstr("  package gs://bkt/out/packages/"), HasSubstr("--stage")));
  EXPECT_THAT(service_.requests, IsEmpty());
  EXPECT_EQ(RunWords({}, line, {"--stage"}), 1) << "the service of this test has no buckets";
  EXPECT_THAT(service_.requests, Not(IsEmpty()));
  EXPECT_THAT(out_, IsEmpty());
}

TEST_F(Migrate, RefusesAJobWithAllReasons) {
  const std::string file = Write("job.yaml", R"(
jobId: census
trainingInput: {region: us-central1, scaleTier: BASIC_TPU, runtimeVersion: '1.14',
                pythonModule: trainer.task, packageUris: ['gs://bkt/t.tgz']}
)")
                               .string();
  EXPECT_EQ(Run({"migrate", file}), 1);
  EXPECT_THAT(err_, AllOf(StartsWith("ERROR: (caip.migrate) The job cannot be migrated"),
                          HasSubstr("\n  scale_tier: "), HasSubstr("\n  runtime_version: ")));
  EXPECT_THAT(out_, IsEmpty());
}

TEST_F(Migrate, SaysWhatIsWrongWithTheFile) {
  const std::string file = Write("job.yaml", "jobId: [1]\ntrainingInput: {rejion: x}\n").string();
  EXPECT_EQ(Run({"migrate", file}), 1);
  EXPECT_THAT(err_, AllOf(HasSubstr("rejion"), HasSubstr("jobId")));
  EXPECT_EQ(Run({"migrate", "missing.yaml"}), 1);
  EXPECT_THAT(err_, HasSubstr("missing.yaml"));
}

TEST_F(Migrate, NeedsOneJob) {
  EXPECT_EQ(Run({"migrate"}), 2);
  EXPECT_EQ(Run({"migrate", "a.yaml", "b.yaml"}), 2);
  EXPECT_EQ(RunWords({}, {"jobs", "list"}), 2);
  EXPECT_THAT(err_, HasSubstr("jobs submit training"));
  EXPECT_EQ(RunWords({}, {"jobs", "submit", "training", "x", "--no-such-flag"}), 2);
  EXPECT_THAT(err_, HasSubstr("--no-such-flag"));
  EXPECT_EQ(Run({"migrate", "a.yaml", "--stage"}), 2);
}

}  // namespace
}  // namespace caip::cli
