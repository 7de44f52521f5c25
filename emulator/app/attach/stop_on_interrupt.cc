#include "emulator/app/attach/stop_on_interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace caip::app {

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
