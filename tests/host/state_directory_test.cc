#include "host/store/state_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <thread>

namespace caip::host {
namespace {

using testing::HasSubstr;

const Instant kNow = Instant(std::chrono::seconds(1'644'428'202));

TEST(StateDirectory, IsMadeForItsOwnerAlone) {
  TemporaryDirectory base;
  const Path path = base.path() / "a" / "state";
  const auto state = StateDirectory::Own(path, "1.0", kNow);
  ASSERT_TRUE(state.ok()) << state.error().message;
  struct stat facts = {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

TEST(StateDirectory, IsClosedToOthersIfItWasOpen) {
  TemporaryDirectory base;
  ASSERT_EQ(::chmod(base.path().c_str(), 0777), 0);
  ASSERT_TRUE(StateDirectory::Own(base.path(), "1.0", kNow).ok());
  struct stat facts = {};
  ASSERT_EQ(::stat(base.path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

// "caip serve --state /tmp" as root must not close /tmp.
TEST(StateDirectory, OfAnotherProgramIsNotClosed) {
  TemporaryDirectory base;
  ASSERT_TRUE(WriteFile(base.path() / "notes.txt", "mine\n").ok());
  ASSERT_EQ(::chmod(base.path().c_str(), 0755), 0);
  const auto refused = StateDirectory::Own(base.path(), "1.0", kNow);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kPermissionDenied);
  EXPECT_THAT(refused.error().message, HasSubstr("'notes.txt' in it is not from caip"));
  struct stat facts = {};
  ASSERT_EQ(::stat(base.path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0755u);
  ASSERT_TRUE(std::filesystem::remove(base.path() / "notes.txt"));
  for (const char* made : {"sdists", "images", "scenarios", "algorithms"}) {
    ASSERT_TRUE(MakeDirectories(base.path() / made).ok());
  }
  EXPECT_TRUE(StateDirectory::Own(base.path(), "1.0", kNow).ok()) << "commands made them";
  ASSERT_EQ(::chmod(base.path().c_str(), 0755), 0);
  ASSERT_TRUE(WriteFile(base.path() / "notes.txt", "mine\n").ok());
  EXPECT_TRUE(StateDirectory::Own(base.path(), "1.0", kNow).ok()) << "it has been caip's before";
}

// The first of them closes the directory and makes files in it while the others look at it.
TEST(StateDirectory, ThatWasOpenIsTakenByOneOfThoseThatStartAtOnce) {
  TemporaryDirectory base;
  constexpr int kStarters = 4;
  for (int round = 0; round < 300; ++round) {
    const Path path = base.path() / std::to_string(round);
    std::filesystem::create_directory(path);
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
    std::latch start(kStarters);
    std::vector<Status> ends(kStarters, Ok{});
    std::vector<std::thread> starters;
    for (Status& end : ends) {
      starters.emplace_back([&] {
        start.arrive_and_wait();
        if (const auto state = StateDirectory::Own(path, "1.0", kNow); !state.ok()) {
          end = state.error();
        }
      });
    }
    for (std::thread& starter : starters) starter.join();
    for (const Status& end : ends) {
      const bool is_taken = !end.ok() && end.error().code == Code::kAborted;
      ASSERT_TRUE(end.ok() || is_taken) << end.error().message;
    }
  }
}

TEST(StateDirectory, ThatWasOpenHasNothingThatOthersMade) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  TemporaryDirectory base;
  const Path planted = base.path() / "config.yaml";
  ASSERT_TRUE(WriteFile(planted, "allow_users: [daemon]\n").ok());
  ASSERT_EQ(::chown(planted.c_str(), 1, 1), 0);
  ASSERT_TRUE(StateDirectory::Own(base.path(), "1.0", kNow).ok()) << "only the owner could write";
  ASSERT_EQ(::chmod(base.path().c_str(), 0777), 0);
  const auto refused = StateDirectory::Own(base.path(), "1.0", kNow);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("config.yaml' belongs to user 1"));
}

TEST(StateDirectory, ThatWasOpenClosesWhatItHas) {
  TemporaryDirectory base;
  const Path file = base.path() / "config.yaml";
  const Path inner = base.path() / "buckets";
  ASSERT_TRUE(WriteFile(file, "seed: 1\n").ok());
  ASSERT_TRUE(std::filesystem::create_directory(inner));
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(inner.c_str(), 0777), 0);
  ASSERT_EQ(::chmod(base.path().c_str(), 0777), 0);
  const auto refused = StateDirectory::Own(base.path(), "1.0", kNow);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("config.yaml'. Check it"));
  ASSERT_EQ(::chmod(file.c_str(), 0664), 0);
  ASSERT_EQ(::chmod(base.path().c_str(), 0775), 0);
  ASSERT_TRUE(StateDirectory::Own(base.path(), "1.0", kNow).ok());
  struct stat facts = {};
  ASSERT_EQ(::stat(inner.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

TEST(StateDirectory, ASecondOwnerIsToldOfTheFirst) {
  TemporaryDirectory base;
  auto first = StateDirectory::Own(base.path(), "1.0", kNow);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(first->Publish("http://127.0.0.1:4711").ok());
  const auto second = StateDirectory::Own(base.path(), "1.0", kNow);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kAborted);
  EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(::getpid())));
  EXPECT_THAT(second.error().message, HasSubstr("http://127.0.0.1:4711"));
  EXPECT_THAT(second.error().message, HasSubstr("2022-02-09T17:36:42Z"));
}

TEST(StateDirectory, MayBeOwnedAgainWhenItsOwnerLetGo) {
  TemporaryDirectory base;
  { ASSERT_TRUE(StateDirectory::Own(base.path(), "1.0", kNow).ok()); }
  EXPECT_FALSE(StateDirectory::Peek(base.path())->has_value());
  EXPECT_TRUE(StateDirectory::Own(base.path(), "1.0", kNow).ok());
}

TEST(StateDirectory, TellsWhoAsksWhereItsOwnerServes) {
  TemporaryDirectory base;
  auto state = StateDirectory::Own(base.path(), "1.2", kNow);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ((*StateDirectory::Peek(base.path()))->url, "");
  // A longer note, then a shorter one: nothing of the longer one may be left.
  ASSERT_TRUE(state->Publish("http://127.0.0.1:65535/a/rather/long/path").ok());
  ASSERT_TRUE(state->Publish("http://[::1]:1").ok());
  const auto owner = StateDirectory::Peek(base.path());
  ASSERT_TRUE(owner.ok() && owner->has_value());
  EXPECT_EQ((*owner)->url, "http://[::1]:1");
  EXPECT_EQ((*owner)->pid, ::getpid());
  EXPECT_GT((*owner)->start_ticks, 0u);
  EXPECT_EQ((*owner)->version, "1.2");
}

TEST(StateDirectory, ThatDoesNotExistHasNoOwner) {
  TemporaryDirectory base;
  const auto owner = StateDirectory::Peek(base.path() / "none");
  ASSERT_TRUE(owner.ok());
  EXPECT_FALSE(owner->has_value());
  EXPECT_FALSE(std::filesystem::exists(base.path() / "none"));
}

// Forks an owner and returns its pid when it has published.
pid_t OwnInAnotherProcess(const Path& path) {
  int pipe_ends[2];
  EXPECT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto state = StateDirectory::Own(path, "1.0", kNow);
    const bool ok = state.ok() && state->Publish("http://127.0.0.1:1").ok();
    if (::write(pipe_ends[1], ok ? "+" : "-", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char said = 0;
  EXPECT_EQ(::read(pipe_ends[0], &said, 1), 1);
  EXPECT_EQ(said, '+');
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  return child;
}

TEST(StateDirectory, IsFreeWhenItsOwnerWasKilled) {
  TemporaryDirectory base;
  const pid_t child = OwnInAnotherProcess(base.path());
  EXPECT_EQ((*StateDirectory::Peek(base.path()))->pid, child);
  EXPECT_FALSE(StateDirectory::Own(base.path(), "1.0", kNow).ok());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(StateDirectory::Peek(base.path())->has_value());
  EXPECT_TRUE(StateDirectory::Own(base.path(), "1.0", kNow).ok());
}

TEST(StateDirectory, ThatIsAFileIsRefused) {
  TemporaryDirectory base;
  ASSERT_TRUE(WriteFile(base.path() / "file", "x").ok());
  const auto state = StateDirectory::Own(base.path() / "file", "1.0", kNow);
  ASSERT_FALSE(state.ok());
  EXPECT_THAT(state.error().message, HasSubstr("is not a directory"));
  const auto below = StateDirectory::Own(base.path() / "file" / "below", "1.0", kNow);
  ASSERT_FALSE(below.ok());
  EXPECT_EQ(below.error().code, Code::kPermissionDenied);
  EXPECT_THAT(below.error().message, HasSubstr("--state"));
}

TEST(StateDirectory, ThatCannotBeWrittenIsRefused) {
  // /proc takes no new files from any user; its owner is root.
  const auto state = StateDirectory::Own(::geteuid() == 0 ? "/proc" : "/", "1.0", kNow);
  ASSERT_FALSE(state.ok());
  EXPECT_EQ(state.error().code, Code::kPermissionDenied);
  EXPECT_THAT(state.error().message, HasSubstr("--state"));
  struct stat facts = {};
  ASSERT_EQ(::stat("/proc", &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0555u) << "caip has closed a directory of the system";
}

TEST(StateDirectory, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  TemporaryDirectory base;
  const Path path = base.path() / "theirs";
  ASSERT_TRUE(MakeDirectories(path).ok());
  ASSERT_EQ(::chown(path.c_str(), 4711, 4711), 0);
  const auto state = StateDirectory::Own(path, "1.0", kNow);
  ASSERT_FALSE(state.ok());
  EXPECT_THAT(state.error().message, HasSubstr("belongs to user 4711"));
}

}  // namespace
}  // namespace caip::host
