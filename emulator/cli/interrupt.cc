#include "emulator/cli/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace caip::cli {
namespace {

// What a signal handler may touch: a lock-free flag and write(2).
std::atomic<bool> interrupted_flag{false};
std::atomic<int> wake_descriptor{-1};
struct sigaction earlier_int;
struct sigaction earlier_term;

void OnSignal(int) {
  const int saved = errno;
  interrupted_flag = true;
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_descriptor.load(), &one, sizeof one);
  errno = saved;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted_flag = false;
  wake_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &earlier_int);
  ::sigaction(SIGTERM, &action, &earlier_term);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &earlier_int, nullptr);
  ::sigaction(SIGTERM, &earlier_term, nullptr);
  ::close(wake_descriptor.exchange(-1));
}

bool InterruptGuard::interrupted() const { return interrupted_flag; }
int InterruptGuard::descriptor() const { return wake_descriptor; }

}  // namespace caip::cli
