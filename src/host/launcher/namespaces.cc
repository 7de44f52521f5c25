#include "host/launcher/namespaces.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <vector>

#include "host/launcher/descriptor_message.h"

namespace caip::host::launcher {

void CloseNamespaces(const Namespaces& namespaces) {
  if (namespaces.user >= 0) ::close(namespaces.user);
  if (namespaces.network >= 0) ::close(namespaces.network);
}

Step MoveInto(const Namespaces& namespaces, const std::vector<Cover>& covers,
              const char* host_name) {
  // The user namespace comes first, because it grants the rights for the others until the exec.
  if (namespaces.user >= 0 && ::setns(namespaces.user, CLONE_NEWUSER) != 0) {
    return Step::kEnterNetwork;
  }
  if (::setns(namespaces.network, CLONE_NEWNET) != 0) return Step::kEnterNetwork;
  return GetOwnHost(covers, host_name);
}

Step GetOwnHost(const std::vector<Cover>& covers, const char* host_name) {
  if (::unshare(CLONE_NEWNS | CLONE_NEWUTS) != 0) return Step::kMounts;
  // Later mounts of the host appear here, but mounts made here do not appear on the host.
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return Step::kMounts;
  for (const Cover& cover : covers) {
    if (::mount(cover.file, cover.covered, nullptr, MS_BIND, nullptr) != 0) return Step::kCovers;
  }
  if (::sethostname(host_name, std::strlen(host_name)) != 0) return Step::kHostName;
  return Step::kNone;
}

namespace {

constexpr int kBacklog = 512;

struct Outcome {
  Step failed = Step::kNone;
  int error = 0;
};

Outcome Failure(Step step) { return {step, errno}; }

bool Write(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool whole =
      ::write(fd, text, std::strlen(text)) == static_cast<ssize_t>(std::strlen(text));
  const int error = errno;
  ::close(fd);
  errno = error;
  return whole;
}

// Maps the user and the group to themselves, so that a trainer sees the user's own ID.
bool MapUsers(uid_t user, gid_t group) {
  char users[64];
  char groups[64];
  std::snprintf(users, sizeof users, "%u %u 1", user, user);
  std::snprintf(groups, sizeof groups, "%u %u 1", group, group);
  return Write("/proc/self/setgroups", "deny") && Write("/proc/self/uid_map", users) &&
         Write("/proc/self/gid_map", groups);
}

// Moves this process to a new network. A process with the necessary rights (usually root) needs no
// user namespace and sees the host's users unchanged.
Outcome LeaveTheNetwork(bool& has_users) {
  has_users = false;
  if (::unshare(CLONE_NEWNET) == 0) return {};
  if (errno != EPERM) return Failure(Step::kNetwork);
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return Failure(Step::kNetwork);
  has_users = true;
  return MapUsers(user, group) ? Outcome{} : Failure(Step::kUserMap);
}

sockaddr_in Place(uint32_t address, uint16_t port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = address;
  place.sin_port = port;
  return place;
}

// Gives lo:NUMBER the address, with the netmask of a single host.
bool AddAddress(int socket, int number, uint32_t address) {
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof request.ifr_name, "lo:%d", number);
  sockaddr_in place = Place(address, 0);
  std::memcpy(&request.ifr_addr, &place, sizeof place);
  if (::ioctl(socket, SIOCSIFADDR, &request) != 0) return false;
  place = Place(INADDR_NONE, 0);  // 255.255.255.255
  std::memcpy(&request.ifr_netmask, &place, sizeof place);
  return ::ioctl(socket, SIOCSIFNETMASK, &request) == 0;
}

Outcome GiveAddresses(const std::vector<Endpoint>& endpoints) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return Failure(Step::kAddress);
  ifreq up{};
  std::snprintf(up.ifr_name, sizeof up.ifr_name, "lo");
  up.ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING;
  if (::ioctl(socket, SIOCSIFFLAGS, &up) != 0) return Failure(Step::kAddress);
  std::set<uint32_t> given;
  for (const Endpoint& endpoint : endpoints) {
    const bool is_loopback = ntohl(endpoint.address) >> 24 == 127;
    if (is_loopback || !given.insert(endpoint.address).second) continue;
    if (!AddAddress(socket, static_cast<int>(given.size()), endpoint.address)) {
      return Failure(Step::kAddress);
    }
  }
  ::close(socket);
  return {};
}

Outcome ListenAtEndpoints(uint64_t network, const std::vector<Endpoint>& endpoints, int caip) {
  for (size_t i = 0; i < endpoints.size(); ++i) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in place = Place(endpoints[i].address, endpoints[i].port);
    if (socket < 0 ||
        ::bind(socket, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 ||
        ::listen(socket, kBacklog) != 0) {
      return Failure(Step::kEndpointOpened);
    }
    Report report;
    report.kind = Report::kEndpointOpened;
    report.replica = network;
    report.endpoint = static_cast<uint32_t>(i);
    if (SendWithDescriptors(caip, &report, sizeof report, {socket}) < 0) {
      return Failure(Step::kEndpointOpened);
    }
    ::close(socket);
  }
  return {};
}

bool ReadEndpoints(int file, std::vector<Endpoint>& endpoints) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return false;
  const auto size = static_cast<size_t>(status.st_size);
  endpoints.resize(size / sizeof(Endpoint));
  return ::pread(file, endpoints.data(), size, 0) == static_cast<ssize_t>(size);
}

// Runs in its own process, which ends afterwards.
Outcome Make(uint64_t number, int endpoints_file, int caip, bool& has_users) {
  std::vector<Endpoint> endpoints;
  if (!ReadEndpoints(endpoints_file, endpoints)) return Failure(Step::kRecipe);
  Outcome outcome = LeaveTheNetwork(has_users);
  if (outcome.failed == Step::kNone) outcome = GiveAddresses(endpoints);
  if (outcome.failed == Step::kNone) outcome = ListenAtEndpoints(number, endpoints, caip);
  return outcome;
}

// Reports the result and sends descriptors of the namespaces, which keep the namespaces alive.
[[noreturn]] void SendOutcome(int socket, const Outcome& outcome, bool has_users) {
  int fds[] = {-1, -1};
  if (outcome.failed == Step::kNone) {
    fds[0] = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (has_users) fds[1] = ::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
  }
  SendWithDescriptors(socket, &outcome, sizeof outcome, fds);
  ::_exit(0);
}

}  // namespace

NewNetwork MakeNetwork(uint64_t number, int endpoints, int caip, bool try_start) {
  NewNetwork made;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    made.error = errno;
    return made;
  }
  const pid_t maker = ::fork();
  if (maker == 0) {
    bool has_users = false;
    Outcome outcome = Make(number, endpoints, caip, has_users);
    if (outcome.failed == Step::kNone && try_start) {
      outcome.failed = GetOwnHost({{"/etc/hosts", "/etc/hosts"}}, "caip");
      outcome.error = errno;
    }
    SendOutcome(ends[1], outcome, has_users);
  }
  made.error = errno;
  ::close(ends[1]);
  Outcome outcome;
  int fds[2];
  if (maker > 0 && ReceiveWithDescriptors(ends[0], &outcome, sizeof outcome, fds) ==
                       static_cast<ssize_t>(sizeof outcome)) {
    made = {{fds[1], fds[0]}, outcome.failed, outcome.error};
    if (made.failed == Step::kNone && !made.namespaces.any()) made.failed = Step::kNetwork;
  }
  ::close(ends[0]);
  while (maker > 0 && ::waitpid(maker, nullptr, 0) < 0 && errno == EINTR) continue;
  return made;
}

}  // namespace caip::host::launcher
