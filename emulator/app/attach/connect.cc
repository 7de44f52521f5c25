#include "emulator/app/attach/connect.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "client/gcloud_properties.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/app/attach/owner.h"
#include "emulator/app/attach/serving_child.h"
#include "emulator/app/attach/stop_deadline.h"
#include "emulator/app/emulator.h"
#include "emulator/app/errors.h"
#include "host/errors.h"
#include "host/process/child_process.h"
#include "host/python/interpreter_scan.h"
#include "host/store/job_store.h"
#include "host/store/state_directory.h"

namespace caip::app {
namespace {

using std::chrono::milliseconds;

// A server that was killed is often started again. A command that used it waits this long for the
// next server before it takes the state directory itself.
constexpr milliseconds kWaitForNextServer{2000};
// The kernel sends no event when a lock is released, so commands poll. (inotify could watch the
// file with the owner's URL, but closing it costs a process 10 to 20 ms each time.)
constexpr int kPollMilliseconds = 5;

// An owner that cannot be reached has ended: look again.
Error OwnerEnded(const Error& cause) { return errors::LookAgain(cause.message); }

// How the running emulator was started.
struct RunningFacts {
  std::vector<std::string> flags;
  std::optional<std::string> active_environment;  // unset: another version of caip runs
};

Result<RunningFacts> FactsOfRunning(http::Client& client) {
  const auto health = client.Send({.target = "/emulator/v1/health"});
  if (!health.ok()) return OwnerEnded(health.error());
  ASSIGN_OR_RETURN(const Json body, ParseJson(health->body));
  RunningFacts facts;
  if (const Json* words = Member(body, "flags")) {
    for (const Json& word : *words) {
      facts.flags.push_back(word.is_string() ? word.get<std::string>() : "");
    }
  }
  if (Member(body, "activeEnvironment")) {
    facts.active_environment = StringOr(body, "activeEnvironment");
  }
  return facts;
}

// The virtual environment with which the jobs of this command are to run, if it differs from that
// of the running emulator; "" is none. --python is stronger than both.
std::optional<std::string> OtherEnvironment(const RunningFacts& facts, Lifetime lifetime) {
  const bool submits = lifetime == Lifetime::kBackground || lifetime == Lifetime::kThisCommand;
  const bool chosen = std::count(facts.flags.begin(), facts.flags.end(), "--python") > 0;
  if (!submits || chosen || !facts.active_environment) return std::nullopt;
  std::string own = host::ActiveEnvironment(host::OwnEnvironment()).string();
  if (own == *facts.active_environment) return std::nullopt;
  return own;
}

// The same state directory, without settings.
EmulatorFlags StateOnly(const EmulatorFlags& flags) {
  EmulatorFlags only;
  only.state = flags.state;
  return only;
}

// After the answer, the emulator runs at least as long as this process.
Status JoinAt(const host::StateOwner& owner, Lifetime lifetime) {
  http::Client client(owner.url);
  const bool stays = lifetime == Lifetime::kBackground;
  const auto joined =
      client.Send({.method = "POST",
                   .target = "/emulator/v1:join?pid=" + std::to_string(::getpid()) +
                             "&owner=" + std::to_string(owner.pid) + (stays ? "&stays=true" : "")});
  if (!joined.ok()) return OwnerEnded(joined.error());
  if (joined->status != 200) {  // it is ending, or another program has its port by now
    return errors::LookAgain("The emulator at " + owner.url + " is ending.");
  }
  return Ok{};
}

}  // namespace

class Connector::FoundConnection final : public client::Connection {
 public:
  FoundConnection(const std::string& url, Connector* connector, EmulatorFlags flags,
                  Lifetime lifetime)
      : client_(url), connector_(connector), flags_(std::move(flags)), lifetime_(lifetime) {}

  using Connection::Send;
  Result<http::ClientResponse> Send(const http::ClientRequest& request,
                                    const client::BodySink& sink) override {
    auto response = client_.Send(request, sink);
    const bool lost = !response.ok() && response.error().code == Code::kUnavailable;
    if (!lost || !connector_ || request.body_reader || sink) return response;
    // The emulator was killed. The next one has all acknowledged changes.
    ASSIGN_OR_RETURN(const std::string url, connector_->Find(flags_, lifetime_, true));
    client_ = http::Client(url);
    return client_.Send(request);
  }
  std::string base_url() const override { return client_.base(); }

 private:
  http::Client client_;
  Connector* connector_;  // null: a fixed endpoint
  EmulatorFlags flags_;
  Lifetime lifetime_;
};

Connector::Connector(std::function<void(std::string_view)> tell, milliseconds patience)
    : tell_(std::move(tell)), patience_(patience) {}

Connector::~Connector() = default;

Result<std::unique_ptr<client::Connection>> Connector::Connect(const EmulatorFlags& flags,
                                                               Lifetime lifetime) {
  // A fixed endpoint, such as a recorder that checks the requests of commands.
  if (const char* endpoint = std::getenv("CAIP_ENDPOINT"); endpoint && *endpoint) {
    return std::unique_ptr<client::Connection>(
        std::make_unique<FoundConnection>(endpoint, nullptr, flags, lifetime));
  }
  ASSIGN_OR_RETURN(const std::string url, Find(flags, lifetime, false));
  return std::unique_ptr<client::Connection>(
      std::make_unique<FoundConnection>(url, this, flags, lifetime));
}

// Tries again after a lost race: many commands may start at the same time, and an owner may end at
// any time. After a lost race for the state directory another owner exists.
Result<std::string> Connector::Find(const EmulatorFlags& flags, Lifetime lifetime, bool again) {
  const auto began = MonotonicNow();
  while (true) {
    const auto waited = MonotonicNow() - began;
    Result<std::string> found = LookOnce(flags, lifetime, !again || waited > kWaitForNextServer);
    if (found.ok() || found.error().code != Code::kAborted || waited > patience_) return found;
    if (InterruptGuard::Pending()) {
      return errors::InterruptedWaiting(found.error());
    }
    ::poll(nullptr, 0, kPollMilliseconds);
  }
}

Error Connector::StartAgain(const Path& state, const std::string& url,
                            std::vector<std::string> present, const std::string& difference) {
  ended_flags_ = std::move(present);
  replaces_ = true;
  tell_("The emulator at " + url + " had nothing to do. It starts again with " + difference +
        ".\n");
  return errors::LookAgain("The emulator of " + state.string() + " starts again with " +
                           difference + ".");
}

// The flags given now must be among those the running emulator was started with, and jobs should
// run with the virtual environment that is active now. An emulator that an earlier command started,
// and that nothing uses, is replaced by one that fits.
Status Connector::FitOwner(const host::StateOwner& owner, const EmulatorFlags& flags,
                           Lifetime lifetime) {
  const std::vector<std::string> wanted = FlagWords(flags);
  if (wanted.empty() && (lifetime == Lifetime::kBriefly || lifetime == Lifetime::kNone)) {
    return Ok{};
  }
  const Path state = app::StateDirectory(flags);
  http::Client client(owner.url);
  ASSIGN_OR_RETURN(const RunningFacts running, FactsOfRunning(client));
  if (!HasFlags(running.flags, wanted)) {
    const auto usable = ReadOptions(WithFlags(running.flags, flags), state);
    if (!usable.ok()) return usable.error();
    if (!EndOwnerIfUnused(owner)) {
      return errors::FlagsDoNotFit(client.base(), running.flags, wanted);
    }
    return StartAgain(state, owner.url, running.flags, Join(wanted, " "));
  }
  const auto other = OtherEnvironment(running, lifetime);
  if (!other) return Ok{};
  const std::string difference =
      other->empty() ? "no virtual environment" : "the virtual environment " + *other;
  if (EndOwnerIfUnused(owner)) return StartAgain(state, owner.url, running.flags, difference);
  if (!other->empty()) tell_(errors::EnvironmentNotUsed(owner.url, *other));
  return Ok{};
}

Result<std::string> Connector::LookOnce(const EmulatorFlags& flags, Lifetime lifetime,
                                        bool may_begin) {
  if (emulator_) return emulator_->base_url();
  const Path state = app::StateDirectory(flags);
  ASSIGN_OR_RETURN(const auto owner, host::StateDirectory::Peek(state));
  if (owner && owner->url.empty()) return host::errors::StateTaken(state, *owner);
  if (owner) {
    RETURN_IF_ERROR(FitOwner(*owner, flags, lifetime));
    RETURN_IF_ERROR(JoinAt(*owner, lifetime));
    return owner->url;
  }
  if (!may_begin) return errors::NoEmulatorRuns(state);
  if (lifetime == Lifetime::kNone) return errors::NoEmulatorToAsk(state);
  std::error_code ignored;
  if (lifetime == Lifetime::kBriefly && !std::filesystem::exists(state, ignored)) {
    tell_("The state directory " + state.string() + " is new. It has no jobs and no buckets.\n");
  }
  const bool background =
      lifetime == Lifetime::kBackground || replaces_ ||
      (lifetime == Lifetime::kBriefly && host::HasUnfinishedJobs(state / "jobs.db"));
  const EmulatorFlags all = WithFlags(ended_flags_, flags);
  if (!background) return Embed(all, state, lifetime);
  const auto begun = StartInBackground(all, state);
  if (!begun.ok()) {
    if (replaces_) (void)StartInBackground(WithFlags(ended_flags_, StateOnly(flags)), state);
    return begun.error();
  }
  ASSIGN_OR_RETURN(const auto started, host::StateDirectory::Peek(state));
  if (!started) return errors::LookAgain("The emulator of " + state.string() + " has ended.");
  RETURN_IF_ERROR(JoinAt(*started, lifetime));
  return started->url;
}

Result<std::string> Connector::Embed(const EmulatorFlags& flags, const Path& state,
                                     Lifetime lifetime) {
  ASSIGN_OR_RETURN(EmulatorOptions options, ReadOptions(flags, state));
  options.interrupted = InterruptGuard::Pending;
  if (!serving_child_) {
    ASSIGN_OR_RETURN(serving_child_, ServingChild::Begin());
  }
  {
    const StderrSilencer launchers;
    ASSIGN_OR_RETURN(emulator_, Emulator::Start(options, flags));
  }
  const std::string& note = emulator_->replicas_note();
  if (lifetime == Lifetime::kThisCommand && !note.empty()) tell_(note + "\n");
  flags_ = flags;
  state_ = state;
  return emulator_->base_url();
}

int Connector::Finish(int exit_code) {
  if (!emulator_) return exit_code;
  auto end = emulator_->MayEnd();
  if (!end) {
    serving_child_->Release(exit_code, state_ / "server.log");
    const InterruptGuard guard;
    end = emulator_->WaitWhileNeeded(guard.descriptor());
  }
  bool idle = false;
  {
    const StopDeadline deadline(exit_code);
    emulator_->Stop();
    idle = emulator_->engine().Idle();
    emulator_.reset();
  }
  // A client that never joined may have submitted a job just before the end.
  if (*end == Emulator::End::kIdle && !idle) (void)StartInBackground(flags_, state_);
  return exit_code;
}

}  // namespace caip::app
