#pragma once
// The messages between caip and caip-launcher over a Unix SOCK_SEQPACKET socket. Both programs are
// built from the same sources, so the messages are plain structs.
//
//   caip -> launcher   Command, for kLaunch with three descriptors: the recipe (a sealed memory
//                      file, EncodeRecipe), the write ends of stdout and stderr; for kOpenNetwork
//                      with one: its endpoints (a memory file of Endpoint structs)
//   launcher -> caip   Report; exactly one kEnded or kStartFailed for each kLaunch; one kFrozen
//                      for a kFreeze of a replica that lives; kWatched before kStarted, with the
//                      seccomp listener of its calls, if it is watched; for each
//                      kOpenNetwork a kEndpointOpened for each endpoint, with the socket that
//                      listens there, and then one kNetworkOpened, or kNetworkFailed instead of
//                      what is missing

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caip::host::launcher {

inline constexpr int kSocket = 3;  // the launcher finds its end of the socket here

struct Command {
  enum Kind : uint32_t { kLaunch, kSignal, kKill, kFreeze, kThaw, kOpenNetwork, kCloseNetwork };
  Kind kind = kLaunch;
  int32_t signal = 0;  // kSignal: sent to the replica's main process group
  uint64_t replica = 0;
  uint32_t watch = 0;      // kLaunch: see kWatchOutput and kWatchFiles
  uint32_t try_start = 0;  // kOpenNetwork: also try whether a replica could start there
  uint64_t network = 0;    // kLaunch: the number of an open network; 0: the host's own
};

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
  kEnterNetwork,    // joining its namespaces
  kMounts,          // making a mount namespace
  kCovers,          // covering the hosts file and other files
  kHostName,
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
  };
  Kind kind = kStarted;
  Step step = Step::kNone;
  int32_t error = 0;
  int32_t wait_status = 0;     // the leader's status, from wait(2)
  int32_t left_running = 0;    // processes that clearly outlived the leader
  int32_t leader = 0;          // process ID, for people
  int32_t init = 0;            // kWatched: process ID of the ancestor of all watched processes
  int64_t max_rss_kib = 0;     // of the leader and of the children that it waited for
  uint64_t replica = 0;        // kEndpointOpened, kNetwork...: the network
  uint32_t endpoint = 0;       // kEndpointOpened: its index
  char left[kLeftBytes] = {};  // processes of left_running: "421 sleep 600\n", as many as fit
};

// The recipe of a replica as bytes: directory, host name, covers, argv and environment. It is
// passed in a memory file, because arguments and environment may be larger than a socket message.

/// The head of a recipe. The texts follow, each with a final NUL: directory, host name, for each
/// cover its file and the covered file, argv, environment.
struct RecipeHead {
  uint32_t covers = 0;
  uint32_t arguments = 0;
  uint32_t variables = 0;
};

/// The host name and files of a replica with its own namespaces; empty for others.
struct Surroundings {
  std::string host_name;
  std::vector<std::pair<std::string, std::string>> covers;  // a file, and the one that it covers
};

inline std::string EncodeRecipe(std::string_view directory, const Surroundings& surroundings,
                                const std::vector<std::string>& argv,
                                const std::vector<std::string>& environment) {
  const RecipeHead head{static_cast<uint32_t>(surroundings.covers.size()),
                        static_cast<uint32_t>(argv.size()),
                        static_cast<uint32_t>(environment.size())};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  const auto add = [&bytes](std::string_view text) { bytes.append(text).push_back('\0'); };
  add(directory);
  add(surroundings.host_name);
  for (const auto& [file, covered] : surroundings.covers) add(file), add(covered);
  for (const std::string& argument : argv) add(argument);
  for (const std::string& variable : environment) add(variable);
  return bytes;
}

/// A file that covers another one in a mount namespace.
struct Cover {
  const char* file;
  const char* covered;
};

/// A decoded recipe. It points into the encoded bytes. argv and environment end with a null
/// pointer.
struct Recipe {
  const char* directory = nullptr;
  const char* host_name = nullptr;
  std::vector<Cover> covers;
  std::vector<char*> argv;
  std::vector<char*> environment;
};

/// False if the bytes are not a recipe.
inline bool DecodeRecipe(char* bytes, size_t size, Recipe& recipe) {
  if (size < sizeof(RecipeHead) + 1 || bytes[size - 1] != '\0') return false;
  const RecipeHead head = *reinterpret_cast<const RecipeHead*>(bytes);
  char* next = bytes + sizeof(RecipeHead);
  const auto take = [&]() -> char* {
    if (next >= bytes + size) return nullptr;
    char* text = next;
    next += std::string_view(text).size() + 1;
    return text;
  };
  recipe.directory = take();
  recipe.host_name = take();
  for (uint32_t i = 0; i < head.covers; ++i) {
    const char* file = take();
    recipe.covers.push_back({file, take()});
  }
  for (uint32_t i = 0; i < head.arguments; ++i) recipe.argv.push_back(take());
  for (uint32_t i = 0; i < head.variables; ++i) recipe.environment.push_back(take());
  const bool whole = next == bytes + size && !recipe.argv.empty() && recipe.host_name;
  recipe.argv.push_back(nullptr);
  recipe.environment.push_back(nullptr);
  return whole;
}

}  // namespace caip::host::launcher
