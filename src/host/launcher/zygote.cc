#include "host/launcher/zygote.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "host/launcher/descriptor_message.h"
#include "host/launcher/process_tree.h"
#include "host/launcher/replica_init.h"

namespace caip::host::launcher {
namespace {

constexpr int kDescriptors = 3;  // recipe, stdout, stderr

}  // namespace

void Zygote::Run() {
  for (;;) {
    pollfd fds[] = {{socket_, POLLIN, 0}, {signals_, POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents) {
      signalfd_siginfo signal{};
      while (::read(signals_, &signal, sizeof signal) == sizeof signal) continue;
      Reap();
    }
    if (fds[0].revents && !Receive()) break;
  }
  EndAll();
}

bool Zygote::Receive() {
  Command command;
  int fds[kDescriptors];
  const ssize_t size = ReceiveWithDescriptors(socket_, &command, sizeof command, fds);
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  if (size != sizeof command) return false;
  switch (command.kind) {
    case Command::kLaunch:
      Launch(command, fds[0], fds[1], fds[2]);
      break;
    case Command::kSignal:
      Forward(command.replica, command.signal);
      break;
    case Command::kKill:
      Forward(command.replica, SIGKILL);
      break;
    case Command::kFreeze:
      Forward(command.replica, kFreezeOrder);
      break;
    case Command::kThaw:
      Forward(command.replica, kThawOrder);
      break;
    case Command::kOpenNetwork:
      OpenNetwork(command, fds[0]);
      break;
    case Command::kCloseNetwork:
      CloseNetwork(command.network);
      break;
  }
  for (const int fd : fds) {
    if (fd >= 0) ::close(fd);
  }
  return true;
}

void Zygote::Launch(const Command& command, int recipe, int out, int err) {
  const uint64_t replica = command.replica;
  Namespaces home;
  if (command.network != 0) {
    const NewNetwork& network = networks_[command.network];
    if (network.failed != Step::kNone) return RefuseLaunch(replica, network.failed, network.error);
    home = network.namespaces;
  }
  const pid_t launcher = ::getpid();
  const pid_t init = ::fork();
  if (init == 0) {
    // The namespaces of other runs must not exist as long as this process.
    for (const auto& [number, network] : networks_) {
      if (number != command.network) CloseNamespaces(network.namespaces);
    }
    RunReplica({replica, socket_, signals_, recipe, out, err, command.watch, launcher, home});
  }
  if (init < 0) return RefuseLaunch(replica, Step::kFork, errno);
  inits_[replica] = init;
  replicas_[init] = replica;
}

void Zygote::RefuseLaunch(uint64_t replica, Step step, int error) {
  Report report;
  report.kind = Report::kStartFailed;
  report.step = step;
  report.error = error;
  report.replica = replica;
  ::send(socket_, &report, sizeof report, MSG_NOSIGNAL);
}

void Zygote::OpenNetwork(const Command& command, int endpoints) {
  const NewNetwork made = MakeNetwork(command.network, endpoints, socket_, command.try_start != 0);
  CloseNetwork(command.network);
  networks_[command.network] = made;
  Report report;
  report.kind = made.failed == Step::kNone ? Report::kNetworkOpened : Report::kNetworkFailed;
  report.step = made.failed;
  report.error = made.error;
  report.replica = command.network;
  ::send(socket_, &report, sizeof report, MSG_NOSIGNAL);
}

// A network's namespaces end when they have no process and their endpoints have no open socket.
void Zygote::CloseNetwork(uint64_t network) {
  const auto found = networks_.find(network);
  if (found == networks_.end()) return;
  CloseNamespaces(found->second.namespaces);
  networks_.erase(found);
}

void Zygote::Forward(uint64_t replica, int order) {
  const auto found = inits_.find(replica);
  if (found == inits_.end()) return;  // the replica has ended, and another process may have its ID
  sigval value{};
  value.sival_int = order;
  ::sigqueue(found->second, CommandSignal(), value);
}

void Zygote::Reap() {
  ReapEnded([this](pid_t pid, int status, const rusage&) {
    const auto found = replicas_.find(pid);
    if (found == replicas_.end()) return;
    const uint64_t replica = found->second;
    replicas_.erase(found);
    inits_.erase(replica);
    if (status != 0) Lost(replica);
  });
}

// Handles the death of an init that was killed by the user's program or because memory ran out. Its
// leader dies with it, and the other descendants are children of this process now.
void Zygote::Lost(uint64_t replica) {
  KillChildren([this](pid_t pid) { return replicas_.count(pid) > 0; },
               [](pid_t, int, const rusage&) {});
  Report report;
  report.kind = Report::kEnded;
  report.wait_status = SIGKILL;
  report.replica = replica;
  ::send(socket_, &report, sizeof report, MSG_NOSIGNAL);
}

// Each init notices by itself that caip has ended, kills its tree and ends.
void Zygote::EndAll() {
  while (!replicas_.empty()) {
    const pid_t ended = ::waitpid(-1, nullptr, 0);
    if (ended < 0 && errno == ECHILD) break;
    replicas_.erase(ended);
  }
  KillChildren([](pid_t) { return false; }, [](pid_t, int, const rusage&) {});
}

}  // namespace caip::host::launcher
