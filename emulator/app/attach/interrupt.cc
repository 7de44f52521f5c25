#include "emulator/app/attach/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace caip::app {
namespace {

// A signal handler may only use lock-free atomics and functions such as write(2).
std::atomic<int> first_signal{0};
std::atomic<int> wake_descriptor{-1};

struct Watched {
  int signal;
  struct sigaction outside;  // the action outside of guards
};
Watched watched[] = {{SIGINT, {}}, {SIGTERM, {}}, {SIGHUP, {}}};
std::atomic<int> guards{0};

void OnSignal(int signal) {
  const int saved = errno;
  int none = 0;
  first_signal.compare_exchange_strong(none, signal);
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_descriptor.load(), &one, sizeof one);
  errno = saved;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  if (guards++ > 0) return;
  first_signal = 0;
  wake_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (Watched& each : watched) {
    struct sigaction action {};
    action.sa_handler = OnSignal;
    sigemptyset(&action.sa_mask);
    ::sigaction(each.signal, &action, &each.outside);
    if (each.signal == SIGHUP && each.outside.sa_handler == SIG_IGN) {
      ::sigaction(each.signal, &each.outside, nullptr);
    }
  }
}

InterruptGuard::~InterruptGuard() {
  if (--guards > 0) return;
  for (Watched& each : watched) ::sigaction(each.signal, &each.outside, nullptr);
  ::close(wake_descriptor.exchange(-1));
}

bool InterruptGuard::interrupted() const { return first_signal != 0; }
int InterruptGuard::signal() const { return first_signal; }
int InterruptGuard::descriptor() const { return wake_descriptor; }

bool InterruptGuard::Pending() { return guards > 0 && first_signal != 0; }

void InterruptGuard::SetOutside(void (*handler)(int)) {
  for (Watched& each : watched) {
    if (guards == 0) ::sigaction(each.signal, nullptr, &each.outside);
    if (each.outside.sa_handler == SIG_IGN) continue;
    each.outside = {};
    each.outside.sa_handler = handler;
    sigemptyset(&each.outside.sa_mask);
    if (guards == 0) ::sigaction(each.signal, &each.outside, nullptr);
  }
}

StopOnInterrupt::StopOnInterrupt() : over_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  watcher_ = std::thread([this] {
    struct pollfd waits[] = {{guard_.descriptor(), POLLIN, 0}, {over_.get(), POLLIN, 0}};
    while (::poll(waits, 2, -1) < 0 && errno == EINTR) {
    }
    if (waits[0].revents != 0) source_.request_stop();
  });
}

StopOnInterrupt::~StopOnInterrupt() {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(over_.get(), &one, sizeof one);
  watcher_.join();
}

}  // namespace caip::app
