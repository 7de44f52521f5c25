// Jobs with a mapped image, from the command line to the outcome, without pip.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <set>

#include "base/text.h"
#include "base/time_text.h"
#include "tests/support/caip_command.h"

namespace caip::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kImage[] = "gcr.io/demo/probe:v1";

// The end of a script: the master ends once each other replica has come as far. The service stops
// those that still run when the master ends.
constexpr char kMeet[] = R"(
exec python3 -c '
import json, os, socket, time
spec = json.loads(os.environ["CLUSTER_SPEC"])
host, port = spec["cluster"]["master"][0].split(":")
if spec["task"]["type"] == "master":
    with socket.create_server((host, int(port))) as listener:
        for _ in range(sum(map(len, spec["cluster"].values())) - 1):
            listener.accept()
while spec["task"]["type"] != "master":
    try:
        socket.create_connection((host, int(port)))
        break
    except OSError:
        time.sleep(0.02)
')";

class ContainerJobs : public ::testing::Test {
 protected:
  // Maps the image to a shell script with this text.
  std::string Map(const std::string& script) {
    const Path file = caip_.state().parent_path() / "probe.sh";
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return std::string(kImage) + "=" + file.string();
  }

  std::vector<std::string> Words(const std::string& job, const std::string& mapping,
                                 std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"jobs",        "submit",      "training",           job,
                                      "--region",    "us-central1", "--master-image-uri", kImage,
                                      "--map-image", mapping};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  Transcript Submit(const std::string& job, const std::string& script,
                    std::vector<std::string> more = {}) {
    more.insert(more.begin(), "--stream-logs");
    return caip_.Run(Words(job, Map(script), more));
  }

  CaipCommand caip_;
};

TEST_F(ContainerJobs, MasterExitZeroSucceeds) {
  const Transcript run = Submit("ok_job", "echo hello from $CLOUD_ML_JOB_ID");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("hello from ok_job"));
  EXPECT_THAT(run.err, HasSubstr("Job completed successfully."));
  EXPECT_THAT(run.out, HasSubstr("state: SUCCEEDED"));
}

TEST_F(ContainerJobs, ShowPartsOfTheirLog) {
  Submit("a_log", "echo first; echo second; echo third; echo wrong >&2");
  const auto lines = [&](std::vector<std::string> words) {
    std::vector<std::string> all = {"jobs", "logs", "a_log"};
    all.insert(all.end(), words.begin(), words.end());
    const Transcript run = caip_.Run(all);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.out;
  };
  EXPECT_THAT(lines({}), ::testing::AllOf(HasSubstr("\tfirst\n"), HasSubstr("completed")));
  EXPECT_THAT(lines({"--replica", "master-0"}),
              ::testing::AllOf(HasSubstr("\tthird\n"), Not(HasSubstr("completed"))));
  EXPECT_THAT(lines({"--severity", "error"}),
              ::testing::AllOf(HasSubstr("\twrong\n"), Not(HasSubstr("\tfirst\n"))));
  EXPECT_EQ(Split(lines({"--tail", "2"}), '\n').size(), 3u);
  EXPECT_EQ(lines({"--follow"}), lines({}));
  EXPECT_EQ(caip_.Run({"jobs", "logs", "a_log", "--severity", "LOUD"}).exit_code, 2);
  EXPECT_EQ(caip_.Run({"jobs", "logs", "no_such_job"}).exit_code, 1);
}

TEST_F(ContainerJobs, CanBeDeletedWhenTheyHaveEnded) {
  Submit("again", "echo the first; sleep 0.1", {"--keep-disks"});
  EXPECT_TRUE(std::filesystem::exists(caip_.state() / "kept-disks/demo/again"));
  const Transcript deleted = caip_.Run({"jobs", "delete", "again"});
  EXPECT_EQ(deleted.exit_code, 0) << deleted.err;
  EXPECT_EQ(deleted.err, "Deleted job [again].\n");
  EXPECT_FALSE(std::filesystem::exists(caip_.state() / "kept-disks/demo/again"));
  EXPECT_TRUE(caip_.Describe("again").is_null());
  EXPECT_EQ(Submit("again", "echo the second").exit_code, 0);
  const std::string log = caip_.LogOf("again");
  EXPECT_THAT(log, HasSubstr("the second"));
  EXPECT_THAT(log, Not(HasSubstr("the first")));
  EXPECT_THAT(caip_.Run({"jobs", "delete", "none"}).err, HasSubstr("could not be found"));

  Submit("once", "true");
  EXPECT_EQ(caip_.Run({"jobs", "delete", "once", "--strict"}).exit_code, 0);
  const Transcript taken = caip_.Run(Words("once", Map("true")));
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_THAT(taken.err, HasSubstr("stays taken because of --strict. Choose another id."));

  caip_.Run(Words("running", Map("sleep 60")));
  const Transcript refused = caip_.Run({"jobs", "delete", "running", "again"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err,
              HasSubstr("running: FAILED_PRECONDITION: The job running has not ended."));
  EXPECT_THAT(refused.err, HasSubstr("Deleted job [again]."));
  caip_.Run({"jobs", "cancel", "running"});
}

// A submit that is refused leaves a server behind, which was started without the flag.
TEST_F(ContainerJobs, TakeFlagsThatTheIdleServerWasNotStartedWith) {
  const std::vector<std::string> bucket = {"--job-dir", "gs://not-made-yet/out"};
  const Transcript refused = caip_.Run(Words("first", Map("exit 0"), bucket));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("does not exist"));
  const Transcript taken = caip_.Run(
      Words("first", Map("sleep 30"), {"--create-buckets", "--job-dir", "gs://not-made-yet/out"}));
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_THAT(taken.err, HasSubstr("It starts again with"));
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("first") == "RUNNING"; }));

  const Transcript busy = caip_.Run({"buckets", "list", "--seed", "7"});
  EXPECT_EQ(busy.exit_code, 1);
  EXPECT_THAT(busy.err, HasSubstr("cannot take --seed 7 any more"));
  caip_.Run({"jobs", "cancel", "first"});
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("first") == "CANCELLED"; }));
  const Transcript idle = caip_.Run({"ls", "--seed", "7"});
  EXPECT_EQ(idle.exit_code, 0) << idle.err;
  EXPECT_EQ(idle.out, "gs://not-made-yet/\n") << "the buckets stay";
  EXPECT_EQ(
      caip_.Run(Words("third", Map("exit 0"), {"--job-dir", "gs://another-one/out"})).exit_code, 0)
      << "--create-buckets stays";
}

TEST_F(ContainerJobs, KeepTheIdleServerIfTheFlagsCannotBeUsed) {
  EXPECT_EQ(Submit("one", "echo one").exit_code, 0);
  caip_.Run(Words("two", Map("exit 0")));
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("two") == "SUCCEEDED"; }));
  const Transcript refused = caip_.Run({"ls", "--emulator-config", "/nonexistent.yaml"});
  EXPECT_EQ(refused.exit_code, 2) << "the command line names the file";
  EXPECT_THAT(refused.err, Not(HasSubstr("starts again")));
  const Transcript mapped = caip_.Run({"jobs", "submit", "training", "three", "--region",
                                       "us-central1", "--master-image-uri", kImage});
  EXPECT_EQ(mapped.exit_code, 0) << mapped.err;
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("three") == "SUCCEEDED"; }));
}

TEST_F(ContainerJobs, AreListedWithTheirReplicasWhileTheyRun) {
  EXPECT_EQ(caip_.Run({"ps"}).exit_code, 1) << "no emulator runs";
  caip_.Run(Words("busy", Map("sleep 60")));
  const auto rows = [&] { return caip_.Run({"ps"}).out; };
  std::string shown;  // PREPARING while the start of the replica is being saved
  EXPECT_TRUE(Eventually([&] {
    shown = rows();
    return shown.find("master-0") != std::string::npos &&
           shown.find("RUNNING") != std::string::npos;
  })) << shown;
  EXPECT_THAT(shown, ::testing::MatchesRegex("JOB +STATUS +REPLICA +TRIAL +BOOT +PID\n"
                                             "busy +RUNNING +master-0 +1 +[0-9]+\n"));
  caip_.Run({"jobs", "cancel", "busy"});
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("busy") == "CANCELLED"; }));
  EXPECT_EQ(caip_.Run({"ps"}).err, "No job runs or waits.\n");
}

TEST_F(ContainerJobs, EndTheirLogWhileTheyPrint) {
  caip_.Run(Words("chatty", Map("while :; do echo line; sleep 0.001; done")));
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("chatty") == "RUNNING"; }));
  EXPECT_EQ(Split(caip_.Run({"jobs", "logs", "chatty", "--tail", "2"}).out, '\n').size(), 3u);
  caip_.Run({"jobs", "cancel", "chatty"});
}

TEST_F(ContainerJobs, AreCleanedUpByAge) {
  Submit("one", "exit 0");
  Submit("two", "exit 3");
  EXPECT_EQ(caip_.Run({"clean", "--older-than", "1h"}).err, "Deleted 0 jobs.\n");
  const Transcript dry = caip_.Run({"clean", "--dry-run"});
  EXPECT_EQ(dry.out, "one\ntwo\n");
  EXPECT_EQ(dry.err, "Would delete 2 jobs.\n");
  EXPECT_EQ(caip_.StateOf("two"), "FAILED");
  EXPECT_EQ(caip_.Run({"clean"}).err, "Deleted 2 jobs.\n");
  EXPECT_EQ(caip_.Run({"jobs", "list"}).err, "Listed 0 items.\n");
  EXPECT_EQ(caip_.Run({"clean", "--older-than", "soon"}).exit_code, 2);
}

TEST_F(ContainerJobs, LeaveNothingBehind) {
  const Transcript run =
      Submit("tidy", "setsid sleep 1000 & (setsid sh -c 'sleep 1000 &') & exit 0");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  // the emulator inside the command ends after the command
  EXPECT_TRUE(Eventually([&] { return ProcessesMentioning(caip_.state().string()).empty(); }));
}

TEST_F(ContainerJobs, MasterExitNonZeroFailsTheJobAndTheCommand) {
  const Transcript run = Submit("bad_job", "echo oops >&2; exit 3");
  EXPECT_EQ(run.exit_code, 1);
  const Json job = caip_.Describe("bad_job");
  EXPECT_EQ(StringOr(job, "state"), "FAILED");
  EXPECT_THAT(StringOr(job, "errorMessage"),
              HasSubstr("The replica master 0 exited with a non-zero status of 3."));
  EXPECT_NE(Member(job, "endTime"), nullptr);
}

TEST_F(ContainerJobs, ArgumentsAndJobDirReachTheEntrypoint) {
  ASSERT_EQ(caip_.Run({"buckets", "create", "bkt-1"}).exit_code, 0);
  const Transcript run = Submit("args_job", "for a; do echo \"arg <$a>\"; done",
                                {"--job-dir", "gs://bkt-1/out", "--", "--x", "a b", "--", "c"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::string args;
  for (const std::string& line : Split(run.err, '\n')) {
    if (const size_t at = line.find("arg <"); at != std::string::npos) args += line.substr(at + 4);
  }
  EXPECT_EQ(args, "<--x><a b><--><c><--job-dir><gs://bkt-1/out>");
}

TEST_F(ContainerJobs, AClusterSharesOneClusterSpec) {
  const Transcript run =
      Submit("cluster", std::string("echo \"SPEC $CLUSTER_SPEC\"; echo \"TF $TF_CONFIG\"") + kMeet,
             {"--scale-tier", "custom", "--master-machine-type", "n1-standard-4",
              "--worker-machine-type", "n1-standard-4", "--worker-count", "2",
              "--parameter-server-machine-type", "n1-standard-4", "--parameter-server-count", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::vector<std::string> clusters;
  for (const std::string& line : Split(run.err, '\n')) {
    const size_t at = line.find("SPEC {");
    if (at == std::string::npos) continue;
    const auto spec = ParseJson(line.substr(at + 5));
    ASSERT_TRUE(spec.ok()) << line;
    clusters.push_back(CompactJson((*spec)["cluster"]));
    EXPECT_THAT(StringOr((*spec)["task"], "type"), ::testing::AnyOf("master", "worker", "ps"));
  }
  ASSERT_EQ(clusters.size(), 4u);
  for (const std::string& cluster : clusters) EXPECT_EQ(cluster, clusters[0]);
  EXPECT_THAT(clusters[0], HasSubstr(":2222"));
}

TEST_F(ContainerJobs, AQueueOfTwentyMinutesCostsNothing) {
  const auto started = std::chrono::steady_clock::now();
  const Transcript run = Submit("queued", "echo ran", {"--queue-delay", "constant:20m"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::minutes(1));
  const Json job = caip_.Describe("queued");
  const auto created = ParseRfc3339(StringOr(job, "createTime"));
  const auto begun = ParseRfc3339(StringOr(job, "startTime"));
  ASSERT_TRUE(created && begun) << job.dump();
  EXPECT_GE(*begun - *created, std::chrono::minutes(20));
}

TEST_F(ContainerJobs, MaxWaitTimeCancelsAJobThatWaitsInTheQueue) {
  const Path config = caip_.state().parent_path() / "job.yaml";
  std::ofstream(config) << "trainingInput:\n  scheduling:\n    maxWaitTime: 1800s\n";
  const Transcript run =
      Submit("waiting", "echo ran", {"--queue-delay", "constant:31m", "--config", config.string()});
  EXPECT_EQ(run.exit_code, 1);
  const Json job = caip_.Describe("waiting");
  EXPECT_EQ(StringOr(job, "state"), "CANCELLED");
  EXPECT_EQ(Member(job, "startTime"), nullptr);
  EXPECT_NE(Member(job, "endTime"), nullptr);
}

TEST_F(ContainerJobs, FakeGpusAreAssignedInDisjointSets) {
  const Transcript run =
      Submit("gpus", std::string("echo \"GPUS $CUDA_VISIBLE_DEVICES\"") + kMeet,
             {"--fake-gpus", "4xNVIDIA_TESLA_T4", "--scale-tier", "custom", "--master-machine-type",
              "n1-standard-8", "--master-accelerator", "type=nvidia-tesla-t4,count=2",
              "--worker-machine-type", "n1-standard-8", "--worker-count", "1",
              "--worker-accelerator", "type=nvidia-tesla-t4,count=2"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::set<std::string> devices;
  size_t lines = 0;
  for (const std::string& line : Split(run.err, '\n')) {
    const size_t at = line.find("GPUS GPU-");
    if (at == std::string::npos) continue;
    ++lines;
    for (const std::string& device : Split(line.substr(at + 5), ',')) devices.insert(device);
  }
  EXPECT_EQ(lines, 2u) << run.err;
  EXPECT_EQ(devices.size(), 4u) << run.err;
}

TEST_F(ContainerJobs, AnIdIsNeverFreeAgain) {
  ASSERT_EQ(Submit("once", "exit 0").exit_code, 0);
  const Transcript again = Submit("once", "exit 0");
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("A job with this id already exists."));
  EXPECT_EQ(caip_.StateOf("once"), "SUCCEEDED");
}

TEST_F(ContainerJobs, CancelStopsAJobOfTheBackgroundServer) {
  const Transcript submit = caip_.Run(Words("long", Map("echo up; exec sleep 1000")));
  ASSERT_EQ(submit.exit_code, 0) << submit.err;
  EXPECT_THAT(submit.err, HasSubstr("Job [long] submitted successfully."));
  ASSERT_TRUE(Eventually([&] { return caip_.StateOf("long") == "RUNNING"; }));
  EXPECT_EQ(caip_.Run({"jobs", "cancel", "long"}).exit_code, 0);
  ASSERT_TRUE(Eventually([&] { return caip_.StateOf("long") == "CANCELLED"; }));
  EXPECT_EQ(caip_.Run({"jobs", "cancel", "long"}).exit_code, 0) << "a finished job: no-op";
  EXPECT_EQ(caip_.Run({"stop"}).exit_code, 0);
  EXPECT_TRUE(Eventually([&] { return ProcessesMentioning(caip_.state().string()).empty(); }));
}

TEST_F(ContainerJobs, AKilledEmulatorLosesNoJobAndLeavesNoReplica) {
  const std::string marker = (caip_.state().parent_path() / "second").string();
  // The first boot waits forever. The boot after the restart finds the marker and ends.
  // Both need a file of this host.
  std::filesystem::create_directories(caip_.state());
  ASSERT_TRUE(WriteFile(caip_.state() / "config.yaml", "isolation: process\n").ok());
  const auto words = Words(
      "survivor", Map("[ -e " + marker + " ] && exit 0; touch " + marker + "; exec sleep 1000"));
  ASSERT_EQ(caip_.Run(words).exit_code, 0);
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(marker); }));
  for (int id : ProcessesMentioning("serve")) {
    const auto command = ReadFile("/proc/" + std::to_string(id) + "/cmdline");
    if (command.ok() && command->find(caip_.state().string()) != std::string::npos &&
        command->find("caip") != std::string::npos) {
      ::kill(id, SIGKILL);
    }
  }
  EXPECT_TRUE(Eventually([&] { return ProcessesMentioning("survivor").empty(); }));
  // Any command starts an emulator on the state again. It resumes the job as after lost machines.
  ASSERT_TRUE(Eventually([&] { return caip_.StateOf("survivor") == "SUCCEEDED"; }))
      << caip_.Describe("survivor").dump();
}

TEST_F(ContainerJobs, TwoConcurrentJobsNeverShareAnAddress) {
  const std::string mapping = Map("echo \"CLUSTER $CLUSTER_SPEC\"; sleep 0.5");
  ASSERT_EQ(caip_.Run(Words("first", mapping)).exit_code, 0);
  ASSERT_EQ(caip_.Run(Words("second", mapping)).exit_code, 0);
  ASSERT_TRUE(Eventually([&] {
    return caip_.StateOf("first") == "SUCCEEDED" && caip_.StateOf("second") == "SUCCEEDED";
  }));
  const auto address = [&](const std::string& job) {
    const std::string log = caip_.LogOf(job);
    const size_t at = log.find("[\"127.");
    return at == std::string::npos ? log : log.substr(at, log.find(']', at) - at);
  };
  EXPECT_NE(address("first"), address("second"));
}

// A client that trusts nobody, as one that reads neither the system's file nor the variables.
TEST_F(ContainerJobs, AreToldWhichClientDoesNotTrustTheirStorage) {
  const std::string mapping = Map(R"(exec python3 -c '
import http.client, os, ssl, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["https_proxy"])
nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
link = http.client.HTTPSConnection(proxy.hostname, proxy.port, context=nobody)
link.set_tunnel("storage.googleapis.com", headers={"User-Agent": "TSL"})
try:
    link.request("GET", "/")
except OSError as error:
    print(error)
')");
  const auto expect_warning = [&](const std::string& job, std::vector<std::string> isolation) {
    ASSERT_EQ(caip_.Run(Words(job, mapping, std::move(isolation))).exit_code, 0);
    EXPECT_TRUE(Eventually([&] {
      return caip_.LogOf(job).find(
                 "The client 'TSL' in this replica does not trust caip's "
                 "certificate for storage.googleapis.com") != std::string::npos;
    })) << caip_.LogOf(job);
  };
  expect_warning("by_default", {});
  ASSERT_EQ(caip_.Run({"stop"}).exit_code, 0);
  expect_warning("as_process", {"--isolation", "process"});
}

}  // namespace
}  // namespace caip::testing
