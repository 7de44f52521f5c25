#include "host/process/child_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/descriptor_limit.h"
#include "base/files.h"

namespace caip::host {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

Tool AShellTool(const std::string& script) {
  Tool tool;
  tool.argv = {"sh", "-c", script};
  tool.environment = {{"PATH", "/usr/bin:/bin"}};
  return tool;
}

/// Tools with a guard, and without one.
class Tools : public ::testing::TestWithParam<bool> {
 protected:
  static Tool Guarded(Tool tool) {
    tool.is_guarded = GetParam();
    return tool;
  }
  static Tool AShellTool(const std::string& script) { return Guarded(host::AShellTool(script)); }
};

TEST_P(Tools, GiveTheNativeStatus) {
  const auto exited = RunTool(AShellTool("exit 7"));
  ASSERT_TRUE(exited.ok()) << exited.error().message;
  EXPECT_EQ(exited->exit_code, 7);
  EXPECT_EQ(exited->signal, 0);
  EXPECT_FALSE(exited->ok());
  EXPECT_EQ(exited->ShellStatus(), 7);
  // Not exit code 15, as Boost's own evaluation has it.
  const auto killed = RunTool(AShellTool("kill -TERM $$"));
  ASSERT_TRUE(killed.ok());
  EXPECT_EQ(killed->signal, SIGTERM);
  EXPECT_EQ(killed->ShellStatus(), 143);
  EXPECT_TRUE(RunTool(AShellTool("true"))->ok());
}

TEST_P(Tools, HandOutLinesOfBothStreamsAsTheyCome) {
  Tool tool = AShellTool("echo one; echo two >&2; printf 'three\\r\\n\\nlast'");
  Lines out, err;
  tool.on_line = [&](ToolStream stream, std::string_view line) {
    (stream == ToolStream::kOut ? out : err).emplace_back(line);
  };
  ASSERT_TRUE(RunTool(tool)->ok());
  EXPECT_THAT(out, ElementsAre("one", "three", "", "last"));
  EXPECT_THAT(err, ElementsAre("two"));
}

TEST_P(Tools, LoseNothingOfALotOfOutput) {
  Tool tool = AShellTool("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done");
  size_t lines = 0;
  bool in_order = true;
  tool.on_line = [&](ToolStream, std::string_view line) {
    in_order &= line == "line " + std::to_string(lines++);
  };
  ASSERT_TRUE(RunTool(tool)->ok());
  EXPECT_EQ(lines, 20000u);
  EXPECT_TRUE(in_order);
}

/// A pipe with a name, between a test and its tool.
class NamedPipe {
 public:
  explicit NamedPipe(const Path& path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    fd_ = Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  }
  void Write() { EXPECT_TRUE(WriteAll(fd_.get(), "\n")); }
  void Read() {
    char line = 0;
    EXPECT_EQ(::read(fd_.get(), &line, 1), 1);
  }

 private:
  Fd fd_;
};

// Waits until the process has ended. It stays a zombie: nobody has taken its status.
void AwaitZombie(pid_t pid) {
  siginfo_t info = {};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
}

// Asio reads ahead: what it has read waits in its queue, after the end of the tool.
TEST(RunTool, LosesNothingThatWasReadAheadWhenTheToolEnded) {
  const TemporaryDirectory directory;
  const auto path = [&](const char* name) { return directory.path() / name; };
  NamedPipe first(path("first")), second(path("second")), third(path("third"));
  NamedPipe written(path("written"));
  Tool tool = AShellTool(
      "echo $$; read x < first; echo error >&2; echo one; echo > written;"
      " read x < second; echo two; echo > written; read x < third; echo three");
  tool.directory = directory.path();
  Lines lines;
  tool.on_line = [&](ToolStream, std::string_view line) {
    lines.emplace_back(line);
    if (lines.size() == 1) first.Write(), written.Read();
    if (line == "one") second.Write(), written.Read();
    if (line == "error") third.Write(), AwaitZombie(std::stoi(lines.front()));
  };
  ASSERT_TRUE(RunTool(tool)->ok());
  lines.erase(lines.begin());
  EXPECT_THAT(lines, ElementsAre("one", "error", "two", "three"));
}

TEST_P(Tools, GetExactlyTheEnvironmentDirectoryAndInput) {
  TemporaryDirectory directory;
  Tool tool = Guarded({});
  tool.argv = {"/usr/bin/env"};
  tool.environment = {{"A", "1"}, {"B", "x y"}};
  EXPECT_EQ(CaptureTool(tool)->out, "A=1\nB=x y\n");
  tool = AShellTool("pwd -P; readlink /proc/$$/fd/0; ls /proc/$$/fd");
  tool.directory = directory.path();
  const Fd leak_me(::dup(STDERR_FILENO));
  EXPECT_EQ(CaptureTool(tool)->out,
            std::filesystem::canonical(directory.path()).string() + "\n/dev/null\n0\n1\n2\n");
}

// Calls `test` in a copy of this process, whose descriptors and limits are its own.
void InACopy(const std::function<void()>& test) {
  std::fflush(nullptr);
  const pid_t copy = ::fork();
  if (copy == 0) {
    test();
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(copy, &status, 0), copy);
  EXPECT_EQ(status, 0) << "the failure of the copy is above";
}

constexpr rlim_t kFewDescriptors = 64;

// Limits the descriptors of this process, and gives it an input other than /dev/null.
void LimitDescriptors() {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = kFewDescriptors;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const Fd zeros(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::dup2(zeros.get(), STDIN_FILENO), STDIN_FILENO);
}

TEST_P(Tools, GetTheFirstLimitOfAProcessThatHasMoreOpen) {
  InACopy([] {
    ASSERT_NO_FATAL_FAILURE(LimitDescriptors());
    RaiseDescriptorLimit();
    std::vector<Fd> open;
    while (open.size() < kFewDescriptors + 36) {
      open.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      ASSERT_TRUE(open.back().valid());
    }
    const auto output = CaptureTool(AShellTool("readlink /proc/$$/fd/0; ulimit -n"));
    ASSERT_TRUE(output.ok()) << output.error().message;
    EXPECT_TRUE(output->result.ok()) << output->result.ShellStatus();
    EXPECT_EQ(output->out, "/dev/null\n64\n");
  });
}

TEST_P(Tools, RunAsUsualOrNotAtAllWithTheLastDescriptors) {
  InACopy([] {
    ASSERT_NO_FATAL_FAILURE(LimitDescriptors());
    std::vector<Fd> open;
    do open.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    while (open.back().valid());
    size_t runs = 0;
    for (; runs < 3 && !open.empty(); open.pop_back()) {
      const auto output = CaptureTool(AShellTool("readlink /proc/$$/fd/0"));
      EXPECT_TRUE(output.ok() || runs == 0) << "it ran with fewer";
      if (!output.ok()) continue;
      ++runs;
      EXPECT_TRUE(output->result.ok()) << output->result.ShellStatus();
      EXPECT_EQ(output->out, "/dev/null\n");
    }
    EXPECT_EQ(runs, 3u);
  });
}

TEST_P(Tools, ResetSignalsThatWeIgnore) {
  const auto old_handler = ::signal(SIGPIPE, SIG_IGN);
  const auto result = RunTool(AShellTool("kill -PIPE $$; exit 0"));
  ::signal(SIGPIPE, old_handler);
  EXPECT_EQ(result->signal, SIGPIPE);
}

TEST_P(Tools, ThatCannotBeStartedSayWhy) {
  Tool tool = Guarded({});
  tool.argv = {"no-such-tool"};
  auto result = RunTool(tool);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::kNotFound);
  EXPECT_EQ(result.error().message, "cannot run 'no-such-tool': No such file or directory");
  tool.argv = {"/etc/passwd"};
  EXPECT_EQ(RunTool(tool).error().code, Code::kPermissionDenied);
  tool = AShellTool("true");
  tool.directory = "/no/such/directory";
  EXPECT_THAT(RunTool(tool).error().message, HasSubstr("in '/no/such/directory'"));
  tool.argv = {};
  EXPECT_EQ(RunTool(tool).error().code, Code::kInvalidArgument);
}

int told_by_copies[2];
pid_t original;

TEST_P(Tools, RunNoneOfOurDestructorsInTheCopyThatCouldNotBecomeTheTool) {
  ASSERT_EQ(::pipe2(told_by_copies, O_CLOEXEC | O_NONBLOCK), 0);
  original = ::getpid();
  std::atexit([] {
    if (::getpid() == original) return;
    [[maybe_unused]] const auto told = ::write(told_by_copies[1], "x", 1);
  });
  Tool tool = Guarded({});
  tool.argv = {"/no/such/tool"};
  ASSERT_FALSE(RunTool(tool).ok());
  char byte = 0;
  EXPECT_EQ(::read(told_by_copies[0], &byte, 1), -1) << "exit() was called in the copy";
}

TEST_P(Tools, ThatTakeTooLongAreStopped) {
  Tool tool = AShellTool("sleep 1000");
  tool.timeout = milliseconds(50);
  const auto result = RunTool(tool);
  EXPECT_TRUE(result->timed_out);
  EXPECT_FALSE(result->stopped);
  EXPECT_EQ(result->signal, SIGTERM);
}

// On a busy host the time may be over before the shell has set its trap: then it gets more.
TEST_P(Tools, ThatWillNotStopAreKilled) {
  Tool tool = AShellTool("trap '' TERM; echo trapped; while :; do sleep 1000 & wait; done");
  tool.grace = milliseconds(50);
  ToolOutput output;
  for (int ms = 50; ms < 60'000 && output.out.empty(); ms *= 4) {
    tool.timeout = milliseconds(ms);
    output = CaptureTool(tool).value();
  }
  EXPECT_EQ(output.out, "trapped\n");
  EXPECT_TRUE(output.result.timed_out);
  EXPECT_EQ(output.result.signal, SIGKILL);
}

TEST_P(Tools, StopWhenAsked) {
  std::stop_source source;
  Tool tool = AShellTool("echo ready; sleep 1000");
  tool.stop = source.get_token();
  tool.on_line = [&source](ToolStream, std::string_view) { source.request_stop(); };
  const auto result = RunTool(tool);
  EXPECT_TRUE(result->stopped);
  EXPECT_EQ(result->signal, SIGTERM);
}

TEST_P(Tools, AskedToStopBeforeTheyBeganStopToo) {
  std::stop_source source;
  source.request_stop();
  Tool tool = AShellTool("sleep 1000");
  tool.stop = source.get_token();
  EXPECT_TRUE(RunTool(tool)->stopped);
}

TEST_P(Tools, LeaveNothingInTheirGroup) {
  const auto output = CaptureTool(AShellTool("sleep 1000 & echo $!"));
  ASSERT_TRUE(output.ok());
  const Fd left(static_cast<int>(::syscall(SYS_pidfd_open, std::stoi(output->out), 0)));
  if (!left.valid()) return;  // gone already
  pollfd end{left.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 30'000), 1) << "awaited the end of a background process";
}

TEST_P(Tools, RunFromSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(8);
  for (size_t i = 0; i < outputs.size(); ++i) {
    threads.emplace_back([&outputs, i] {
      for (int round = 0; round < 5; ++round) {
        outputs[i] += CaptureTool(AShellTool("echo " + std::to_string(i)))->out;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string line = std::to_string(i) + "\n";
    EXPECT_EQ(outputs[i], line + line + line + line + line);
  }
}

// The open descriptors of a program started right now without a word about descriptors.
std::string DescriptorsOfAProgramThatClosesNone(const std::string& file) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, file.c_str(), O_WRONLY | O_TRUNC, 0);
  std::string script = "echo /proc/$$/fd/*";
  std::string shell = "/bin/sh", option = "-c";
  char* const argv[] = {shell.data(), option.data(), script.data(), nullptr};
  pid_t pid = -1;
  EXPECT_EQ(::posix_spawn(&pid, shell.c_str(), &actions, nullptr, argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  ::waitpid(pid, nullptr, 0);
  std::string text = *ReadFile(file);
  const std::string process = "/proc/" + std::to_string(pid) + "/fd/";
  for (size_t at; (at = text.find(process)) != std::string::npos;) text.erase(at, process.size());
  return text;
}

// Such a descriptor would keep the tool's pipes open until that program ends.
TEST_P(Tools, GiveNoDescriptorToAProgramThatStartsAtTheSameMoment) {
  TemporaryDirectory directory;
  const std::string file = directory.path() / "descriptors";
  std::ofstream(file) << "";
  const std::string before = DescriptorsOfAProgramThatClosesNone(file);
  std::atomic<bool> done = false;
  std::thread tools([&done, this] {
    while (!done) EXPECT_TRUE(RunTool(AShellTool("true"))->ok());
  });
  for (int round = 0; round < 200; ++round) {
    const std::string during = DescriptorsOfAProgramThatClosesNone(file);
    EXPECT_EQ(during, before);
    if (during != before) break;
  }
  done = true;
  tools.join();
}

INSTANTIATE_TEST_SUITE_P(, Tools, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "Guarded" : "Unguarded"; });

// Waits until the process has ended, and is reaped.
void AwaitEndOf(pid_t pid) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return;  // gone already
  pollfd end{process.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 30'000), 1) << "process " << pid << " lives";
}

constexpr const char* kDaemon = "setsid sh -c 'echo $$; exec sleep 1000' > \"$1\" & ";

// A shell that starts a daemon, which writes its ID to `file`, and goes on when it runs.
Tool ToolWithDaemon(const Path& file, const std::string& then) {
  Tool tool = AShellTool(kDaemon + ("while [ ! -s \"$1\" ]; do sleep 0.01; done; " + then));
  tool.argv.insert(tool.argv.end(), {"sh", file.string()});
  tool.is_guarded = true;
  return tool;
}

TEST(GuardedTool, LeavesNoDaemon) {
  const TemporaryDirectory directory;
  const Path file = directory.path() / "daemon";
  EXPECT_EQ(RunTool(ToolWithDaemon(file, "exit 3"))->exit_code, 3);
  AwaitEndOf(std::stoi(ReadFile(file).value()));
}

TEST(GuardedTool, LeavesNothingWhenItsStarterIsKilled) {
  const TemporaryDirectory directory;
  const Path file = directory.path() / "daemon", tools = directory.path() / "tool";
  const pid_t starter = ::fork();
  if (starter == 0) {
    const auto result =
        RunTool(ToolWithDaemon(file, "echo $$ > '" + tools.string() + "'; sleep 1000; exit 0"));
    ::_exit(result.ok() ? 0 : 1);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto pid_in = [](const Path& at) {
    const auto text = ReadFile(at);
    return text.ok() ? std::atoi(text->c_str()) : 0;
  };
  while (pid_in(tools) == 0 && std::chrono::steady_clock::now() < deadline) ::sched_yield();
  ASSERT_NE(pid_in(tools), 0) << "the tool never ran";
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  AwaitEndOf(pid_in(file));
  AwaitEndOf(pid_in(tools));
}

TEST(OwnEnvironment, HasWhatTheShellExported) {
  ::setenv("CAIP_TEST_VARIABLE", "a=b", 1);
  EXPECT_THAT(OwnEnvironment(), ::testing::Contains(std::pair<std::string, std::string>(
                                    "CAIP_TEST_VARIABLE", "a=b")));
}

}  // namespace
}  // namespace caip::host
