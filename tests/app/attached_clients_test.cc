#include "emulator/app/attach/attached_clients.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace caip::app {
namespace {

bool Idle() { return true; }
bool Busy() { return false; }

/// A process that runs until it is killed.
class Other {
 public:
  Other() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) ::pause();
  }
  ~Other() { End(); }
  pid_t pid() const { return pid_; }
  void End() {
    if (ended_) return;
    ended_ = true;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
  bool ended_ = false;
};

TEST(AttachedClients, IsNoneWhereNobodyJoined) {
  AttachedClients clients;
  EXPECT_FALSE(clients.CloseIfUnused(Busy));
  EXPECT_TRUE(clients.CloseIfUnused(Idle));
}

TEST(AttachedClients, LastsUntilAllWhoJoinedHaveEnded) {
  AttachedClients clients;
  Other one;
  Other two;
  ASSERT_TRUE(clients.Join(one.pid(), false).ok());
  ASSERT_TRUE(clients.Join(two.pid(), false).ok());
  EXPECT_FALSE(clients.CloseIfUnused(Idle));
  one.End();
  EXPECT_FALSE(clients.CloseIfUnused(Idle));
  two.End();
  EXPECT_TRUE(clients.CloseIfUnused(Idle));
}

TEST(AttachedClients, NobodyJoinsAfterTheParting) {
  AttachedClients clients;
  Other other;
  ASSERT_TRUE(clients.CloseIfUnused(Idle));
  const Status joined = clients.Join(other.pid(), true);
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.error().code, Code::kUnavailable);
  EXPECT_FALSE(clients.stays());
}

TEST(AttachedClients, KnowsWhoIsToBeServedBeyondHisEnd) {
  AttachedClients clients;
  Other other;
  ASSERT_TRUE(clients.Join(other.pid(), false).ok());
  EXPECT_FALSE(clients.stays());
  ASSERT_TRUE(clients.Join(other.pid(), true).ok());
  EXPECT_TRUE(clients.stays());
}

// Processes of another machine or container are invisible; they must not keep the emulator running.
TEST(AttachedClients, DoesNotWaitForProcessesItCannotSee) {
  AttachedClients clients;
  Other gone;
  gone.End();
  ASSERT_TRUE(clients.Join(gone.pid(), false).ok());
  ASSERT_TRUE(clients.Join(0, false).ok());
  EXPECT_TRUE(clients.CloseIfUnused(Idle));
}

}  // namespace
}  // namespace caip::app
