#include "emulator/app/owner_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "host/state_directory.h"

namespace caip::app {
namespace {

constexpr int kLookAgainMilliseconds = 10;

}  // namespace

OwnerWatch::OwnerWatch(const Path& state) : notices_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (!notices_.valid()) return;  // then only the time wakes us
  ::inotify_add_watch(notices_.get(), host::StateDirectory::LockFile(state).c_str(), IN_MODIFY);
}

void OwnerWatch::WaitForChange() const {
  struct pollfd wait {
    notices_.get(), POLLIN, 0
  };
  if (::poll(&wait, 1, kLookAgainMilliseconds) <= 0) return;
  alignas(struct inotify_event) char buffer[4096];
  while (::read(notices_.get(), buffer, sizeof buffer) > 0) {
  }
}

}  // namespace caip::app
