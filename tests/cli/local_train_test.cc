#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files.h"
#include "base/json.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/local_train/cluster.h"

namespace caip::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LocalCluster, WritesTfConfigAsGcloudDoes) {
  EXPECT_EQ(SingleTfConfig("trainer.task", {"--a=1", "--job-dir", "/o"}),
            R"({"job": {"job_name": "trainer.task", "args": ["--a=1", "--job-dir", "/o"]}, )"
            R"("task": {}, "cluster": {}, "environment": "cloud"})");
  const LocalCluster cluster{"chief", 1, 1, 1, 27182};
  EXPECT_EQ(ClusterTfConfig("trainer.task", {"--a=1"}, cluster, {"ps", 0}),
            R"({"job": {"job_name": "trainer.task", "args": ["--a=1"]}, )"
            R"("task": {"type": "ps", "index": 0}, "cluster": {"chief": ["localhost:27182"], )"
            R"("ps": ["localhost:27183"], "worker": ["localhost:27184"]}, )"
            R"("environment": "cloud"})");
  EXPECT_THAT(ClusterTfConfig("t", {}, {"master", 0, 0, 0, 5}, {"master", 0}),
              HasSubstr(R"("cluster": {"master": ["localhost:5"], "ps": [], "worker": []})"));
}

TEST(LocalCluster, StartsServersWorkersEvaluatorsAndThenThePrimary) {
  std::string order;
  for (const LocalTask& task : TasksOf({"chief", 2, 1, 1, 1})) {
    order += task.type + std::to_string(task.index) + " ";
  }
  EXPECT_EQ(order, "ps0 ps1 worker0 evaluator0 chief0 ");
}

class LocalTrain : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("CLOUDSDK_ML_ENGINE_LOCAL_PYTHON", "/usr/bin/python3", 1);
    ::setenv("XDG_CACHE_HOME", (root_ / "cache").c_str(), 1);
    Write("trainer/__init__.py", "");
    command_.module_name = "trainer.task";
    command_.package_path = (root_ / "trainer").string();
  }
  void TearDown() override { ::unsetenv("CLOUDSDK_ML_ENGINE_LOCAL_PYTHON"); }

  void Write(const std::string& file, const std::string& text) {
    ASSERT_TRUE(MakeDirectories((root_ / file).parent_path()).ok());
    ASSERT_TRUE(WriteFile(root_ / file, text).ok());
  }

  int Run() {
    err_ = "";
    const Io io{[](std::string_view) {}, [this](std::string_view text) { err_ += text; }};
    return RunLocalTrain(command_, {io, {}, {}});
  }

  // Each process writes its arguments and TF_CONFIG into its own file.
  void WriteReporter(const std::string& more = "") {
    Write("trainer/task.py",
          "import json, os, sys\n"
          "config = json.loads(os.environ['TF_CONFIG'])\n"
          "task = config['task'].get('type', 'single') + str(config['task'].get('index', ''))\n"
          "with open(task + '.tmp', 'w') as f:\n"
          "  json.dump({'config': config, 'args': sys.argv[1:], 'cwd': os.getcwd(),\n"
          "             'pid': os.getpid(), 'home': os.environ.get('HOME')}, f)\n"
          "os.rename(task + '.tmp', task + '.json')\n" +
              more);
  }

  Json Report(const std::string& task) {
    const Result<std::string> text = ReadFile(root_ / (task + ".json"));
    return text.ok() ? *ParseJson(*text) : Json();
  }

  TemporaryDirectory directory_;
  Path root_ = fs::canonical(directory_.path());
  LocalTrainCommand command_;
  std::string err_;
};

TEST_F(LocalTrain, RunsTheModuleInTheParentOfThePackage) {
  WriteReporter("sys.exit(7)\n");
  command_.user_args = {"--a=1"};
  command_.job_dir = "/o";
  EXPECT_EQ(Run(), 7);
  const Json report = Report("single");
  EXPECT_EQ(report.at("cwd"), root_.string());
  EXPECT_EQ(report.at("args").dump(), R"(["--a=1","--job-dir","/o"])");
  EXPECT_EQ(report.at("config").at("job").at("args"), report.at("args"));
  EXPECT_EQ(report.at("config").at("task"), Json::object());
  EXPECT_EQ(report.at("home"), std::getenv("HOME") ? Json(std::getenv("HOME")) : Json());
  EXPECT_EQ(err_, "");
}

TEST_F(LocalTrain, WithoutAPackagePathTheWorkingDirectoryIsTheParentOfOurs) {
  WriteReporter();
  command_.package_path.reset();
  const Path before = fs::current_path();
  fs::current_path(root_ / "trainer");
  EXPECT_EQ(Run(), 0);
  fs::current_path(before);
  EXPECT_EQ(Report("single").at("cwd"), root_.string());
}

TEST_F(LocalTrain, WarnsOfCountsThatCountOnlyWithACluster) {
  WriteReporter();
  command_.worker_count = 2;
  command_.parameter_server_count = 0;  // gcloud warns of what is not nought
  EXPECT_EQ(Run(), 0);
  EXPECT_THAT(err_,
              HasSubstr("WARNING: --worker-count is ignored if --distributed is not provided."));
  EXPECT_THAT(err_, ::testing::Not(HasSubstr("--parameter-server-count")));
}

// The primary waits for the reports of all others, so that none is killed before its report.
constexpr const char* kWaitForOthers =
    "if task == 'chief0':\n"
    "  import select\n"
    "  wanted = ['ps0', 'worker0', 'worker1', 'evaluator0']\n"
    "  while not all(os.path.exists(name + '.json') for name in wanted):\n"
    "    select.select([], [], [], 0.01)\n"
    "  sys.exit(3)\n"
    "else:\n"
    "  import signal\n"
    "  signal.pause()\n";

TEST_F(LocalTrain, RunsAClusterAndEndsItWithThePrimary) {
  WriteReporter(kWaitForOthers);
  command_.distributed = true;
  command_.parameter_server_count = 1;
  command_.evaluator_count = 1;
  EXPECT_EQ(Run(), 3);
  const Json config = Report("chief0").at("config");
  EXPECT_EQ(config.at("cluster").dump(), R"({"chief":["localhost:27182"],"ps":["localhost:27183"],)"
                                         R"("worker":["localhost:27184","localhost:27185"]})");
  for (const char* task : {"ps0", "worker0", "worker1", "evaluator0"}) {
    const Json report = Report(task);
    EXPECT_EQ(report.at("config").at("cluster"), config.at("cluster"));
    EXPECT_NE(::kill(report.at("pid").get<int>(), 0), 0) << task << " is still there";
  }
  EXPECT_THAT(err_, HasSubstr("Cannot import tensorflow under path /usr/bin/python3"));
}

TEST_F(LocalTrain, CallsThePrimaryMasterWhereTensorFlowIsOld) {
  WriteReporter();
  Write("site/tensorflow/__init__.py",
        "open('" + (root_ / "imports").string() +
            "', 'a').write('x')\nclass version: VERSION = '1.15.2'\n");
  ::setenv("PYTHONPATH", (root_ / "site").c_str(), 1);
  command_.distributed = true;
  command_.worker_count = command_.parameter_server_count = 0;
  EXPECT_EQ(Run(), 0);
  EXPECT_EQ(Report("master0").at("config").at("task").dump(), R"({"type":"master","index":0})");
  EXPECT_EQ(Run(), 0);
  EXPECT_EQ(*ReadFile(root_ / "imports"), "x");  // imported once; its version is remembered
  ::unsetenv("PYTHONPATH");
  EXPECT_EQ(err_, "");
}

TEST_F(LocalTrain, SaysWhyAProcessCannotStart) {
  command_.package_path = (root_ / "no/where").string();
  EXPECT_EQ(Run(), 1);
  EXPECT_THAT(err_, HasSubstr("ERROR: (caip.local.train) cannot run '/usr/bin/python3' in '"));
  ::setenv("CLOUDSDK_ML_ENGINE_LOCAL_PYTHON", "/no/python", 1);
  EXPECT_EQ(Run(), 1);
  EXPECT_THAT(err_, HasSubstr("/no/python"));
}

TEST_F(LocalTrain, ASignalEndsAsAShellWouldSay) {
  Write("trainer/task.py", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n");
  EXPECT_EQ(Run(), 137);
}

// Counts the signals that reach the trainer, and waits a little for further ones.
constexpr const char* kCountInterrupts =
    "import select, signal\n"
    "counts = []\n"
    "signal.signal(signal.SIGINT, lambda *_: counts.append(1))\n"
    "open('ready', 'w').close()\n"
    "while not counts: select.select([], [], [], 0.01)\n"
    "select.select([], [], [], 0.3)\n"
    "sys.exit(40 + len(counts))\n";

TEST_F(LocalTrain, AnInterruptReachesThePrimaryOnceFromWhereverItComes) {
  WriteReporter(kCountInterrupts);
  for (const bool by_terminal : {false, true}) {
    int terminal = -1;
    const pid_t caip = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (caip == 0) ::_exit(Run());
    for (int i = 0; i < 3000 && !fs::exists(root_ / "ready"); ++i) ::poll(nullptr, 0, 10);
    ASSERT_TRUE(fs::exists(root_ / "ready"));
    if (by_terminal) {
      ASSERT_EQ(::write(terminal, "\x03", 1), 1);
    } else {
      ::kill(caip, SIGINT);
    }
    struct pollfd end {
      terminal, POLLIN, 0
    };
    char drained[256];
    while (::poll(&end, 1, 30'000) > 0 && ::read(terminal, drained, sizeof drained) > 0) {
    }
    int status = 0;
    ::waitpid(caip, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 41) << (by_terminal ? "Ctrl-C" : "kill -INT");
    ::close(terminal);
    fs::remove(root_ / "ready");
  }
}

// kill -9 of caip itself: every process that it started ends, too.
TEST_F(LocalTrain, NobodyOutlivesACaipThatIsKilled) {
  WriteReporter("import signal\nsignal.pause()\n");
  command_.distributed = true;
  command_.worker_count = command_.parameter_server_count = 1;
  // Every process of the cluster holds it open; it reaches its end when all of them have ended.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t caip = ::fork();
  if (caip == 0) {
    ::close(ends[0]);
    ::_exit(Run());
  }
  ::close(ends[1]);
  struct pollfd end {
    ends[0], POLLIN, 0
  };
  for (int i = 0; i < 3000 && Report("chief0").is_null(); ++i) ::poll(&end, 1, 10);
  ASSERT_FALSE(Report("chief0").is_null()) << "waited for the primary's report";
  ::kill(caip, SIGKILL);
  ::waitpid(caip, nullptr, 0);
  EXPECT_EQ(::poll(&end, 1, 30'000), 1) << "waited for all processes to be gone";
  EXPECT_TRUE(end.revents & POLLHUP);
  ::close(ends[0]);
}

}  // namespace
}  // namespace caip::cli
