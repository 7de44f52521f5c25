#pragma once
// The emulators of the Cloud SDK. caip finds them on this host, starts them when a job needs them,
// sets the *_EMULATOR_HOST variables of replicas, and ends them when it ends.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "engine/ports.h"
#include "host/machine/addresses.h"

namespace caip::host {

/// bigtable, datastore, firestore, pubsub, spanner.
std::vector<std::string> CompanionNames();

/// Places to search: the Cloud SDK's root if it is set, else the root of the gcloud on `path`, the
/// directories of the SDK's packages, and `path` itself.
struct CompanionSearch {
  std::optional<Path> sdk_root;
  std::string path;
  Path home;
};

/// The program of a companion, or "" if this host has none.
Path FindCompanion(std::string_view name, const CompanionSearch& search);

struct CompanionOptions {
  Path state;                      // logs and data go to <state>/companions
  std::vector<std::string> names;  // of CompanionNames()
  CompanionSearch search;
  std::string project = "demo-project";  // the project of the datastore emulator
  // variables of the companions, without HOME: PATH, JAVA_HOME, ...
  engine::Environment environment = {};
  // the address of this host at which companions listen
  std::string address = std::string(kLoopbackAddress);
  std::string address_for_replicas = std::string(kLoopbackAddress);  // where those find it
  Path program = {};  // caip-launcher; empty: the one beside the running program
  std::chrono::milliseconds patience{60'000};  // the time within which a companion must serve
};

/// The companions as replicas see them.
struct CompanionsServed {
  engine::Environment environment;    // BIGTABLE_EMULATOR_HOST, ...
  std::vector<std::string> warnings;  // about companions that do not serve
};

/// Runs companions under a caip-launcher of their own, so that they end with this process, even if
/// it is killed. Restarts a companion that died when the next job needs it. Any thread.
class Companions {
 public:
  explicit Companions(CompanionOptions options);
  ~Companions();  // ends all companions; pending callbacks are never called
  Companions(const Companions&) = delete;
  Companions& operator=(const Companions&) = delete;

  /// Calls `ready` once, on a worker thread, when each companion serves or has failed to start.
  void WhenReady(std::function<void(const CompanionsServed&)> ready);

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

// The names of the Cloud SDK's emulators, and the command of each. Private to companions.

struct CompanionStart {
  Path program;
  Path data;  // a directory of its own
  std::string project;
  std::string address;  // the address of this host at which the companion listens
  uint16_t port = 0;
};

struct CompanionKind {
  std::string_view name;
  std::string_view below_root;  // path of its program below the SDK's root
  std::string_view on_path;     // else its name on PATH
  bool speaks_http = false;     // answers GET / when it is ready; the others speak only gRPC
  std::vector<std::string> (*command)(const CompanionStart&);
  engine::Environment (*variables)(const CompanionStart&);
};

const CompanionKind* CompanionNamed(std::string_view name);

}  // namespace caip::host
