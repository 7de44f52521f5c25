// Commands that run at the same time, and an emulator that is embedded in one of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <future>

#include "host/store/state_directory.h"
#include "tests/support/caip_command.h"

namespace caip::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSideImage = "gcr.io/demo/task:v1";

// Reports its start, and ends when the test releases it.
constexpr const char* kTask =
    "echo $$ >> starts-$1\n"
    "echo hello from $1\n"
    "while [ ! -e go-$1 ]; do sleep 0.02; done\n"
    "echo goodbye from $1\n";

class SideBySide : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(caip_.state());
    fs::create_directories(folder_);
    std::ofstream(folder_ / "task.sh") << "cd " << folder_.string() << "\n" << kTask;
    std::ofstream(caip_.state() / "config.yaml")
        << "images: {\"" << kSideImage << "\": [\"/bin/sh\", \"" << (folder_ / "task.sh").string()
        << "\"]}\nisolation: process\n";  // the test and its jobs meet in files of this host
  }

  static std::vector<std::string> Submit(const std::string& job, bool stream) {
    std::vector<std::string> words = {"jobs",     "submit",      "training",           job,
                                      "--region", "us-central1", "--master-image-uri", kSideImage};
    if (stream) words.push_back("--stream-logs");
    words.insert(words.end(), {"--", job});
    return words;
  }

  void Release(const std::string& job) { std::ofstream(folder_ / ("go-" + job)) << "go"; }

  // One line for each time that the job's process was started.
  size_t Starts(const std::string& job) {
    std::ifstream file(folder_ / ("starts-" + job));
    return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }

  void AwaitStart(const std::string& job, size_t count = 1) {
    ASSERT_TRUE(Eventually([&] { return Starts(job) >= count; })) << job << " did not start";
  }

  // Reads the job's own file: a caip command would be a further user of the emulator.
  int OwnerPid() {
    const auto owner = host::StateDirectory::Peek(caip_.state());
    return owner.ok() && *owner ? (*owner)->pid : 0;
  }

  void ExpectNoProcessLeft() {
    EXPECT_TRUE(Eventually([&] { return ProcessesMentioning(caip_.state().string()).empty(); }));
  }

  // Descriptors of live processes on the output files of the commands.
  int HoldersOfOutput() {
    int holders = 0;
    std::error_code error;
    for (const auto& process : fs::directory_iterator("/proc", error)) {
      fs::directory_iterator it(process.path() / "fd", error);
      for (; !error && it != fs::directory_iterator(); it.increment(error)) {
        const std::string file = fs::read_symlink(it->path(), error).string();
        holders += file.starts_with((caip_.state().parent_path() / "run-").string()) ? 1 : 0;
        error.clear();
      }
    }
    return holders;
  }

  // Runs all commands at once, and returns their transcripts.
  std::vector<Transcript> RunAll(const std::vector<std::vector<std::string>>& commands) {
    std::vector<std::future<Transcript>> runs;
    for (const auto& words : commands) {
      runs.push_back(std::async(std::launch::async, [this, words] { return caip_.Run(words); }));
    }
    std::vector<Transcript> done;
    for (auto& run : runs) done.push_back(run.get());
    return done;
  }

  CaipCommand caip_;
  Path folder_ = caip_.state().parent_path() / "work";
};

TEST_F(SideBySide, CommandsThatStartAtOnceShareAnEmulator) {
  for (int round = 0; round < 5; ++round) {
    for (const Transcript& run : RunAll({10, {"jobs", "list"}})) {
      EXPECT_EQ(run.exit_code, 0) << run.err;
    }
  }
  ExpectNoProcessLeft();
}

TEST_F(SideBySide, NoReportedSuccessIsLost) {
  std::vector<std::vector<std::string>> commands;
  for (int i = 0; i < 12; ++i) {
    commands.push_back({"buckets", "create", "bucket-" + std::to_string(i)});
  }
  for (const Transcript& run : RunAll(commands)) EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::string list = caip_.Run({"buckets", "list"}).out;
  for (int i = 0; i < 12; ++i) EXPECT_THAT(list, HasSubstr("bucket-" + std::to_string(i)));
}

TEST_F(SideBySide, SubmitsThatStartAtOnceShareOneServer) {
  std::vector<std::vector<std::string>> commands;
  for (int i = 0; i < 6; ++i) {
    const std::string job = "job_" + std::to_string(i);
    Release(job);
    commands.push_back(Submit(job, i % 3 == 2));
  }
  for (const Transcript& run : RunAll(commands)) EXPECT_EQ(run.exit_code, 0) << run.err;
  for (int i = 0; i < 6; ++i) {
    const std::string job = "job_" + std::to_string(i);
    EXPECT_TRUE(Eventually([&] { return caip_.StateOf(job) == "SUCCEEDED"; })) << job;
    EXPECT_EQ(Starts(job), 1u) << job;
  }
}

TEST_F(SideBySide, ACommandThatEndsDoesNotStopTheJobsOfOthers) {
  RunningCommand first = caip_.Start(Submit("first", true));
  AwaitStart("first");
  const Transcript second = caip_.Run(Submit("second", false));
  ASSERT_EQ(second.exit_code, 0) << second.err;
  AwaitStart("second");
  Release("first");
  const Transcript end = first.End();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("state: SUCCEEDED"));
  Release("second");
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("second") == "SUCCEEDED"; }));
  EXPECT_EQ(Starts("second"), 1u) << "its process must keep running";
}

// The emulator of the first command goes on for the second one, and then has nothing to do.
TEST_F(SideBySide, OtherFlagsReplaceTheEmulatorOfACommandThatHasEnded) {
  RunningCommand first = caip_.Start(Submit("first", true));
  AwaitStart("first");
  ASSERT_EQ(caip_.Run(Submit("second", false)).exit_code, 0);
  Release("second");
  ASSERT_TRUE(Eventually([&] { return caip_.StateOf("second") == "SUCCEEDED"; }));
  std::vector<std::string> words = Submit("third", true);
  words.insert(words.begin() + 4, {"--seed", "7"});
  Release("third");
  const Transcript refused = caip_.Run(words);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("cannot take --seed")) << "the first command uses it";
  Release("first");
  ASSERT_EQ(first.End().exit_code, 0);
  const Transcript third = caip_.Run(words);
  EXPECT_EQ(third.exit_code, 0) << third.err;
  EXPECT_THAT(third.err, HasSubstr("had nothing to do"));
}

TEST_F(SideBySide, AFollowerOfAnotherCommandsEmulatorSeesItsJobsEnd) {
  RunningCommand first = caip_.Start(Submit("first", true));
  AwaitStart("first");
  RunningCommand second = caip_.Start(Submit("second", true));
  AwaitStart("second");
  Release("first");
  EXPECT_EQ(first.End().exit_code, 0);
  Release("second");
  const Transcript end = second.End();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("goodbye from second"));
  EXPECT_THAT(end.out, HasSubstr("state: SUCCEEDED"));
  EXPECT_EQ(Starts("second"), 1u);
  ExpectNoProcessLeft();  // no command asked for a server
}

TEST_F(SideBySide, AJobContinuesWhenItsFollowerIsInterrupted) {
  struct Row {
    int signal;
    const char* said;
  };
  for (const auto& [signal, said] :
       {Row{SIGINT, "Received keyboard interrupt."}, Row{SIGTERM, "Received SIGTERM."},
        Row{SIGHUP, "The terminal was closed."}}) {
    const std::string job = "job_" + std::to_string(signal);
    RunningCommand command = caip_.Start(Submit(job, true));
    AwaitStart(job);
    ASSERT_TRUE(Eventually([&] { return command.err().find("hello") != std::string::npos; }));
    command.Signal(signal);
    const Transcript end = command.End();
    EXPECT_EQ(end.exit_code, 1) << end.err;
    EXPECT_THAT(end.err, HasSubstr(said));
    EXPECT_THAT(end.err, HasSubstr("Your job is still active."));
    EXPECT_THAT(end.out, HasSubstr("state: RUNNING"));
    EXPECT_EQ(HoldersOfOutput(), 0) << "a reader of its pipe would wait for the job";
    Release(job);
    EXPECT_TRUE(Eventually([&] { return caip_.StateOf(job) == "SUCCEEDED"; }));
    EXPECT_EQ(Starts(job), 1u) << "no other start";
    ExpectNoProcessLeft();
  }
}

TEST_F(SideBySide, AFollowerContinuesWithTheNextEmulatorWhenItsOwnIsKilled) {
  ASSERT_EQ(caip_.Run(Submit("job", false)).exit_code, 0);
  AwaitStart("job");
  RunningCommand follower = caip_.Start({"jobs", "stream-logs", "job"});
  ASSERT_TRUE(Eventually([&] { return follower.out().find("hello") != std::string::npos; }));
  ASSERT_GT(OwnerPid(), 0);
  ::kill(OwnerPid(), SIGKILL);
  AwaitStart("job", 2);  // as after the loss of its machine
  Release("job");
  const Transcript end = follower.End();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("goodbye from job"));
}

TEST_F(SideBySide, StopEndsAnEmbeddedEmulatorAndItsFollower) {
  RunningCommand command = caip_.Start(Submit("job", true));
  AwaitStart("job");
  EXPECT_EQ(caip_.Run({"stop"}).exit_code, 0);
  const Transcript end = command.End();
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.err, HasSubstr("The emulator was stopped"));
  ExpectNoProcessLeft();
  Release("job");
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("job") == "SUCCEEDED"; }));
}

TEST_F(SideBySide, ASubmitInterruptedDuringPackagingLeavesNothing) {
  WritePackage(folder_, "print(1)\n");
  fs::create_directories(folder_ / "tmp");
  const Path python = folder_ / "python";
  std::ofstream(python) << "#!/bin/sh\ntouch " << (folder_ / "building").string()
                        << "\nexec sleep 1000\n";
  fs::permissions(python, fs::perms::owner_all);
  caip_.Set("CLOUDSDK_PYTHON", python.string());
  caip_.Set("TMPDIR", (folder_ / "tmp").string());
  RunningCommand command =
      caip_.Start({"jobs", "submit", "training", "job", "--region", "us-central1", "--package-path",
                   (folder_ / "trainer").string(), "--module-name", "trainer.task",
                   "--staging-bucket", "gs://bkt"});
  ASSERT_TRUE(Eventually([&] { return fs::exists(folder_ / "building"); }));
  EXPECT_FALSE(fs::exists(folder_ / "setup.py"));
  command.Signal(SIGTERM);
  const Transcript end = command.End();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_THAT(end.err, HasSubstr("nothing was submitted"));
  EXPECT_TRUE(fs::is_empty(folder_ / "tmp"));
  ExpectNoProcessLeft();
}

TEST_F(SideBySide, ACommandReportsThatItsStateDirectoryIsNew) {
  fs::remove_all(caip_.state());
  EXPECT_THAT(caip_.Run({"jobs", "list"}).err, HasSubstr(caip_.state().string() + " is new"));
  EXPECT_THAT(caip_.Run({"jobs", "list"}).err, Not(HasSubstr("is new")));
}

}  // namespace
}  // namespace caip::testing
