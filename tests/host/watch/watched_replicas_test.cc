// The calls of a watched replica on a machine, whichever of its processes still live.

#include "host/watch/watched_replicas.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <future>

#include "host/watch/disk_limits.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

/// Notes the answer of one call.
class NotedAnswer final : public AnswerPath {
 public:
  explicit NotedAnswer(std::promise<std::string>& answer) : answer_(answer) {}
  bool IsWaiting() const override { return true; }
  void GoOn() const override { answer_.set_value("goes on"); }
  void Return(int64_t value, int error) const override {
    answer_.set_value(error ? "fails " + std::to_string(error) : std::to_string(value));
  }
  int ReturnDescriptor(int, bool) const override {
    answer_.set_value("descriptor");
    return 0;
  }
  void FailClose(int, int error) const override { Return(-1, error); }

 private:
  std::promise<std::string>& answer_;
};

/// The calls that a test makes in the name of processes.
struct MadeCalls {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::unique_ptr<HeardCall>> waiting;
  bool has_ended = false;
  bool is_unused = false;  // no thread waits for them any more
};

class MadeSource final : public CallSource {
 public:
  explicit MadeSource(MadeCalls& made) : made_(made) {}
  ~MadeSource() override {
    const std::lock_guard lock(made_.mutex);
    made_.is_unused = true;
    made_.changed.notify_all();
  }
  bool Wait(bool receive) override {
    std::unique_lock lock(made_.mutex);
    made_.changed.wait(lock,
                       [&] { return made_.has_ended || (receive && !made_.waiting.empty()); });
    return !made_.has_ended;
  }
  bool IsCallWaiting(int) override { return false; }
  std::unique_ptr<HeardCall> Receive() override {
    const std::lock_guard lock(made_.mutex);
    auto first = std::move(made_.waiting.front());
    made_.waiting.pop_front();
    return first;
  }
  void End() override {
    const std::lock_guard lock(made_.mutex);
    made_.has_ended = true;
    made_.changed.notify_all();
  }

 private:
  MadeCalls& made_;
};

class AllowingWatcher final : public ReplicaWatcher {
 public:
  Answer OutputSeen(const engine::ReplicaKey&) override { return Answer::kGoOn; }
  Verdict Before(const engine::ReplicaKey&, const FileOperation&) override { return {}; }
  Verdict After(const engine::ReplicaKey&, const FileOperation&, int) override { return {}; }
  void Gone(const engine::ReplicaKey&) override {}
};

// Makes `root` the root of this process.
bool EnterRoot(const std::string& root) {
  const int spaces = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
  return ::unshare(spaces) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount(root.c_str(), root.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
         ::chdir(root.c_str()) == 0 && ::syscall(SYS_pivot_root, ".", ".") == 0 &&
         ::umount2(".", MNT_DETACH) == 0;
}

/// A machine with its own files in a directory that the host has, too. Its only process has the
/// memory that the test had when it was made.
class WatchedReplicasTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kNumber = 1;

  WatchedReplicasTest() {
    std::filesystem::create_directories(InMachine(place_));
    for (const Path& directory : {place_, InMachine(place_)}) {
      EXPECT_TRUE(WriteFile(directory / "file", "text").ok());
    }
  }
  ~WatchedReplicasTest() override {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  void SetUp() override {
    int ready[2];
    const std::string root = root_.path().string();
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    const Fd reads(ready[0]);
    Fd writes(ready[1]);
    process_ = ::fork();
    if (process_ == 0) {
      const char answer = EnterRoot(root) ? 'y' : 'n';
      (void)!::write(ready[1], &answer, 1);
      for (;;) ::pause();
    }
    writes.Close();
    char answer = 0;
    ASSERT_EQ(::read(ready[0], &answer, 1), 1);
    if (answer != 'y') GTEST_SKIP() << "processes cannot have a root of their own here";
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    const Fd out(null);
    engine::ReplicaLaunch launch = AShell("");
    ASSERT_TRUE(replicas_
                    .Admit(kNumber, {{.roots = {place_.string()}}, &watcher_}, launch, null, null,
                           std::nullopt)
                    .ok());
    replicas_.Listen(kNumber, std::make_unique<MadeSource>(calls_), 0);
  }
  void TearDown() override {
    std::promise<void> done;
    replicas_.Finish(kNumber, [&] { done.set_value(); });
    done.get_future().wait();
  }

  Path InMachine(const Path& path) const { return root_.path() / path.relative_path(); }
  bool HasHost(const char* name) const { return std::filesystem::exists(place_ / name); }
  bool HasMachine(const char* name) const {
    return std::filesystem::exists(InMachine(place_) / name);
  }

  /// A call of a thread. Texts must be older than the process.
  std::future<std::string> Call(pid_t thread, int number, std::vector<uint64_t> arguments) {
    auto heard = std::make_unique<HeardCall>();
    heard->facts.number = number;
    heard->facts.thread = thread;
    std::copy(arguments.begin(), arguments.end(), heard->facts.arguments);
    heard->path = std::make_unique<NotedAnswer>(answers_.emplace_back());
    const std::lock_guard lock(calls_.mutex);
    calls_.waiting.push_back(std::move(heard));
    calls_.changed.notify_all();
    return answers_.back().get_future();
  }
  std::future<std::string> Remove(pid_t thread) {
    return Call(thread, SYS_unlinkat, {kHere, Text(file_), 0});
  }
  static uint64_t Text(const std::string& text) { return reinterpret_cast<uint64_t>(text.c_str()); }

  static constexpr uint64_t kHere = static_cast<uint64_t>(AT_FDCWD);
  TemporaryDirectory host_;
  TemporaryDirectory root_;
  const Path place_ = std::filesystem::canonical(host_.path());
  const std::string file_ = (place_ / "file").string();
  const std::string other_ = (place_ / "other").string();
  const std::string directory_ = (place_ / "directory").string();
  pid_t process_ = -1;
  std::deque<std::promise<std::string>> answers_;
  MadeCalls calls_;
  AllowingWatcher watcher_;
  SystemClock clock_;
  RecordingSink sink_;
  ReplicaOutput output_{clock_, sink_};
  WatchedReplicas replicas_{output_, Interposition::Kind::kSeccomp};
};

pid_t AnEndedProcess() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ::waitpid(pid, nullptr, 0);
  return pid;
}

TEST_F(WatchedReplicasTest, ActInTheMachineAfterACallOfAProcessThatHasEnded) {
  auto first = Remove(AnEndedProcess());
  replicas_.NoteStarted(kNumber, process_);
  EXPECT_EQ(first.get(), "goes on");
  EXPECT_EQ(Call(process_, SYS_mkdirat, {kHere, Text(directory_), 0700}).get(), "0");
  EXPECT_EQ(Call(process_, SYS_renameat2, {kHere, Text(file_), kHere, Text(other_), 0}).get(), "0");
  EXPECT_TRUE(HasMachine("directory"));
  EXPECT_TRUE(HasMachine("other"));
  EXPECT_FALSE(HasHost("directory"));
  EXPECT_FALSE(HasHost("other"));
  const uint64_t flags = O_CREAT | O_WRONLY;
  EXPECT_EQ(Call(process_, SYS_openat, {kHere, Text(file_), flags, 0600}).get(), "descriptor");
  EXPECT_EQ(Remove(process_).get(), "0");
  EXPECT_FALSE(HasMachine("file"));
  EXPECT_TRUE(HasHost("file"));
}

TEST_F(WatchedReplicasTest, WaitUntilTheirMachineIsKnown) {
  auto removed = Remove(process_);
  replicas_.NoteStarted(kNumber, process_);
  EXPECT_EQ(removed.get(), "0");
  EXPECT_FALSE(HasMachine("file"));
  EXPECT_TRUE(HasHost("file"));
}

TEST_F(WatchedReplicasTest, AreNotAnsweredIfTheReplicaEndsBeforeItsStart) {
  auto removed = Remove(process_);
  TearDown();
  EXPECT_EQ(removed.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_TRUE(HasMachine("file"));
  EXPECT_TRUE(HasHost("file"));
}

/// A replica whose disk is full. DiskLimits knows that until the end of the replica is reported.
class ReplicaOnAFullDisk : public ::testing::Test {
 protected:
  ReplicaOnAFullDisk() {
    limits_.Begin(AKey(), {disk_.path(), 0});
    FileOperation write{FileOperation::Kind::kWrite, "/f"};
    write.count = 1;
    EXPECT_EQ(limits_.Before(AKey(), write).error, ENOSPC);
  }
  bool Admit(int out) {
    engine::ReplicaLaunch launch = AShell("");
    const Watching watching{{.changed_roots = {disk_.path().string()}}, &limits_};
    return replicas_.Admit(1, watching, launch, out, out, std::nullopt).ok();
  }
  void ExpectIsForgottenAtItsEnd() {
    EXPECT_TRUE(limits_.WasFull(AKey())) << "the report of the exit tells this";
    bool is_forgotten = false;
    replicas_.Finish(1, [&] { is_forgotten = !limits_.WasFull(AKey()); });
    EXPECT_TRUE(is_forgotten);
  }

  TemporaryDirectory disk_;
  MadeCalls calls_;
  DiskLimits limits_;
  SystemClock clock_;
  RecordingSink sink_;
  ReplicaOutput output_{clock_, sink_};
  WatchedReplicas replicas_{output_, Interposition::Kind::kSeccomp};
  const Fd null_{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
};

TEST_F(ReplicaOnAFullDisk, IsForgottenIfItsProcessesEndBeforeTheReport) {
  ASSERT_TRUE(Admit(null_.get()));
  replicas_.Listen(1, std::make_unique<MadeSource>(calls_), ::getpid());
  {
    std::unique_lock lock(calls_.mutex);
    calls_.has_ended = true;
    calls_.changed.notify_all();
    calls_.changed.wait(lock, [this] { return calls_.is_unused; });
  }
  ExpectIsForgottenAtItsEnd();
}

TEST_F(ReplicaOnAFullDisk, IsForgottenIfItHasNeverStarted) {
  ASSERT_TRUE(Admit(null_.get()));
  ExpectIsForgottenAtItsEnd();
}

TEST_F(ReplicaOnAFullDisk, IsForgottenIfItCannotBeWatched) {
  ASSERT_FALSE(Admit(-1)) << "this is not a pipe";
  ExpectIsForgottenAtItsEnd();
}

}  // namespace
}  // namespace caip::host
