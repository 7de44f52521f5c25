#pragma once
// How a command finds its emulator: one that already runs, one in the background, or one inside the
// command.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/connection.h"
#include "emulator/app/settings/emulator_flags.h"
#include "host/store/state_directory.h"

namespace caip::app {

class Emulator;
class ServingChild;

/// Where a new emulator runs when none is running yet.
enum class Lifetime {
  kBackground,   // started detached; ends by itself when idle
  kThisCommand,  // inside this process (--stream-logs)
  kBriefly,      // as kThisCommand, but in the background if unfinished jobs are to continue
  kNone,         // none is started: an error
};

/// Finds or starts an emulator: a server that runs already, one started in the background, or one
/// inside this process. Called only once the client's own checks have passed.
using Connect = std::function<Result<std::unique_ptr<client::Connection>>(
    const EmulatorFlags& flags, Lifetime)>;

/// The emulator of one command, from main's first line to its last. One thread.
class Connector {
 public:
  /// `tell` prints notes for the user. If the owner of the state directory neither serves nor ends
  /// within `patience`, Connect fails.
  explicit Connector(std::function<void(std::string_view)> tell,
                     std::chrono::milliseconds patience = std::chrono::seconds(30));
  ~Connector();

  /// Flags that a running emulator was not started with are an error, because they cannot take
  /// effect any more, unless an earlier command started it and nothing uses it: then another one
  /// starts in its place. The same holds if a command that submits a job has another active virtual
  /// environment than the emulator, but otherwise it only prints a note. If the emulator ends,
  /// the connection finds or starts the next one. The connector outlives the connection.
  Result<std::unique_ptr<client::Connection>> Connect(const EmulatorFlags& flags,
                                                      Lifetime lifetime);

  /// Call it at the end of the command. Returns the exit code. An emulator inside the command ends
  /// now. If unfinished jobs or other commands still use it, only the command ends
  /// (serving_child.h), and Finish returns when they have finished.
  int Finish(int exit_code);

 private:
  class FoundConnection;

  Result<std::string> Find(const EmulatorFlags& flags, Lifetime lifetime, bool again);
  Status FitOwner(const host::StateOwner& owner, const EmulatorFlags& flags, Lifetime lifetime);
  Error StartAgain(const Path& state, const std::string& url, std::vector<std::string> present,
                   const std::string& difference);
  Result<std::string> LookOnce(const EmulatorFlags& flags, Lifetime lifetime, bool may_begin);
  Result<std::string> Embed(const EmulatorFlags& flags, const Path& state, Lifetime lifetime);

  std::function<void(std::string_view)> tell_;
  std::chrono::milliseconds patience_;
  // The emulator inside the command and its parts; empty if there is none.
  std::unique_ptr<ServingChild> serving_child_;
  std::unique_ptr<Emulator> emulator_;
  EmulatorFlags flags_;
  bool replaces_ = false;                 // an emulator that an earlier command started
  std::vector<std::string> ended_flags_;  // of that one
  Path state_;
};

}  // namespace caip::app
