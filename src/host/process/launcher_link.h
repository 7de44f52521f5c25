#pragma once
// The connection of caip to caip-launcher (src/host/launcher).

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "host/launcher/protocol.h"
#include "host/network/packet_faults.h"

namespace caip::host {

/// A running caip-launcher: sends commands and receives reports. The destructor ends the launcher
/// and everything that it has started, and returns when all of it is dead.
class LauncherLink {
 public:
  /// Called on the link's own thread. `gone` is the last call, at most once. The destructor calls
  /// it only if the launcher had died before.
  struct Listener {
    std::function<void(const launcher::Report&)> report;
    std::function<void(uint64_t replica, Fd calls, pid_t init)> watched;  // before kStarted
    std::function<void()> gone;  // the launcher has died, and so have all replicas
    /// The endpoints of a network, then the result of its opening (kNetworkOpened, kNetworkFailed).
    std::function<void(uint64_t network, uint32_t endpoint, Fd listening)> endpoint = {};
    std::function<void(const launcher::Report&)> network = {};
    std::function<void(const launcher::Report&)> faults = {};  // kFaultsSet, kRelayLost
    std::function<void(const launcher::Report&)> nat = {};     // kNatLost
  };

  /// The launcher and its inits hold the `lock` (launcher_lock.h), if there is one, until they have
  /// ended.
  static Result<std::unique_ptr<LauncherLink>> Start(const Path& program, Listener listener,
                                                     int lock = -1);
  LauncherLink(const LauncherLink&) = delete;
  LauncherLink& operator=(const LauncherLink&) = delete;
  ~LauncherLink();

  struct Replica {
    uint64_t number = 0;
    std::string directory;
    std::vector<std::string> argv;
    std::vector<std::string> environment;
    int out = -1;  // write end of a pipe; the caller closes it
    int err = -1;
    uint32_t watch = 0;    // see protocol.h
    uint64_t network = 0;  // 0: a process of this host, without a machine
    uint32_t address = 0;  // in the network, in network byte order
    bool is_new = true;    // a new machine, else that of the last launch at this address
    launcher::Machine machine = {};
    launcher::Removal removal = {};
  };
  /// Exactly one kEnded or kStartFailed report follows, or `gone`. kUnavailable: the launcher has
  /// died, and `gone` may have been called before.
  Status Launch(const Replica& replica);
  /// Sends a signal to the replica's main process group, but SIGKILL to everything it has started.
  void Signal(uint64_t replica, int signal);
  void Kill(uint64_t replica);
  /// Send SIGSTOP and SIGCONT to everything the replica has started. A kFrozen report follows
  /// Freeze.
  void Freeze(uint64_t replica);
  void Thaw(uint64_t replica);

  /// Opens a network. The caller chooses `number`, never 0. A later launch in the network finds it
  /// open, or fails with the reason.
  Status OpenNetwork(uint64_t number, const std::vector<launcher::Endpoint>& endpoints);
  /// Makes the machine of a launch that follows in its network. The launch waits less then.
  Status LinkMachine(uint64_t network, uint32_t address, bool is_new);
  void CloseNetwork(uint64_t number);
  /// Replaces the faults of an open network. A kFaultsSet report with the number of the request
  /// follows when they are in effect.
  Status SetFaults(uint64_t network, uint64_t request, const std::vector<PacketFault>& faults);

  /// False if the launcher has died. Then the caller makes a new link.
  bool IsAlive() const;

 private:
  LauncherLink(Fd socket, pid_t pid, Listener listener);
  void Listen();
  void Dispatch(const launcher::Report& report, Fd descriptor);
  void Lose(uint64_t replica);
  void Send(const launcher::Command& command);

  Fd socket_;
  pid_t pid_;
  Listener listener_;
  std::atomic<bool> is_alive_{true};
  std::atomic<bool> is_closing_{false};
  std::thread thread_;
};

/// The caip-launcher of the running program.
Path OwnLauncher();

}  // namespace caip::host
