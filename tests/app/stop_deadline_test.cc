#include "emulator/app/attach/stop_deadline.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <cstdlib>
#include <future>

#ifdef __SANITIZE_THREAD__
// The thread that waits for a signal has ended when the deadline ends the process, and nobody joins
// it any more.
extern "C" const char* __tsan_default_suppressions() {
  return "thread:caip::app::StartDeadline::StartDeadline\n";
}
#endif

namespace caip::app {
namespace {

using ::testing::ExitedWithCode;

// caip promises that an emulator ends within this time.
constexpr time_t kPromisedSeconds = 2;

[[noreturn]] void Hang() {
  std::promise<void>().get_future().wait();  // never
  std::abort();
}

itimerval TimeLeft() {
  itimerval left{};
  ::getitimer(ITIMER_REAL, &left);
  return left;
}

TEST(StopDeadline, EndsAProcessWhosePartsDoNotEnd) {
  const auto hang = [] {
    const StopDeadline deadline(7);
    Hang();
  };
  EXPECT_EXIT(hang(), ExitedWithCode(7), "");
}

// On a busy host less time is left, or none. So the test reads the timer, and waits for nothing.
TEST(StopDeadline, IsWithinThePromisedTime) {
  const auto measure = [] {
    const StopDeadline deadline(3);
    std::_Exit(TimeLeft().it_value.tv_sec < kPromisedSeconds ? 3 : 4);
  };
  EXPECT_EXIT(measure(), ExitedWithCode(3), "");
}

TEST(StopDeadline, DoesNothingOnceAllPartsHaveEnded) {
  const auto end = [] {
    { const StopDeadline deadline(7); }
    std::_Exit(3);
  };
  EXPECT_EXIT(end(), ExitedWithCode(3), "");
}

TEST(StartDeadline, EndsAStartThatASignalDoesNotEnd) {
  const auto hang = [] {
    // The process may have been started with the deadline's signal blocked.
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    ::sigprocmask(SIG_BLOCK, &alarm, nullptr);
    const StartDeadline deadline(7);
    ::raise(SIGTERM);
    Hang();
  };
  EXPECT_EXIT(hang(), ExitedWithCode(7), "");
}

TEST(StartDeadline, DoesNothingWithoutASignal) {
  const auto start = [] {
    const StartDeadline deadline(7);
    const itimerval left = TimeLeft();
    std::_Exit(left.it_value.tv_sec == 0 && left.it_value.tv_usec == 0 ? 3 : 4);
  };
  EXPECT_EXIT(start(), ExitedWithCode(3), "");
}

TEST(StartDeadline, LeavesASignalToTheServerThatHasStarted) {
  const auto start = [] {
    const InterruptGuard guard;
    { const StartDeadline deadline(7); }
    ::raise(SIGTERM);
    const itimerval left = TimeLeft();
    const bool is_idle = left.it_value.tv_sec == 0 && left.it_value.tv_usec == 0;
    std::_Exit(is_idle && guard.interrupted() ? 3 : 4);
  };
  EXPECT_EXIT(start(), ExitedWithCode(3), "");
}

}  // namespace
}  // namespace caip::app
