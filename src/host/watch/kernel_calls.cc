#include "host/watch/kernel_calls.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace caip::host {
namespace {

/// The kernel's structures may be larger than those we were built with.
template <typename Known>
union Roomy {
  Known known;
  char room[512];
};

class ToKernel final : public AnswerPath {
 public:
  ToKernel(int listener, uint64_t id) : listener_(listener), id_(id) {}

  bool IsWaiting() const override {
    return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &id_) == 0;
  }
  void GoOn() const override { Send(0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE); }
  void Return(int64_t value, int error) const override { Send(error ? 0 : value, -error, 0); }
  int ReturnDescriptor(int descriptor, bool close_on_exec) const override {
    seccomp_notif_addfd add{};
    add.id = id_;
    add.flags = SECCOMP_ADDFD_FLAG_SEND;
    add.srcfd = static_cast<uint32_t>(descriptor);
    add.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
    return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0 ? errno : 0;
  }
  /// The kernel closes what another descriptor is put in place of; the number stays taken.
  void FailClose(int descriptor, int error) const override {
    const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    seccomp_notif_addfd add{};
    add.id = id_;
    add.flags = SECCOMP_ADDFD_FLAG_SETFD;
    add.srcfd = static_cast<uint32_t>(nothing.get());
    add.newfd = static_cast<uint32_t>(descriptor);
    add.newfd_flags = O_CLOEXEC;
    if (nothing.valid()) ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
    Return(-1, error);
  }

 private:
  /// Of a thread that was killed meanwhile: nothing.
  void Send(int64_t value, int error, uint32_t flags) const {
    Roomy<seccomp_notif_resp> answer;
    std::memset(&answer, 0, sizeof answer);
    answer.known.id = id_;
    answer.known.val = value;
    answer.known.error = error;
    answer.known.flags = flags;
    ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
  int listener_;
  uint64_t id_;
};

class Calls final : public CallSource {
 public:
  explicit Calls(Fd listener) : listener_(std::move(listener)) {}

  bool Wait(bool receive) override {
    for (;;) {
      pollfd calls{listener_.get(), static_cast<short>(receive ? POLLIN : 0), 0};
      if (::poll(&calls, 1, -1) < 0) continue;
      if (receive && (calls.revents & POLLIN)) return true;
      if (calls.revents & (POLLHUP | POLLERR | POLLNVAL)) return false;
    }
  }

  std::unique_ptr<HeardCall> Receive() override {
    Roomy<seccomp_notif> notice;
    std::memset(&notice, 0, sizeof notice);
    if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) return nullptr;
    auto heard = std::make_unique<HeardCall>();
    heard->facts.number = notice.known.data.nr;
    heard->facts.thread = static_cast<pid_t>(notice.known.pid);
    for (int i = 0; i < 6; ++i) heard->facts.arguments[i] = notice.known.data.args[i];
    heard->path = std::make_unique<ToKernel>(listener_.get(), notice.known.id);
    return heard;
  }

 private:
  Fd listener_;
};

}  // namespace

std::unique_ptr<CallSource> KernelCalls(Fd listener) {
  return std::make_unique<Calls>(std::move(listener));
}

}  // namespace caip::host
