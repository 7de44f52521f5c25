#include "emulator/app/attach/attached_clients.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "emulator/app/errors.h"

namespace caip::app {
namespace {

bool HasEnded(const Fd& process) {
  struct pollfd look {
    process.get(), POLLIN, 0
  };
  return ::poll(&look, 1, 0) > 0;
}

}  // namespace

Status AttachedClients::Join(pid_t pid, bool stays) {
  const std::lock_guard lock(mutex_);
  if (closed_) return errors::Ending();
  stays_ = stays_ || stays;
  std::erase_if(processes_, HasEnded);  // keeps the list of a long-lived server short
  // A process of another pid namespace cannot be watched. It finds the next emulator by itself.
  Fd process(pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1);
  if (process.valid()) processes_.push_back(std::move(process));
  return Ok{};
}

bool AttachedClients::CloseIfUnused(const std::function<bool()>& idle) {
  const std::lock_guard lock(mutex_);
  if (closed_) return true;
  if (!std::all_of(processes_.begin(), processes_.end(), HasEnded) || !idle()) return false;
  closed_ = true;
  return true;
}

void AttachedClients::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

bool AttachedClients::stays() const {
  const std::lock_guard lock(mutex_);
  return stays_;
}

}  // namespace caip::app
