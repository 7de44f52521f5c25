// `caip serve`, `caip stop` and `caip version`.

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <mutex>

#include "base/quoting.h"
#include "base/time_text.h"
#include "client/gcloud_properties.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/app/attach/owner.h"
#include "emulator/app/emulator.h"
#include "emulator/app/version.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

Result<app::EmulatorOptions> OptionsOf(const ServeCommand& command) {
  ASSIGN_OR_RETURN(app::EmulatorOptions options,
                   app::ReadOptions(command.emulator, app::StateDirectory(command.emulator)));
  options.address = command.address;
  if (command.port) options.port = static_cast<uint16_t>(*command.port);
  options.remember_port = !options.port;
  options.allowed_hosts.insert(options.allowed_hosts.end(), command.allow_hosts.begin(),
                               command.allow_hosts.end());
  return options;
}

std::optional<Duration> IdleTimeOf(const ServeCommand& command) {
  return command.idle_timeout ? ParseDuration(*command.idle_timeout) : std::nullopt;
}

// Whoever started us in the background waits for this line. False where nobody does.
bool TellStarter(const std::string& word) {
  const char* text = std::getenv(app::kReadyVariable);
  if (!text) return false;
  int descriptor = -1;
  const std::string_view digits = text;
  std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
  const std::string line = word + "\n";
  [[maybe_unused]] const auto written = ::write(descriptor, line.data(), line.size());
  ::close(descriptor);
  ::unsetenv(app::kReadyVariable);
  return true;
}

std::string Banner(const app::Emulator& emulator, const Path& state) {
  return "caip " + std::string(app::kVersion) + " serves AI Platform Training at " +
         emulator.base_url() + "\n  state directory  " + state.string() + "\n  seed             " +
         std::to_string(emulator.seed()) +
         "\n  point gcloud and client libraries at it:  eval \"$(caip env --state " +
         ShellQuoted(state.string()) + ")\"\n  Ctrl-C ends it";
}

}  // namespace

int RunServe(const ServeCommand& command, const Surroundings& world) {
  app::InterruptGuard guard;
  auto options = OptionsOf(command);
  if (!options.ok()) return Fail(world.io, "serve", options.error().message);
  std::mutex saying;
  const auto tell = [&](const std::string& line) {  // any thread
    const std::lock_guard lock(saying);
    world.io.err(line + "\n");
  };
  options->say = tell;
  auto emulator = app::Emulator::Start(*options, command.emulator);
  if (!emulator.ok()) {
    // One that was started in the background was only too late, and no reader of its log cares.
    const bool taken = emulator.error().code == Code::kAborted;
    if (taken && TellStarter(app::kTakenWord)) return kExitFailure;
    return Fail(world.io, "serve", emulator.error().message);
  }
  TellStarter((*emulator)->base_url());
  if (!(*emulator)->port_note().empty()) tell((*emulator)->port_note());
  tell(Banner(**emulator, options->state));
  const auto end = (*emulator)->WaitForEnd(guard.descriptor(), IdleTimeOf(command));
  if (end == app::Emulator::End::kIdle) tell("Idle for long enough; ending.");
  (*emulator)->Stop();
  return kExitSuccess;
}

int RunStop(const StopCommand& command, const Surroundings& world) {
  const Path state = app::StateDirectory(command.emulator);
  const auto stopped = app::StopOwner(state);
  if (!stopped.ok()) return Fail(world.io, "stop", stopped.error().message);
  world.io.err(*stopped ? "Stopped the emulator of " + state.string() + ".\n"
                        : "No emulator runs on " + state.string() + ".\n");
  return kExitSuccess;
}

int RunVersion(const VersionCommand&, const Surroundings& world) {
  world.io.out("caip " + std::string(app::kVersion) + "\n");
  return kExitSuccess;
}

}  // namespace caip::cli
