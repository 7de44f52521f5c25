// The job of scripts/quickstart: five replicas train a digit classifier through gs://.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "places.h"
#include "tests/support/caip_command.h"

namespace caip::testing {
namespace {

namespace fs = std::filesystem;

const Path kDigits = Path(CAIP_SOURCE_DIR) / "scenarios/trainers/digits";

TEST(MainJob, TrainsAClassifierWithFiveReplicas) {
  CaipCommand caip;
  ASSERT_EQ(caip.Run({"buckets", "create", "digits-1"}).exit_code, 0);
  fs::create_directories(caip.BucketFile("digits-1", "data"));
  fs::copy_file(kDigits / "data/digits.csv.gz", caip.BucketFile("digits-1", "data/digits.csv.gz"));
  const Transcript run = caip.Run({"ai-platform",
                                   "jobs",
                                   "submit",
                                   "training",
                                   "digits",
                                   "--stream-logs",
                                   "--config",
                                   (Path(CAIP_SOURCE_DIR) / "scenarios/digits.yaml").string(),
                                   "--package-path",
                                   (kDigits / "trainer").string(),
                                   "--module-name",
                                   "trainer.task",
                                   "--staging-bucket",
                                   "gs://digits-1",
                                   "--job-dir",
                                   "gs://digits-1/out",
                                   "--region",
                                   "us-central1",
                                   "--runtime-version",
                                   "2.11",
                                   "--python-version",
                                   "3.7",
                                   "--",
                                   "--data",
                                   "gs://digits-1/data/digits.csv.gz"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto metrics = ParseJson(*ReadFile(caip.BucketFile("digits-1", "out/model/metrics.json")));
  ASSERT_TRUE(metrics.ok());
  EXPECT_GE((*metrics)["accuracy"].get<double>(), 0.93);
  for (const char* task : {"master-replica-0", "worker-replica-0", "worker-replica-1",
                           "ps-replica-0", "evaluator-replica-0"}) {
    EXPECT_THAT(run.err, ::testing::HasSubstr(task));
  }
  EXPECT_FALSE(fs::is_empty(caip.BucketFile("digits-1", "out/eval")));
  EXPECT_TRUE(Eventually([&] { return ProcessesMentioning(caip.state().string()).empty(); }));
}

}  // namespace
}  // namespace caip::testing
