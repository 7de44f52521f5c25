// The same jobs from the same images on each engine that runs containers: caip itself, podman and
// docker. An engine that does not work on this host is skipped with the reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "host/machine/machines.h"
#include "host/process/child_process.h"
#include "places.h"
#include "tests/support/caip_command.h"
#include "tests/support/oci_layout.h"

namespace caip::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kImageOfEngines[] = "gcr.io/demo/trainer:v1";

using Settings = std::vector<std::pair<std::string, std::string>>;

/// An engine with a store of its own, which is removed afterwards.
class EngineOnTrial {
 public:
  virtual ~EngineOnTrial() = default;
  /// Why the engine does not work here; "" if it does.
  virtual std::string Start(const Path& root_files) = 0;
  /// The environment for its program.
  virtual Settings Environment() const { return {}; }
  /// The ids of all its containers, one a line.
  virtual std::string Containers() const { return ""; }

 protected:
  host::ToolOutput Ask(std::vector<std::string> argv) const {
    host::Variables environment = host::OwnEnvironment();
    for (const auto& [name, value] : Environment()) {
      std::erase_if(environment, [&](const auto& one) { return one.first == name; });
      environment.emplace_back(name, value);
    }
    auto asked = host::CaptureTool(
        {.argv = std::move(argv), .environment = environment, .timeout = std::chrono::seconds(60)});
    if (asked.ok()) return *std::move(asked);
    return {.result = {.exit_code = 127}, .out = "", .err = asked.error().message};
  }
  const Path& directory() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_{"caip-engine-"};
};

class BundledOnTrial final : public EngineOnTrial {
 public:
  std::string Start(const Path&) override {
    const TemporaryDirectory trial("caip-trial-");
    const auto why_not = host::TryMachine(Path(CAIP_BINARY_DIR) / "caip-launcher", trial.path());
    return why_not ? "replicas cannot have machines here: " + *why_not : "";
  }
};

class PodmanOnTrial final : public EngineOnTrial {
 public:
  // The first runtime that runs a program: hosts differ in the control groups that each can use.
  std::string Start(const Path& root_files) override {
    std::string last = "it is not installed";
    for (const char* runtime : {"", "crun", "runc"}) {
      const std::string line =
          *runtime ? "runtime = \"" + std::string(runtime) + "\"\n" : std::string();
      Write("containers.conf", "[engine]\nevents_logger = \"file\"\n" + line +
                                   "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", "
                                   "\"nproc=512:512\"]\n");
      Write("storage.conf", "[storage]\ndriver = \"vfs\"\ngraphroot = \"" +
                                (directory() / "images").string() + "\"\nrunroot = \"" +
                                (directory() / "run").string() + "\"\n");
      const host::ToolOutput run = Ask({"podman", "run", "--rm", "--network=host", "--rootfs",
                                        root_files.string(), "/bin/echo", "works"});
      if (run.result.ok() && HasLine(run.out, "works")) return "";
      last = std::string(Trim(run.err));
    }
    return "podman cannot run a container here: " + last;
  }
  Settings Environment() const override {
    return {{"CONTAINERS_CONF", (directory() / "containers.conf").string()},
            {"CONTAINERS_STORAGE_CONF", (directory() / "storage.conf").string()}};
  }
  std::string Containers() const override { return Ask({"podman", "ps", "-a", "-q"}).out; }

  /// Puts an image with these files into the engine's store.
  void AddImage(const Path& root_files, const std::string& name) const {
    const std::string archive = (directory() / "root.tar").string();
    EXPECT_TRUE(Ask({"tar", "-C", root_files.string(), "-cf", archive, "."}).result.ok());
    const host::ToolOutput imported = Ask({"podman", "import", archive, name});
    EXPECT_TRUE(imported.result.ok()) << imported.err;
  }
  std::string DigestOf(const std::string& name) const {
    return std::string(
        Trim(Ask({"podman", "image", "inspect", "--format", "{{.Digest}}", name}).out));
  }

 private:
  static bool HasLine(const std::string& text, const std::string& line) {
    return Trim(text) == line;
  }
  void Write(const char* name, const std::string& text) const {
    EXPECT_TRUE(WriteFile(directory() / name, text).ok());
  }
};

/// With a daemon of its own.
class DockerOnTrial final : public EngineOnTrial {
 public:
  ~DockerOnTrial() override {
    if (daemon_ <= 0) return;
    ::kill(daemon_, SIGTERM);
    ::waitpid(daemon_, nullptr, 0);
    ::umount2((directory() / "exec/netns/default").c_str(), MNT_DETACH);  // dockerd leaves it
  }
  std::string Start(const Path& root_files) override {
    const std::string path = host::FindVariable(host::OwnEnvironment(), "PATH").value_or("");
    if (host::FindProgram("docker", path).empty()) return "docker is not installed";
    if (host::FindProgram("dockerd", path).empty()) return "dockerd is not installed";
    if (::geteuid() != 0) return "only root may start dockerd";
    StartDaemon();
    const bool answers = Eventually([this] { return Ask({"docker", "version"}).result.ok(); }, 60);
    if (!answers) return "dockerd does not answer: " + LogEnd();
    const Path archive = directory() / "root.tar";
    const host::ToolOutput packed =
        Ask({"tar", "-C", root_files.string(), "-cf", archive.string(), "."});
    const host::ToolOutput imported = Ask({"docker", "import", archive.string(), "trial"});
    const host::ToolOutput run =
        Ask({"docker", "run", "--rm", "--network=host", "trial", "/bin/echo", "works"});
    if (packed.result.ok() && imported.result.ok() && run.result.ok()) return "";
    return "docker cannot run a container here: " + std::string(Trim(run.err + imported.err));
  }
  Settings Environment() const override { return {{"DOCKER_HOST", Address()}}; }
  std::string Containers() const override { return Ask({"docker", "ps", "-a", "-q"}).out; }

 private:
  std::string Address() const { return "unix://" + (directory() / "socket").string(); }
  std::string LogEnd() const {
    const auto log = ReadFile(directory() / "log");
    return log.ok() ? log->substr(log->size() - std::min<size_t>(log->size(), 300)) : "";
  }
  void StartDaemon() {
    const std::string root = directory().string();
    const std::string command =
        "exec dockerd --storage-driver vfs --bridge none --iptables=false "
        "--data-root " +
        root + "/data --exec-root " + root + "/exec --pidfile " + root + "/pid -H " + Address() +
        " >" + root + "/log 2>&1";
    daemon_ = ::fork();
    if (daemon_ != 0) return;
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }

  pid_t daemon_ = 0;
};

std::unique_ptr<EngineOnTrial> MakeTrial(const std::string& engine) {
  if (engine == "podman") return std::make_unique<PodmanOnTrial>();
  if (engine == "docker") return std::make_unique<DockerOnTrial>();
  return std::make_unique<BundledOnTrial>();
}

class EngineJobs : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const TemporaryDirectory base("caip-layer-");
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

  void MakeImage(const std::string& script, Json config = Json::object()) {
    const TemporaryDirectory app("caip-layer-");
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

TEST_P(EngineJobs, ReportTheMetricsOfTrials) {
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
      "\\\"trial\\\": \\\"$CLOUD_ML_TRIAL_ID\\\"}\" >> $CLOUD_ML_HP_METRIC_FILE");
  const Transcript run = Submit("tuned", {"--stream-logs", "--config", config.string()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::string job = CompactJson(caip_.Describe("tuned"));
  EXPECT_THAT(job, AllOf(HasSubstr("\"objectiveValue\":0.5"), HasSubstr("\"trialId\":\"2\"")));
}

TEST_P(EngineJobs, GetSigtermWhenTheyAreCancelled) {
  SubmitAndAwaitStart("cancelled", "while true; do sleep 0.1; done");
  EXPECT_EQ(caip_.Run({"jobs", "cancel", "cancelled"}).exit_code, 0);
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("cancelled") == "CANCELLED"; }));
  EXPECT_THAT(caip_.LogOf("cancelled"), HasSubstr("ends now"));
}

TEST_P(EngineJobs, LeaveNothingOfAKilledEmulator) {
  SubmitAndAwaitStart("killed", "while true; do sleep 0.1; done");
  for (const int process : ProcessesMentioning(caip_.state().string())) {
    const auto name = ReadFile("/proc/" + std::to_string(process) + "/comm");
    if (name.ok() && Trim(*name) == "caip") ::kill(process, SIGKILL);
  }
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
