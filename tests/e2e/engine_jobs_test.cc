// The same jobs from the same images on each engine that runs containers: caip itself, podman and
// docker. An engine that does not work on this host is skipped with the reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/text.h"
#include "tests/support/caip_command.h"
#include "tests/support/engine_on_trial.h"
#include "tests/support/oci_layout.h"

namespace caip::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kImageOfEngines[] = "gcr.io/demo/trainer:v1";

class EngineJobs : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const TemporaryDirectory base("caip-layer-");
    OpenToAll(base.path());
    WriteBusybox(base.path());
    for (const char* place : {"proc", "dev", "sys", "tmp", "root"}) {
      ASSERT_TRUE(MakeDirectories(base.path() / place).ok());
    }
    engine_ = MakeTrial(GetParam());
    const std::string why_not = engine_->Start(base.path());
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    for (const auto& [name, value] : engine_->Environment()) caip_.Set(name, value);
    layout_.AddLayer(base.path());
  }
  void TearDown() override {
    (void)caip_.Run({"stop"});
    EXPECT_TRUE(Eventually([this] { return engine_->Containers().empty(); }))
        << "these containers are left: " << engine_->Containers();
  }

  /// The root of an image, which any user of it must enter.
  static void OpenToAll(const Path& directory) {
    std::filesystem::permissions(directory, std::filesystem::perms(0755));
  }
  void MakeImage(const std::string& script, Json config = Json::object()) {
    const TemporaryDirectory app("caip-layer-");
    OpenToAll(app.path());
    ASSERT_TRUE(MakeDirectories(app.path() / "app").ok());
    ASSERT_TRUE(WriteFile(app.path() / "app/train", "#!/bin/sh\n" + script + "\n").ok());
    std::filesystem::permissions(app.path() / "app/train", std::filesystem::perms(0755));
    layout_.AddLayer(app.path());
    if (!config.contains("Entrypoint")) config["Entrypoint"] = {"/app/train"};
    config["Env"] = {"PATH=/bin", "FROM_IMAGE=yes"};
    config["WorkingDir"] = "/app";
    layout_.Finish(config);
  }
  Transcript Submit(const std::string& job, std::vector<std::string> more = {"--stream-logs"}) {
    std::vector<std::string> words = {
        "jobs",
        "submit",
        "training",
        job,
        "--region",
        "us-central1",
        "--master-image-uri",
        kImageOfEngines,
        "--container-engine",
        GetParam(),
        "--map-image",
        std::string(kImageOfEngines) + "=oci:" + layout_.Directory().string()};
    words.insert(words.end(), more.begin(), more.end());
    return caip_.Run(words);
  }
  /// Runs a tuning job of two trials, whose image has this configuration.
  void ReportMetricsOfTrials(Json image = Json::object()) {
    const TemporaryDirectory files;
    const Path config = files.path() / "tuning.yaml";
    ASSERT_TRUE(WriteFile(config,
                          "trainingInput:\n  hyperparameters:\n    goal: MAXIMIZE\n"
                          "    hyperparameterMetricTag: score\n    maxTrials: 2\n"
                          "    maxParallelTrials: 1\n    params:\n    - parameterName: rate\n"
                          "      type: DOUBLE\n      minValue: 0\n      maxValue: 1\n")
                    .ok());
    MakeImage(
        "echo \"{\\\"score\\\": \\\"0.5\\\", \\\"global_step\\\": \\\"1\\\", \\\"timestamp\\\": 1, "
        "\\\"trial\\\": \\\"$CLOUD_ML_TRIAL_ID\\\"}\" >> $CLOUD_ML_HP_METRIC_FILE",
        std::move(image));
    const Transcript run = Submit("tuned", {"--stream-logs", "--config", config.string()});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const std::string job = CompactJson(caip_.Describe("tuned"));
    EXPECT_THAT(job, AllOf(HasSubstr("\"objectiveValue\":0.5"), HasSubstr("\"trialId\":\"2\"")));
  }
  /// Submits a job that runs until it is stopped, and waits until its program runs.
  void SubmitAndAwaitStart(const std::string& job, const std::string& then) {
    ASSERT_EQ(caip_.Run({"buckets", "create", "bkt-1"}).exit_code, 0);
    MakeImage(
        "trap 'echo ends now; exit 0' TERM\n"
        "wget -q -O - --post-data x "
        "\"$STORAGE_EMULATOR_HOST/upload/storage/v1/b/bkt-1/o?uploadType=media&name=runs\"\n" +
        then);
    const Transcript run = Submit(job, {"--async"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(Eventually(
        [this] { return std::filesystem::exists(caip_.BucketFile("bkt-1", "runs")); }, 60))
        << "awaited an object of the running program";
  }

  std::unique_ptr<EngineOnTrial> engine_;  // ends after the emulator
  CaipCommand caip_;
  OciLayout layout_;
};

TEST_P(EngineJobs, RunTheProgramOfTheImageOnItsOwnFiles) {
  MakeImage(
      "echo \"in $(pwd) of $CLOUD_ML_JOB_ID, $FROM_IMAGE, $#: $*\"; ls /usr 2>&1; hostname\n"
      "echo \"one\ntwo\"; echo \"$TF_CONFIG\" | grep -o '\"type\": *\"[a-z]*\"'");
  const Transcript run = Submit("own_files", {"--stream-logs", "--", "--text", "a  'b'"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("in /app of own_files, yes, 2: --text a  'b'"),
                             HasSubstr("ls: /usr: No such file or directory"),
                             HasSubstr("cmle-training-master-"), HasSubstr("two"),
                             HasSubstr("Job completed successfully.")));
}

// Files of this host stand for those of the GPUs.
TEST_P(EngineJobs, HaveTheGpusThatTheirReplicaWasLent) {
  MakeImage(
      "ls /dev | grep nvidia; echo \"lent $CUDA_VISIBLE_DEVICES\"\n"
      ": <>/dev/nvidia0 && echo 'it opens'; nvidia-smi -L; ls $LD_LIBRARY_PATH");
  const Transcript run = Submit(
      "gpus", {"--stream-logs", "--scale-tier", "basic-gpu", "--fake-gpus", "2xNVIDIA_TESLA_K80"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("nvidia0"), HasSubstr("nvidiactl"), HasSubstr("nvidia-uvm"),
                    HasSubstr("lent GPU-"), HasSubstr("it opens"), Not(HasSubstr("nvidia1")),
                    HasSubstr("GPU 0: fake NVIDIA_TESLA_K80 (UUID: GPU-"), Not(HasSubstr("GPU 1:")),
                    HasSubstr("libnvidia-ml.so.1")));
}

TEST_P(EngineJobs, EndWithTheExitCodeOfTheContainer) {
  MakeImage("case $1 in signal) kill -9 $$;; *) exit 3;; esac");
  EXPECT_EQ(Submit("code", {"--stream-logs"}).exit_code, 1);
  EXPECT_THAT(StringOr(caip_.Describe("code"), "errorMessage"),
              HasSubstr("exited with a non-zero status of 3"));
  EXPECT_EQ(Submit("killed", {"--stream-logs", "--", "signal"}).exit_code, 1);
  EXPECT_THAT(StringOr(caip_.Describe("killed"), "errorMessage"),
              HasSubstr("exited with a non-zero status of 137"));
}

TEST_P(EngineJobs, ReachCloudStorageAndTheMetadataServer) {
  ASSERT_EQ(caip_.Run({"buckets", "create", "bkt-1"}).exit_code, 0);
  ASSERT_TRUE(WriteFile(caip_.BucketFile("bkt-1", "data.txt"), "the data\n").ok());
  MakeImage(
      "wget -q -O - \"$STORAGE_EMULATOR_HOST/storage/v1/b/bkt-1/o/data.txt?alt=media\"\n"
      "wget -q -O - --header 'Metadata-Flavor: Google' "
      "http://${GCE_METADATA_HOST:-metadata.google.internal}/computeMetadata/v1/project/"
      "project-id");
  const Transcript run = Submit("storage");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("the data"), HasSubstr("demo")));
}

TEST_P(EngineJobs, RunClustersWhoseReplicasFindEachOther) {
  MakeImage(
      "name=$(echo \"$CLUSTER_SPEC\" | grep -o '\"type\": *\"[a-z]*\"')\n"
      "echo \"$name $(echo \"$CLUSTER_SPEC\" | grep -o ':[0-9]*\"' | wc -l)\"\n"
      "case $name in *worker*) sleep 100;; esac");
  const Transcript run =
      Submit("cluster",
             {"--stream-logs", "--scale-tier", "custom", "--master-machine-type", "n1-standard-4",
              "--worker-machine-type", "n1-standard-4", "--worker-count", "2"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("Job completed successfully."));
}

TEST_P(EngineJobs, ReportTheMetricsOfTrials) { ReportMetricsOfTrials(); }

TEST_P(EngineJobs, ReportTheMetricsOfTrialsThatAnotherUserRuns) {
  ReportMetricsOfTrials({{"User", "1000:1000"}});
}

TEST_P(EngineJobs, GetSigtermWhenTheyAreCancelled) {
  SubmitAndAwaitStart("cancelled", "while true; do sleep 0.1; done");
  EXPECT_EQ(caip_.Run({"jobs", "cancel", "cancelled"}).exit_code, 0);
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("cancelled") == "CANCELLED"; }));
  EXPECT_THAT(caip_.LogOf("cancelled"), HasSubstr("ends now"));
}

TEST_P(EngineJobs, LeaveNothingOfAKilledEmulator) {
  SubmitAndAwaitStart("killed", "while true; do sleep 0.1; done");
  const std::vector<int> emulators = EmulatorsOn(caip_.state());
  EXPECT_FALSE(emulators.empty());
  for (const int process : emulators) ::kill(process, SIGKILL);
  const Transcript list = caip_.Run({"jobs", "list", "--container-engine", GetParam()});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_EQ(caip_.Run({"jobs", "cancel", "killed"}).exit_code, 0);
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("killed") == "CANCELLED"; }));
}

TEST_P(EngineJobs, WithoutTheProgramFailWithItsName) {
  MakeImage("true", {{"Entrypoint", {"/bin/missing"}}});
  EXPECT_EQ(Submit("missing").exit_code, 1);
  EXPECT_THAT(caip_.LogOf("missing"), HasSubstr("/bin/missing"));
}

// On caip's own engine, from the store of podman.
TEST(PodmanStore, HasImagesByTheirTagAndByTheirDigestOnly) {
  const TemporaryDirectory root("caip-layer-");
  WriteBusybox(root.path());
  BundledOnTrial machines;
  PodmanOnTrial podman;
  for (const std::string& why_not : {machines.Start(root.path()), podman.Start(root.path())}) {
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }
  podman.AddImage(root.path(), "gcr.io/demo/stored:v1");
  CaipCommand caip;
  for (const auto& [name, value] : podman.Environment()) caip.Set(name, value);
  const auto submit = [&](const std::string& job, const std::string& image) {
    const Transcript run =
        caip.Run({"jobs", "submit", "training", job, "--region", "us-central1",
                  "--master-image-uri", image, "--stream-logs", "--", "/bin/echo", "stored"});
    return run.exit_code == 0 ? "" : StringOr(caip.Describe(job), "errorMessage");
  };
  EXPECT_EQ(submit("tag", "gcr.io/demo/stored:v1"), "");
  EXPECT_EQ(submit("digest", "gcr.io/demo/stored@" + podman.DigestOf("gcr.io/demo/stored:v1")), "");
  EXPECT_THAT(submit("other", "gcr.io/demo/stored@sha256:" + std::string(64, '0')),
              AllOf(HasSubstr("is not on this host"),
                    HasSubstr("An image of that name with another digest is not used.")));
}

INSTANTIATE_TEST_SUITE_P(Each, EngineJobs, ::testing::Values("bundled", "podman", "docker"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace caip::testing
