#pragma once
// The emulators that ship with the Cloud SDK. caip finds them on this host, starts them when a job
// wants them, gives replicas their *_EMULATOR_HOST variables, and ends them when it ends.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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

/// Where they may be: the Cloud SDK's root if it is set, else that of the gcloud on `path`, the
/// places its packages use, and `path` itself.
struct CompanionSearch {
  std::optional<Path> sdk_root;
  std::string path;
  Path home;
};

/// The program of a companion, or "" where this host has none.
Path FindCompanion(std::string_view name, const CompanionSearch& search);

struct CompanionOptions {
  Path state;                      // logs and data go to <state>/companions
  std::vector<std::string> names;  // of CompanionNames()
  CompanionSearch search;
  std::string project = "demo-project";  // of datastore, which has one
  engine::Environment environment = {};  // PATH, JAVA_HOME, ...: theirs, whole but for HOME
  std::string address = std::string(kLoopbackAddress);  // of this host, where they listen
  Path program = {};                                    // caip-launcher; empty: the one beside us
  std::chrono::milliseconds patience{60'000};           // for one to serve
};

/// What replicas get to know of the companions.
struct CompanionsServed {
  engine::Environment environment;    // BIGTABLE_EMULATOR_HOST, ...
  std::vector<std::string> warnings;  // about each that does not serve
};

/// Runs companions under a caip-launcher of their own, so that they die with this process, however
/// it ends. A companion that died is started again when the next job asks. Any thread.
class Companions {
 public:
  explicit Companions(CompanionOptions options);
  ~Companions();  // ends all of them; callbacks that wait are never called
  Companions(const Companions&) = delete;
  Companions& operator=(const Companions&) = delete;

  /// Calls `ready` once, on a worker thread, when each companion serves or has failed to start.
  void WhenReady(std::function<void(const CompanionsServed&)> ready);

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

// The names of the Cloud SDK's emulators, and how each is started. Private to companions.

struct CompanionStart {
  Path program;
  Path data;  // a directory of its own
  std::string project;
  std::string address;  // of this host, where it listens and replicas find it
  uint16_t port = 0;
};

struct CompanionKind {
  std::string_view name;
  std::string_view below_root;  // its program below the SDK's root
  std::string_view on_path;     // or by this name on PATH
  bool speaks_http = false;     // answers GET / when it is well; the others gRPC only
  std::vector<std::string> (*command)(const CompanionStart&);
  engine::Environment (*variables)(const CompanionStart&);
};

std::span<const CompanionKind> CompanionKinds();
const CompanionKind* CompanionNamed(std::string_view name);

}  // namespace caip::host
