#include "host/launcher/lock_keeper.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "host/launcher/descriptor_message.h"
#include "host/launcher/open_descriptors.h"
#include "host/launcher/protocol.h"

namespace caip::host::launcher {
namespace {

// Adds the process that was entrusted by the next message. False: no further one will come.
bool TakeEntrusted(int control, std::vector<pollfd>& awaited) {
  char nothing = 0;
  int fds[1];
  const ssize_t size = ReceiveWithDescriptors(control, &nothing, sizeof nothing, fds);
  if (fds[0] >= 0) awaited.push_back({fds[0], POLLIN, 0});
  return size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN));
}

}  // namespace

void RunLockKeeper(int control) {
  ::prctl(PR_SET_NAME, "caip-keeper");
  CloseAllBut<3>({kSocket, kLock, control});
  std::vector<pollfd> awaited = {{control, POLLIN, 0}};
  while (!awaited.empty()) {
    if (::poll(awaited.data(), awaited.size(), -1) < 0) continue;
    std::vector<pollfd> left;
    for (const pollfd& one : awaited) {
      const bool stays = one.revents == 0 || (one.fd == control && TakeEntrusted(control, left));
      if (stays) left.push_back({one.fd, POLLIN, 0});
      if (!stays) ::close(one.fd);
    }
    awaited = std::move(left);
  }
}

bool EntrustToLockKeeper(int control) {
  if (control < 0) return false;
  const int self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0u));
  if (self < 0) return false;
  const char nothing = 0;
  const bool sent = SendWithDescriptors(control, &nothing, sizeof nothing, {self}) > 0;
  ::close(self);
  return sent;
}

}  // namespace caip::host::launcher
