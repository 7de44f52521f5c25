#pragma once
// The launcher's main loop. The launcher is a small process, so that the fork at the start of each
// replica is cheap, however large caip is.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/launcher/networks.h"
#include "host/launcher/protocol.h"

namespace caip::host::launcher {

/// Takes commands from caip and forks an init (replica_init.h) for each replica. One thread.
class Zygote {
 public:
  /// `signals` is a non-blocking signalfd of SIGCHLD, SIGTERM and CommandSignal(). `folder` has the
  /// files of this program and of caip-nat; it ends with a slash.
  Zygote(int socket, int signals, std::string folder);

  /// Returns when caip has closed its end, or has died, and all replicas are dead.
  void Run();

 private:
  bool Receive();  // false: caip has ended
  void Launch(const Command& command, int recipe, int out, int err);
  pid_t Fork(bool with_machine);
  void RaiseDescriptorLimit();
  bool StartLockKeeper();
  void Handle(int fd);
  void CloseNetworksExcept(int kept);
  void RefuseLaunch(uint64_t replica, const Outcome& outcome);
  struct Network;
  Outcome Link(Network& network, uint32_t address, bool is_new);
  void LinkAhead(const Command& command);
  void OpenNetwork(const Command& command, int endpoints);
  void CloseNetwork(uint64_t network);
  struct Init;
  int MakeReports(Init& init);
  void PassReportsOn(uint64_t replica, Init& init);
  void StartNatOf(uint64_t number, Network& network);
  void NoteEndOfNat(uint64_t number, Network& network, int status);
  void SetFaults(const Command& command, int faults);
  bool StartRelayOf(uint64_t number);
  bool IsHelper(pid_t pid) const;
  void ReportLostRelay(uint64_t network, int status);
  void Forward(uint64_t replica, int order);
  void Reap();
  void NoteEnd(pid_t pid, int status);
  void Lost(uint64_t replica, const Init& init);
  bool RemoveInstead(uint64_t replica, int recipe);
  struct Init {
    pid_t pid = -1;
    bool has_machine = false;
    bool has_removal = false;  // its recipe has one
    int recipe = -1;           // kept if it has a removal, for the case that the init is killed
    int reports = -1;          // of a machine: a socket from its init
    bool has_reported_end = false;  // over that socket
    int freezes = 0;                // of which it has not reported yet
  };
  void AwaitInits(const std::function<bool(const Init&)>& is_awaited);
  void EndAll();

  int socket_;
  int signals_;
  std::string folder_;
  int lives_[2] = {-1, -1};   // a pipe whose writing end only this process has
  rlimit own_descriptors_{};  // the limit with which each replica starts
  pid_t keeper_ = 0;          // the lock keeper; 0: none yet
  int keeper_control_ = -1;
  // Shared with children: the process IDs of the last ones.
  static constexpr size_t kChildIdsMax = 16384;
  pid_t* child_ids_ = nullptr;
  size_t newest_child_ = 0;  // its place in child_ids_
  bool has_rights_ = false;  // to make namespaces
  std::map<uint64_t, Init> inits_;
  std::map<pid_t, uint64_t> replicas_;
  struct Network {
    NewHub made;
    std::map<uint32_t, int> machines;  // network namespaces, by address
    std::vector<int> retired;          // of machines that have been replaced
    int links = 0;
    std::map<uint32_t, int> numbers;  // of the newest links, by address
    pid_t nat = 0;                    // of caip-nat; 0: the next packet starts it, -1: nothing does
    int64_t nat_since = 0;            // milliseconds
    int short_nats = 0;               // how many of the last ones have ended soon
    pid_t relay = 0;                  // of the packet relay; 0: none yet, -1: it has ended
    int control = -1;                 // a socket of the relay, for its commands
  };
  std::map<uint64_t, Network> networks_;
};

}  // namespace caip::host::launcher
