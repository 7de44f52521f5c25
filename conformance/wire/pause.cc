#include "conformance/wire/pause.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace conform {
namespace {

std::atomic<bool> interrupted = false;
int wake[2] = {-1, -1};  // the handler writes to it, all threads poll it, nobody reads it

void Note(int) {
  if (interrupted.exchange(true)) ::_exit(130);
  [[maybe_unused]] const auto written = ::write(wake[1], "x", 1);
}

}  // namespace

void Pause(std::chrono::milliseconds time) {
  pollfd waiting{wake[0], POLLIN, 0};
  ::poll(&waiting, wake[0] >= 0 && !interrupted ? 1 : 0, static_cast<int>(time.count()));
}

void WatchForInterrupts() {
  if (::pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action {};
  action.sa_handler = Note;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool Interrupted() { return interrupted; }

}  // namespace conform
