#pragma once
// The emulators that ship with the Cloud SDK, beside ours: found on this host, started when a job
// wants them, told to replicas by their *_EMULATOR_HOST, and ended with us.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "engine/ports.h"

namespace caip::host {

/// bigtable, datastore, firestore, pubsub, spanner.
std::vector<std::string> CompanionNames();

/// Where they may be: the Cloud SDK's root if it is told, else that of the gcloud on `path`, the
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
  std::string project = "demo-project";        // of datastore, which has one
  engine::Environment environment = {};        // PATH, JAVA_HOME, ...: theirs, whole but for HOME
  Path program = {};                           // caip-launcher; empty: the one beside us
  std::chrono::milliseconds patience{60'000};  // for one to serve
};

/// What replicas are told.
struct CompanionsServed {
  engine::Environment environment;    // BIGTABLE_EMULATOR_HOST, ...
  std::vector<std::string> warnings;  // about each that is not there
};

/// Any thread. They run under a caip-launcher of their own, so that they die with us, however we
/// end. One that died is started again when the next job asks.
class Companions {
 public:
  explicit Companions(CompanionOptions options);
  ~Companions();  // ends them all; waiting callbacks are not called any more
  Companions(const Companions&) = delete;
  Companions& operator=(const Companions&) = delete;

  /// Calls `ready` once, on a thread of its own, when each serves or has failed to.
  void WhenReady(std::function<void(const CompanionsServed&)> ready);

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace caip::host
