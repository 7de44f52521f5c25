// `caip serve|stop`, `caip doctor` and `caip buckets create`.

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "base/descriptor_limit.h"
#include "base/json.h"
#include "base/quoting.h"
#include "base/time_text.h"
#include "client/gcloud_properties.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/app/attach/owner.h"
#include "emulator/app/attach/stop_deadline.h"
#include "emulator/app/built_in_images.h"
#include "emulator/app/emulator.h"
#include "emulator/app/free_memory.h"
#include "emulator/app/version.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/output.h"
#include "host/machine/host_report.h"
#include "host/process/child_process.h"

namespace caip::cli {
namespace {

Result<app::EmulatorOptions> OptionsOf(const ServeCommand& command) {
  ASSIGN_OR_RETURN(app::EmulatorOptions options,
                   app::ReadOptions(command.emulator, app::StateDirectory(command.emulator)));
  if (command.address) options.address = *command.address;
  if (command.port) options.port = static_cast<uint16_t>(*command.port);
  options.remember_port = !options.port;
  // Only StartInBackground gives both.
  options.is_background = command.idle_timeout && std::getenv(app::kReadyVariable) != nullptr;
  options.allowed_hosts.insert(options.allowed_hosts.end(), command.allow_hosts.begin(),
                               command.allow_hosts.end());
  return options;
}

std::optional<Duration> IdleTimeOf(const ServeCommand& command) {
  return command.idle_timeout ? ParseDuration(*command.idle_timeout) : std::nullopt;
}

// Writes a line to the command that started this server in the background and waits for the line.
// Returns false if there is no such command.
bool NotifyStarter(const std::string& word) {
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

int FailToServe(const Error& error, const Io& io) {
  // A background server lost a race for the state directory. Its log needs no error.
  const bool taken = error.code == Code::kAborted;
  if (taken && NotifyStarter(app::kTakenWord)) return kExitFailure;
  if (error.code == Code::kCancelled) return Fail(io, "serve", error.message, kExitInterrupted);
  return Fail(io, "serve", error);
}

std::string Banner(const app::Emulator& emulator, const Path& state) {
  return "caip " + std::string(app::kVersion) + " serves AI Platform Training at " +
         emulator.base_url() + "\n  state directory  " + state.string() + "\n  seed             " +
         std::to_string(emulator.seed()) +
         "\n  to point gcloud and client libraries at it:  eval \"$(caip env --state " +
         ShellQuoted(state.string()) + ")\"\n  Ctrl-C ends it";
}

using Found = host::HostFact::Found;

std::string_view Mark(Found found, bool coloured) {
  switch (found) {
    case Found::kYes:
      return coloured ? "\x1b[32m✓\x1b[0m" : "yes";
    case Found::kPartly:
      return coloured ? "\x1b[33m~\x1b[0m" : "in part";
    case Found::kNo:
      break;
  }
  return coloured ? "\x1b[31m✗\x1b[0m" : "no";
}

std::string AsText(const std::vector<host::HostFact>& facts, bool coloured) {
  size_t names = 0;
  for (const host::HostFact& fact : facts) names = std::max(names, fact.name.size());
  std::string text;
  for (const host::HostFact& fact : facts) {
    std::string name = fact.name;
    name.resize(names, ' ');
    std::string mark(Mark(fact.found, coloured));
    if (!coloured) mark.resize(7, ' ');
    text += mark + "  " + name + "  " + fact.detail + "\n";
    if (!fact.cost_when_missing.empty()) {
      text += std::string(coloured ? 3 : 9, ' ') + std::string(names, ' ') + "  -> " +
              fact.cost_when_missing + "\n";
    }
  }
  return text;
}

Json AsJson(const std::vector<host::HostFact>& facts) {
  Json list = Json::array();
  for (const host::HostFact& fact : facts) {
    list.push_back({{"name", fact.name},
                    {"found", Mark(fact.found, false)},
                    {"detail", fact.detail},
                    {"costWhenMissing", fact.cost_when_missing}});
  }
  return list;
}

std::string MessageOf(const http::ClientResponse& response) {
  const auto body = ParseJson(response.body);
  const Json* error = body.ok() ? Member(*body, "error") : nullptr;
  return error ? StringOr(*error, "message") : "HTTP status " + std::to_string(response.status);
}

}  // namespace

int RunServe(const ServeCommand& command, const Surroundings& world) {
  RaiseDescriptorLimit();
  app::ShareHeaps();
  app::InterruptGuard guard;
  std::optional<app::StartDeadline> starting(std::in_place, kExitInterrupted);
  auto options = OptionsOf(command);
  if (!options.ok()) return Fail(world.io, "serve", options.error());
  std::mutex saying;
  const auto tell = [&](const std::string& line) {  // called on any thread
    const std::lock_guard lock(saying);
    world.io.err(line + "\n");
  };
  options->say = tell;
  options->interrupted = app::InterruptGuard::Pending;
  auto emulator = app::Emulator::Start(*options, command.emulator);
  if (!emulator.ok()) return FailToServe(emulator.error(), world.io);
  starting.reset();
  NotifyStarter((*emulator)->base_url());
  for (const auto& note : {(*emulator)->port_note(), (*emulator)->replicas_note()}) {
    if (!note.empty()) tell(note);
  }
  tell(Banner(**emulator, options->state));
  const auto end = (*emulator)->WaitForEnd(guard.descriptor(), IdleTimeOf(command));
  if (end == app::Emulator::End::kIdle) tell("Ending after the idle timeout.");
  const app::StopDeadline deadline(kExitSuccess);
  (*emulator)->Stop();
  emulator->reset();
  return kExitSuccess;
}

int RunStop(const StopCommand& command, const Surroundings& world) {
  const Path state = app::StateDirectory(command.emulator);
  const auto stopped = app::StopOwner(state);
  if (!stopped.ok()) return Fail(world.io, "stop", stopped.error());
  world.io.err(*stopped ? "Stopped the emulator of " + state.string() + ".\n"
                        : "No emulator runs on " + state.string() + ".\n");
  return kExitSuccess;
}

int RunDoctor(const DoctorCommand& command, const Surroundings& world) {
  const auto own = host::OwnEnvironment();
  host::HostReportOptions options;
  options.state = app::StateDirectory(command.emulator);
  for (const auto& [name, value] : own) {
    if (name == "PATH") options.path = value;
  }
  options.devices.path = options.path;
  host::Interpreters interpreters(host::DefaultSearch(own), {});
  auto facts = host::ReportHost(options, interpreters);
  const auto settings = app::ReadOptions(command.emulator, options.state);
  const app::EmulatorOptions used = settings.ok() ? *settings : app::EmulatorOptions();
  for (auto& fact : app::BuiltInImages{options.state, used.python, used.runtimes, own}.Report()) {
    facts.push_back(std::move(fact));
  }
  const std::string format = command.gcloud.format.value_or("text");
  if (format == "json") {
    world.io.out(PrettyJson(AsJson(facts)) + "\n");
  } else {
    world.io.out(Coloured(AsText(facts, world.io.out_is_terminal)));
  }
  return kExitSuccess;
}

int RunBucketsCreate(const BucketsCreateCommand& command, const Surroundings& world) {
  auto connection = world.connect(command.emulator, app::Lifetime::kBriefly);
  if (!connection.ok()) return Fail(world.io, "buckets.create", connection.error());
  int exit_code = kExitSuccess;
  for (const std::string& bucket : command.buckets) {
    http::ClientRequest request{.method = "POST", .target = "/storage/v1/b?project=_"};
    request.headers.Set("Content-Type", "application/json");
    request.body = CompactJson({{"name", bucket}});
    const auto response = (*connection)->Send(request);
    if (!response.ok()) return Fail(world.io, "buckets.create", response.error());
    const std::string name = "gs://" + bucket;
    if (response->status == 200) {
      world.io.err("Created " + name + " = " +
                   (app::StateDirectory(command.emulator) / "buckets" / bucket).string() + "/\n");
    } else if (response->status == 409) {
      world.io.err(name + " already exists.\n");
    } else {
      exit_code = Fail(world.io, "buckets.create", name + ": " + MessageOf(*response));
    }
  }
  return exit_code;
}

}  // namespace caip::cli
