#pragma once
// How a command finds its emulator: running already, in the background, or inside the command.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/connection.h"
#include "emulator/app/settings/emulator_flags.h"

namespace caip::app {

class Emulator;
class ServingChild;

/// Where a new emulator runs when none is running yet.
enum class Lifetime {
  kBackground,   // started detached; ends by itself when idle
  kThisCommand,  // inside this process (--stream-logs)
  kBriefly,      // as kThisCommand, but in the background if unfinished jobs are to continue
};

/// Finds or starts an emulator: a server that runs already, one started in the background, or one
/// inside this process. Called only once the client's own checks have passed.
using Connect = std::function<Result<std::unique_ptr<client::Connection>>(
    const EmulatorFlags& flags, Lifetime)>;

/// The emulator of one command, from main's first line to its last. One thread.
class Connector {
 public:
  /// `tell` takes what the user should know beside the command's own words. A state directory whose
  /// owner neither serves nor goes away is an error after `patience`.
  explicit Connector(std::function<void(std::string_view)> tell,
                     std::chrono::milliseconds patience = std::chrono::seconds(30));
  ~Connector();

  /// cli::Connect as the program uses it. Flags that a running emulator was not started with are an
  /// error that says so: they cannot take effect any more. The connection outlives an emulator that
  /// goes away: then it finds or starts the next. The connector outlives the connection.
  Result<std::unique_ptr<client::Connection>> Connect(const EmulatorFlags& flags,
                                                      Lifetime lifetime);

  /// After the command. An emulator inside of it ends, too; where unfinished jobs or other commands
  /// need it, only the command ends (serving_child.h), and this returns when they do not any more.
  /// The answer is the exit code.
  int Finish(int exit_code);

 private:
  class FoundConnection;

  Result<std::string> Find(const EmulatorFlags& flags, Lifetime lifetime, bool again);
  Result<std::string> LookOnce(const EmulatorFlags& flags, Lifetime lifetime, bool may_begin);
  Result<std::string> Embed(const EmulatorFlags& flags, const Path& state);

  std::function<void(std::string_view)> tell_;
  std::chrono::milliseconds patience_;
  // What the emulator inside of the command was made of; empty where there is none.
  std::unique_ptr<ServingChild> serving_child_;
  std::unique_ptr<Emulator> emulator_;
  EmulatorFlags flags_;
  Path state_;
};

}  // namespace caip::app
