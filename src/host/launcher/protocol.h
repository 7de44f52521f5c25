#pragma once
// The messages between caip and caip-launcher over a Unix SOCK_SEQPACKET socket. Both programs are
// built from the same sources, so the messages are plain structs.
//
//   caip -> launcher   Command, for kLaunch with three descriptors: the recipe (a sealed memory
//                      file, EncodeRecipe), the write ends of stdout and stderr; for kOpenNetwork
//                      with one: its endpoints (a memory file of Endpoint structs); for kSetFaults
//                      with one: all faults of the network (a memory file of PacketFault structs)
//   launcher -> caip   Report; exactly one kEnded or kStartFailed for each kLaunch; one kFrozen
//                      for a kFreeze of a replica that lives; kWatched before kStarted, with the
//                      seccomp listener of its calls, if it is watched; for each
//                      kOpenNetwork a kEndpointOpened for each endpoint, with the socket that
//                      listens there, and then one kNetworkOpened, or kNetworkFailed instead of
//                      what is missing; for each kSetFaults one kFaultsSet when they are in
//                      effect, unless a kRelayLost says that the network's packet relay has
//                      ended; kNatLost when the caip-nat of a network has ended by itself

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caip::host::launcher {

inline constexpr int kSocket = 3;  // the launcher finds its end of the socket here
inline constexpr int kLock = 4;    // and here the lock that it holds (launcher_lock.h), or nothing

// For `caip-launcher --tool` (tool_guard.h).
inline constexpr const char* kToolWord = "--tool";
inline constexpr int kToolLives = 3;
inline constexpr int kToolFailure = 4;

struct Command {
  enum Kind : uint32_t {
    kLaunch,
    kSignal,
    kKill,
    kFreeze,
    kThaw,
    kOpenNetwork,
    kLink,
    kCloseNetwork,
    kSetFaults,
  };
  Kind kind = kLaunch;
  int32_t signal = 0;        // kSignal: sent to the replica's main process group
  uint64_t replica = 0;      // kSetFaults: the number of the request
  uint32_t watch = 0;        // kLaunch: see kWatchOutput and kWatchFiles
  uint32_t address = 0;      // kLink, kLaunch: of the machine, in network byte order
  uint32_t is_new = 0;       // the same: a new machine, else the last one at this address
  uint64_t network = 0;      // kLaunch: the number of an open network; 0: a process of the host
  uint32_t has_removal = 0;  // kLaunch: the recipe has a Removal
};

/// The address of a network's hub (10.128.0.1), and the network of its machines' addresses, in
/// host byte order.
inline constexpr uint32_t kHubAddress = 0x0a800001;
inline constexpr uint32_t kNetworkAddress = 0x0a800000;  // 10.128.0.0/16
/// The addresses of caip-nat in a network, 10.128.255.252/30: a name server, and this host's
/// 127.0.0.1, in host byte order.
inline constexpr uint32_t kOutAddresses = 0x0a80fffc;
inline constexpr uint32_t kNameServerAddress = 0x0a80fffd;  // 10.128.255.253
inline constexpr uint32_t kHostAddress = 0x0a80fffe;        // 10.128.255.254

/// The address at which a socket listens in a network, in network byte order.
struct Endpoint {
  uint32_t address = 0;  // the network gets the address, unless it is 127.x.y.z
  uint16_t port = 0;
  uint16_t unused = 0;
};

/// The calls of a replica that wait for caip's answer (leader.cc). Bits of Command::watch.
inline constexpr uint32_t kWatchOutput = 1;
inline constexpr uint32_t kWatchFiles = 2;

/// The step at which a start failed; `error` is the errno.
enum class Step : uint32_t {
  kNone,
  kRecipe,
  kFork,
  kDirectory,
  kWatch,
  kExec,
  kNetwork,         // making a network namespace
  kUserMap,         // the users of a user namespace
  kAddress,         // giving the network its addresses
  kEndpointOpened,  // listening there
  kMachine,         // making the namespaces of a machine
  kEnterNetwork,    // joining its network
  kMounts,          // keeping its mounts from the host
  kRoot,            // its root
  kMount,           // one of its mounts; Report::left names it
  kHostName,
  kUser,   // becoming the user of the command
  kGroup,  // joining a control group
  kRelay,  // making the devices of a packet relay
  kRule,   // routing packets to it
};

inline constexpr size_t kLeftBytes = 1024;

struct Report {
  enum Kind : uint32_t {
    kStarted,
    kStartFailed,
    kEnded,
    kFrozen,
    kWatched,
    kEndpointOpened,
    kNetworkOpened,
    kNetworkFailed,
    kFaultsSet,
    kRelayLost,
    kNatLost,
  };
  Kind kind = kStarted;
  Step step = Step::kNone;
  int32_t error = 0;
  int32_t wait_status = 0;   // the leader's, from wait(2); kRelayLost, kNatLost: the helper's
  int32_t left_running = 0;  // processes that clearly outlived the leader
  int32_t init = 0;          // kWatched, kStarted: process ID of the ancestor of all its processes
  int32_t leader = 0;        // kStarted: process ID of the command in the init's PID namespace
  int64_t max_rss_kib = 0;   // of the leader and of the children that it waited for
  /// kEndpointOpened, kNetwork..., kRelayLost, kNatLost: the network; kFaultsSet: the request.
  uint64_t replica = 0;
  uint32_t endpoint = 0;    // kEndpointOpened: its index
  uint32_t is_removed = 0;  // kEnded: the Removal of the replica has succeeded
  uint32_t is_final = 0;    // kNatLost: no other one is started
  int32_t user_error = 0;   // kStarted: why Machine::maps_user had no effect (errno); 0: it had
  /// The processes of left_running, "421 sleep 600\n", as many as fit. kMount: its target.
  char left[kLeftBytes] = {};
};

// The recipe of a replica as bytes: directory, machine, argv, environment and removal. It is passed
// in a memory file, because arguments and environment may be larger than a socket message.

enum class MountKind : uint32_t {
  kBind,        // a file or directory of the host, with all that is mounted below it
  kFileSystem,  // a new one of the type `source`, with the options `data`
  kLink,        // a symbolic link to `source`, unless the target exists
  kDirectory,   // a directory, unless the target exists; of the mode `data`, in octal digits
  kFile,        // a file with the text `data`, unless the target exists
  kOverItself,  // what the machine has at the target, once more: read-only, or else writable
};
/// Bits of Mount::flags.
inline constexpr uint32_t kMountReadOnly = 1;
inline constexpr uint32_t kMountOptional = 2;   // goes on without it
inline constexpr uint32_t kMountDevices = 4;    // device files on the new file system work
inline constexpr uint32_t kMountOrBind = 8;     // else the host's directory of that name
inline constexpr uint32_t kMountIfThere = 16;   // only over a target that exists
inline constexpr uint32_t kMountOpaque = 32;    // a directory of a layer that hides lower ones
inline constexpr uint32_t kMountIfOnHost = 64;  // an overlay of the host's directory at the target,
                                                // unless it was removed on the host
inline constexpr uint32_t kMountOrShow = 128;   // else, if the kernel refuses the overlay, the
                                                // host's directory of that name, read-only
inline constexpr uint32_t kMountIfReadOnly = 256;  // a bind over a target that exists and is in a
                                                   // read-only mount
inline constexpr uint32_t kMountAside = 512;  // an overlay at the target in kAside, or a bind of
                                              // the source there

/// The fixed part of a mount in the bytes.
struct MountHead {
  MountKind kind = MountKind::kBind;
  uint32_t flags = 0;
};

/// The head of a recipe. The heads of its places and mounts follow, then texts, each with a final
/// NUL: directory, host name, root, base, for each place and each mount its source, target and
/// data, cgroups, groups in decimal digits, argv, environment, argv of the removal.
struct RecipeHead {
  uint32_t user = 0;
  uint32_t group = 0;
  uint32_t maps_user = 0;
  uint32_t places = 0;
  uint32_t mounts = 0;
  uint32_t cgroups = 0;
  uint32_t groups = 0;
  uint32_t arguments = 0;
  uint32_t variables = 0;
  uint32_t removal_words = 0;
  uint32_t removal_try_ms = 0;
  uint32_t removal_total_ms = 0;
};

/// The layer of a machine's places, seen from the directory that its root is in.
inline constexpr char kPlacesLayer[] = "root/places";
/// A directory beside it for overlays that are not in the machine.
inline constexpr char kAside[] = "root/aside";
/// An empty one, for overlays without an upper layer, which need two lower ones.
inline constexpr char kEmptyLayer[] = "root/empty";

/// A mount of a machine; `target` is an absolute path in the machine.
struct MachineMount {
  MountKind kind = MountKind::kBind;
  std::string source;
  std::string target;
  uint32_t flags = 0;
  std::string data = {};
};

/// The machine of a replica; a replica that is a process of the host has none.
struct Machine {
  std::string host_name;
  std::string root;  // directory of the host at which its root is mounted; "": the host's root
  /// The options of the overlay that is its root; "": `root` is a plain directory. Relative paths
  /// begin at the directory that `root` is in: the kernel takes 4 KiB of options at most.
  std::string base;
  /// Directories and files of a layer in memory, which the overlay has in kPlacesLayer, below the
  /// directory that `root` is in. Empty: it has no such layer.
  std::vector<MachineMount> places;
  std::vector<MachineMount> mounts;
  uint32_t user = 0;  // that the command runs as
  uint32_t group = 0;
  /// All groups of the command. Root keeps those of the launcher if there are none, or if a user
  /// namespace lets no process leave groups.
  std::vector<uint32_t> groups = {};
  /// For a launcher without root's rights, which cannot become that user: its own user has the IDs
  /// above in a user namespace of the command. All files of the boot disk belong to that user
  /// then. Where the kernel refuses the namespace, the command runs as root of the machine.
  bool maps_user = false;
  /// Files of the host that take its processes (cgroup.procs). A process of the host may have them,
  /// too.
  std::vector<std::string> cgroups = {};
};

/// A command that removes what the leader has started outside of its tree of processes, such as the
/// container of a daemon. It runs in the environment of the leader when the whole tree has ended,
/// also if caip, the launcher or the init was killed.
struct Removal {
  std::vector<std::string> argv = {};  // empty: nothing is to be removed
  uint32_t try_ms = 10'000;            // a try that takes longer is killed
  uint32_t total_ms = 30'000;          // without caip, failed tries are repeated for this time
};

inline std::string EncodeRecipe(std::string_view directory, const Machine& machine,
                                const std::vector<std::string>& argv,
                                const std::vector<std::string>& environment,
                                const Removal& removal = {}) {
  const RecipeHead head{machine.user,
                        machine.group,
                        machine.maps_user,
                        static_cast<uint32_t>(machine.places.size()),
                        static_cast<uint32_t>(machine.mounts.size()),
                        static_cast<uint32_t>(machine.cgroups.size()),
                        static_cast<uint32_t>(machine.groups.size()),
                        static_cast<uint32_t>(argv.size()),
                        static_cast<uint32_t>(environment.size()),
                        static_cast<uint32_t>(removal.argv.size()),
                        removal.try_ms,
                        removal.total_ms};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  for (const auto* mounts : {&machine.places, &machine.mounts}) {
    for (const MachineMount& mount : *mounts) {
      const MountHead fixed{mount.kind, mount.flags};
      bytes.append(reinterpret_cast<const char*>(&fixed), sizeof fixed);
    }
  }
  const auto add = [&bytes](std::string_view text) { bytes.append(text).push_back('\0'); };
  for (const std::string_view text :
       {directory, std::string_view(machine.host_name), std::string_view(machine.root),
        std::string_view(machine.base)}) {
    add(text);
  }
  for (const auto* mounts : {&machine.places, &machine.mounts}) {
    for (const MachineMount& mount : *mounts) {
      add(mount.source), add(mount.target), add(mount.data);
    }
  }
  for (const std::string& group : machine.cgroups) add(group);
  for (const uint32_t group : machine.groups) add(std::to_string(group));
  for (const std::string& argument : argv) add(argument);
  for (const std::string& variable : environment) add(variable);
  for (const std::string& word : removal.argv) add(word);
  return bytes;
}

struct Mount {
  MountKind kind = MountKind::kBind;
  uint32_t flags = 0;
  const char* source = nullptr;
  const char* target = nullptr;
  const char* data = nullptr;
};

/// A decoded recipe. It points into the encoded bytes. argv, environment and removal end with a
/// null pointer.
struct Recipe {
  uint32_t user = 0;
  uint32_t group = 0;
  std::vector<gid_t> groups;
  bool maps_user = false;
  const char* directory = nullptr;
  const char* host_name = nullptr;
  const char* root = nullptr;
  const char* base = nullptr;
  std::vector<Mount> places;
  std::vector<Mount> mounts;
  std::vector<const char*> cgroups;
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::vector<char*> removal;
  uint32_t removal_try_ms = 0;
  uint32_t removal_total_ms = 0;

  bool HasRemoval() const { return !removal.empty() && removal.front(); }
};

/// False if the bytes are not a recipe.
inline bool DecodeRecipe(char* bytes, size_t size, Recipe& recipe) {
  if (size < sizeof(RecipeHead) + 1 || bytes[size - 1] != '\0') return false;
  const RecipeHead head = *reinterpret_cast<const RecipeHead*>(bytes);
  const auto* heads = reinterpret_cast<const MountHead*>(bytes + sizeof(RecipeHead));
  const uint64_t mounts = uint64_t{head.places} + head.mounts;
  if (mounts > (size - sizeof(RecipeHead)) / sizeof(MountHead)) return false;
  char* next = bytes + sizeof(RecipeHead) + mounts * sizeof(MountHead);
  const auto take = [&]() -> char* {
    if (next >= bytes + size) return nullptr;
    char* text = next;
    next += std::string_view(text).size() + 1;
    return text;
  };
  recipe.user = head.user;
  recipe.group = head.group;
  recipe.maps_user = head.maps_user != 0;
  recipe.directory = take();
  recipe.host_name = take();
  recipe.root = take();
  recipe.base = take();
  for (uint64_t i = 0; i < mounts; ++i) {
    Mount mount{heads[i].kind, heads[i].flags};
    mount.source = take();
    mount.target = take();
    mount.data = take();
    (i < head.places ? recipe.places : recipe.mounts).push_back(mount);
  }
  for (uint32_t i = 0; i < head.cgroups; ++i) recipe.cgroups.push_back(take());
  for (uint32_t i = 0; i < head.groups; ++i) {
    const char* number = take();
    if (!number) return false;
    recipe.groups.push_back(static_cast<gid_t>(std::strtoul(number, nullptr, 10)));
  }
  for (uint32_t i = 0; i < head.arguments; ++i) recipe.argv.push_back(take());
  for (uint32_t i = 0; i < head.variables; ++i) recipe.environment.push_back(take());
  for (uint32_t i = 0; i < head.removal_words; ++i) recipe.removal.push_back(take());
  recipe.removal_try_ms = head.removal_try_ms;
  recipe.removal_total_ms = head.removal_total_ms;
  const bool whole = next == bytes + size && !recipe.argv.empty() && recipe.base;
  recipe.argv.push_back(nullptr);
  recipe.environment.push_back(nullptr);
  recipe.removal.push_back(nullptr);
  return whole;
}

}  // namespace caip::host::launcher
