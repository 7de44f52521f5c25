#include "host/watch/call_source.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "host/errors.h"
#include "host/launcher/descriptor_message.h"
#include "host/process/helper_files.h"
#include "host/watch/preload/protocol.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV  // Linux 5.19
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace caip::host {
namespace {

// Why the kernel cannot hold calls; "" if it can.
std::string WhyNoSeccomp() {
  const char* setting = std::getenv("CAIP_INTERPOSITION");
  if (setting && std::string_view(setting) == "preload")
    return "CAIP_INTERPOSITION=preload asks for it";
  // The filter's address is 0, so EFAULT shows that the kernel accepts all other arguments.
  const unsigned long flags =
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, nullptr);
  if (errno == EINVAL) return "seccomp user notification needs Linux 5.19 or later";
  return errno == EFAULT ? "" : "seccomp: " + std::string(std::strerror(errno));
}

// Why the memory of other threads cannot be read, which both ways need; "" if it can.
std::string WhyNoMemory() {
  char from = 'x';
  char to = '\0';
  iovec ours{&to, 1};
  iovec theirs{&from, 1};
  if (::process_vm_readv(::getpid(), &ours, 1, &theirs, 1, 0) == 1) return "";
  return "reading a process's memory: " + std::string(std::strerror(errno));
}

}  // namespace

Interposition InterpositionOf() {
  using Kind = Interposition::Kind;
  if (const std::string why = WhyNoMemory(); !why.empty()) return {Kind::kNone, why};
  const std::string why = WhyNoSeccomp();
  if (why.empty()) return {Kind::kSeccomp, ""};
  const Path library = OwnPreloadLibrary();
  if (::access(library.c_str(), R_OK) == 0) return {Kind::kPreload, why};
  return {Kind::kNone, why + "; and '" + library.string() + "' does not exist"};
}

namespace {

// The kernel's structures may be larger than those of the headers.
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
  /// Replaces the file by /dev/null, so that the kernel closes it. The descriptor's number stays in
  /// use.
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
  /// Does nothing for a thread that was killed meanwhile.
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
    while (listener_.valid()) {
      pollfd calls{listener_.get(), static_cast<short>(receive ? POLLIN : 0), 0};
      if (::poll(&calls, 1, -1) < 0) continue;
      if (receive && (calls.revents & POLLIN)) return true;
      if (calls.revents & (POLLHUP | POLLERR | POLLNVAL)) return false;
    }
    return false;
  }

  bool IsCallWaiting(int limit_ms) override {
    pollfd calls{listener_.get(), POLLIN, 0};
    return ::poll(&calls, 1, limit_ms) > 0 && (calls.revents & POLLIN);
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

namespace {

constexpr int kBacklog = 1024;      // threads that connect at the same time
constexpr int kPatience_ms = 5000;  // for the request of a thread that has connected

// The last number is that of the innermost PID namespace. `place`: a directory of /proc.
pid_t NumberInMachine(const Path& place) {
  const auto status = ReadFile(place / "status");
  const std::string text = status.ok() ? *status : "";
  const size_t line = text.find("\nNSpid:");
  if (line == std::string::npos) return 0;
  const size_t end = text.find('\n', line + 1);
  return std::atoi(text.c_str() + text.rfind('\t', end) + 1);
}

class ToLibrary final : public AnswerPath {
 public:
  explicit ToLibrary(Fd connection) : connection_(std::move(connection)) {}

  bool IsWaiting() const override {
    char byte;
    return ::recv(connection_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
  }
  void GoOn() const override { Send({CAIP_WATCH_GO_ON, 0, 0}, -1); }
  void Return(int64_t value, int error) const override {
    Send({CAIP_WATCH_RETURN, error, value}, -1);
  }
  // The received descriptor closes on exec. The library duplicates it if that is not wanted.
  int ReturnDescriptor(int descriptor, bool close_on_exec) const override {
    Send({CAIP_WATCH_DESCRIPTOR, 0, close_on_exec ? 1 : 0}, descriptor);
    return 0;
  }
  // The library closes it.
  void FailClose(int, int error) const override { Return(-1, error); }

 private:
  void Send(const caip_watch_answer& answer, int descriptor) const {
    launcher::SendWithDescriptors(connection_.get(), &answer, sizeof answer, {descriptor});
  }
  Fd connection_;
};

// The thread of a process that its machine knows by this number; the process, if it has ended.
pid_t ThreadOnHost(pid_t process, pid_t number) {
  const std::string place = "/proc/" + std::to_string(process);
  if (NumberInMachine(place) == number) return process;
  std::error_code error;
  for (std::filesystem::directory_iterator at(place + "/task", error), end; !error && at != end;
       at.increment(error)) {
    if (NumberInMachine(at->path()) == number) return std::atoi(at->path().filename().c_str());
  }
  return process;
}

class PreloadCalls final : public CallSource {
 public:
  PreloadCalls(Fd listener, Fd end, bool of_machine)
      : listener_(std::move(listener)), end_(std::move(end)), of_machine_(of_machine) {}

  bool Wait(bool receive) override {
    for (;;) {
      pollfd fds[] = {{end_.get(), POLLIN, 0},
                      {listener_.get(), static_cast<short>(receive ? POLLIN : 0), 0}};
      if (::poll(fds, 2, -1) < 0) continue;
      if (fds[0].revents) return false;
      if (fds[1].revents) return true;
    }
  }

  bool IsCallWaiting(int limit_ms) override {
    pollfd calls{listener_.get(), POLLIN, 0};
    return ::poll(&calls, 1, limit_ms) > 0 && (calls.revents & POLLIN);
  }

  std::unique_ptr<HeardCall> Receive() override {
    Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const pid_t process = connection.valid() ? PeerOf(connection.get()) : 0;
    if (process == 0) return nullptr;
    pollfd asked{connection.get(), POLLIN, 0};
    caip_watch_call call{};
    if (::poll(&asked, 1, kPatience_ms) <= 0) return nullptr;
    if (::recv(connection.get(), &call, sizeof call, 0) != sizeof call) return nullptr;
    auto heard = std::make_unique<HeardCall>();
    heard->facts.number = call.number;
    heard->facts.thread = of_machine_ ? ThreadOnHost(process, call.thread) : call.thread;
    for (int i = 0; i < 6; ++i) heard->facts.arguments[i] = call.arguments[i];
    heard->path = std::make_unique<ToLibrary>(std::move(connection));
    return heard;
  }

  void End() override {
    const uint64_t one = 1;
    while (::write(end_.get(), &one, sizeof one) < 0 && errno == EINTR) continue;
  }

 private:
  // The process that has connected; 0 if it is of another user: any user can connect to an abstract
  // name. On a machine, a program may run as another user.
  pid_t PeerOf(int connection) const {
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return 0;
    return of_machine_ || who.uid == ::geteuid() ? who.pid : 0;
  }

  Fd listener_;
  Fd end_;
  const bool of_machine_;
};

std::string FreshName() {
  static std::atomic<uint64_t> number{0};
  return "caip-watch-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
}

// Binds a socket to a name as the library writes it in an address (watch.c). On false, errno has
// the reason.
bool BindWatch(int listener, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::memcpy(address.sun_path + (name.starts_with('/') ? 0 : 1), name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return ::bind(listener, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
         ::listen(listener, kBacklog) == 0;
}

// The path of a state directory may be too long for an address; that of a descriptor is not.
bool BindFile(int listener, const Path& file) {
  const Fd directory(::open(file.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return false;
  ::unlinkat(directory.get(), file.filename().c_str(), 0);  // of an earlier start
  const Path held = "/proc/self/fd/" + std::to_string(directory.get());
  return BindWatch(listener, (held / file.filename()).string()) &&
         ::fchmodat(directory.get(), file.filename().c_str(), 0666, 0) == 0;
}

}  // namespace

Result<PreloadedWatch> WatchByPreload(bool files, const std::optional<WatchSocket>& socket) {
  const std::string name = socket ? socket->shown : FreshName();
  Fd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const bool is_bound = listener.valid() && (socket ? BindFile(listener.get(), socket->file)
                                                    : BindWatch(listener.get(), name));
  if (!is_bound) return errors::CannotMakeWatchSocket(errno);
  Fd end(::eventfd(0, EFD_CLOEXEC));
  if (!end.valid()) return errors::CannotMakeEventfd(errno);
  return PreloadedWatch{
      std::make_unique<PreloadCalls>(std::move(listener), std::move(end), socket.has_value()),
      OwnPreloadLibrary().string(), (files ? "f" : "o") + name};
}

void AddTo(engine::Environment& environment, const PreloadedWatch& watch) {
  std::string preload = watch.preload;
  for (const auto& [name, value] : environment) {
    if (name == "LD_PRELOAD" && !value.empty()) preload += ":" + value;
  }
  std::erase_if(environment, [](const auto& variable) { return variable.first == "LD_PRELOAD"; });
  environment.emplace_back("LD_PRELOAD", preload);
  environment.emplace_back(CAIP_WATCH_VARIABLE, watch.watch);
}

Path OwnPreloadLibrary() { return HelperFile("libcaip-watch.so"); }

bool IsStaticProgram(const Path& program) {
  const Fd file(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  Elf64_Ehdr head{};
  if (!file.valid() || ::pread(file.get(), &head, sizeof head, 0) != sizeof head) return false;
  // a script; its interpreter decides
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return false;
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    const auto at = static_cast<off_t>(head.e_phoff + i * sizeof part);
    if (::pread(file.get(), &part, sizeof part, at) != sizeof part) return false;
    if (part.p_type == PT_INTERP) return false;
  }
  return true;
}

}  // namespace caip::host
