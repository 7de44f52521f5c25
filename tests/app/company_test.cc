#include "emulator/app/company.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace caip::app {
namespace {

bool Idle() { return true; }
bool Busy() { return false; }

/// A process that lives until it is told.
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

TEST(Company, IsNoneWhereNobodyJoined) {
  Company company;
  EXPECT_FALSE(company.Part(Busy));
  EXPECT_TRUE(company.Part(Idle));
}

TEST(Company, LastsUntilAllWhoJoinedHaveEnded) {
  Company company;
  Other one;
  Other two;
  ASSERT_TRUE(company.Join(one.pid(), false).ok());
  ASSERT_TRUE(company.Join(two.pid(), false).ok());
  EXPECT_FALSE(company.Part(Idle));
  one.End();
  EXPECT_FALSE(company.Part(Idle));
  two.End();
  EXPECT_TRUE(company.Part(Idle));
}

TEST(Company, NobodyJoinsAfterTheParting) {
  Company company;
  Other other;
  ASSERT_TRUE(company.Part(Idle));
  const Status joined = company.Join(other.pid(), true);
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.error().code, Code::kUnavailable);
  EXPECT_FALSE(company.stays());
}

TEST(Company, KnowsWhoIsToBeServedBeyondHisEnd) {
  Company company;
  Other other;
  ASSERT_TRUE(company.Join(other.pid(), false).ok());
  EXPECT_FALSE(company.stays());
  ASSERT_TRUE(company.Join(other.pid(), true).ok());
  EXPECT_TRUE(company.stays());
}

// Of another machine's or container's processes we see nothing: they must not hold us for ever.
TEST(Company, DoesNotWaitForProcessesItCannotSee) {
  Company company;
  Other gone;
  gone.End();
  ASSERT_TRUE(company.Join(gone.pid(), false).ok());
  ASSERT_TRUE(company.Join(0, false).ok());
  EXPECT_TRUE(company.Part(Idle));
}

}  // namespace
}  // namespace caip::app
