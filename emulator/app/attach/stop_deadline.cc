#include "emulator/app/attach/stop_deadline.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>

namespace caip::app {
namespace {

constexpr itimerval kStopTime{{0, 0}, {1, 500'000}};
constexpr itimerval kNoAlarm{};

std::atomic<int> code_at_the_end{0};

void EndProcess(int) { ::_exit(code_at_the_end); }

}  // namespace

StopDeadline::StopDeadline(int exit_code, Counts counts) {
  code_at_the_end = exit_code;
  struct sigaction action {};
  action.sa_handler = EndProcess;
  ::sigaction(SIGALRM, &action, &before_);
  // The process may have been started with the signal blocked.
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  if (counts == Counts::kAtOnce) Begin();
}

void StopDeadline::Begin() { ::setitimer(ITIMER_REAL, &kStopTime, nullptr); }

StopDeadline::~StopDeadline() {
  ::setitimer(ITIMER_REAL, &kNoAlarm, nullptr);
  ::sigaction(SIGALRM, &before_, nullptr);
}

StartDeadline::StartDeadline(int exit_code)
    : deadline_(exit_code, StopDeadline::Counts::kAtBegin),
      begin_(interrupt_.token(), [this] { deadline_.Begin(); }) {}

}  // namespace caip::app
