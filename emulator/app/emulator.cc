#include "emulator/app/emulator.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>

#include "base/descriptor_limit.h"
#include "base/text.h"
#include "base/time_text.h"
#include "emulator/api/discovery/api_description.h"
#include "emulator/api/json_messages.h"
#include "emulator/app/apis.h"
#include "emulator/app/attach/attached_clients.h"
#include "emulator/app/attach/owner.h"
#include "emulator/app/emulator_hooks.h"
#include "emulator/app/errors.h"
#include "emulator/app/free_memory.h"
#include "emulator/app/kept_state.h"
#include "emulator/app/listener.h"
#include "emulator/app/replica_host.h"
#include "emulator/app/settings/part_options.h"
#include "emulator/front/metadata_launcher.h"
#include "fakes/gcs/json/json_api.h"
#include "fakes/registry/registry_api.h"
#include "host/companions/companion_launcher.h"
#include "host/errors.h"
#include "host/process/child_process.h"
#include "host/process/task_queue.h"
#include "ml/catalog/catalog.h"
#include "vertex/catalog/catalog.h"

namespace caip::app {
namespace {

constexpr Duration kIdleCheck = std::chrono::milliseconds(100);
constexpr uint64_t kDescriptorsToStart = 48;  // it has 40 when it runs, and a replica needs some

bool IsForRegistry(const http::Request& request) {
  return registry::IsRegistryHost(request.host) || registry::IsRegistryPath(request.path);
}

http::Response NoRoute(int status, const http::Request& request, const std::string& allow) {
  if (IsForRegistry(request)) return registry::NoRegistryRoute(status, request, allow);
  return gcs::IsStoragePath(request.path) ? gcs::NoStorageRoute(status, request, allow)
                                          : api::NoRouteResponse(status, request, allow);
}

// A bucket in the host name may have objects whose names begin with a slash.
http::Handler WithPlainPaths(http::Handler answer) {
  return [answer = std::move(answer)](const http::Request& request) {
    const bool has_more = request.path.starts_with("//") && !gcs::IsXmlRequest(request);
    if (!has_more) return answer(request);
    http::Request plain = request;
    plain.path = gcs::WithOneSlash(std::move(plain.path));
    return answer(plain);
  };
}

}  // namespace

// The members are in the order of construction: a part comes after the parts that it uses, and is
// destroyed before them.
struct Emulator::Parts {
  EmulatorOptions options;
  std::vector<std::string> flags;
  std::string replicas_note;
  AlarmedClock clock;
  SystemClock wall;  // for tokens and the access log, which clients compare with their own clocks
  std::atomic<bool> is_released{false};  // the command that it was embedded in has ended
  Fd end_asked;                          // an eventfd: readable once a client has asked for the end
  AttachedClients clients;
  EmulatorHooks* hooks = nullptr;
  KeptState state;
  http::Router router{NoRoute};
  std::unique_ptr<Listener> listener;
  std::unique_ptr<engine::LogSink> watched_output;  // wraps the log if a scenario interferes
  std::unique_ptr<engine::LogSink> watched_log;     // wraps the log if a scenario interferes
  host::LauncherBundle replicas;
  host::WorkerThread worker;
  std::unique_ptr<ml::TrainingApi> training;
  std::unique_ptr<vertex::TrainingApi> vertex_training;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<Apis> apis;

  ~Parts() { StopServing(); }
  http::Response Answer(const http::Request& request) const;
  Status Open();
  Status ServeNetworks(front::ReplicaNetworkOptions& network);
  Status AddServers();
  Status StartEngine();
  void Serve();
  Status CloseIfUnused();
  void StopServing();
};

http::Response Emulator::Parts::Answer(const http::Request& request) const {
  const bool is_xml = !IsForRegistry(request) && gcs::IsXmlRequest(request);
  return is_xml ? state.apis->AnswerXml(request) : router.Handle(request);
}

Status Emulator::Parts::Open() {
  if (hooks) clock.SetAlarm(hooks);
  // Every job needs the catalogs, and the routes the description of the API. They are parsed once,
  // while the databases are opened.
  const auto texts = std::async(std::launch::async, [] {
    static_cast<void>(api::ApiDescription::Ml());
    static_cast<void>(ml::DefaultCatalog());
    static_cast<void>(vertex::DefaultCatalog());
  });
  ASSIGN_OR_RETURN(state, OpenState(options, clock, wall, hooks));
  replicas_note = ChooseIsolation(options);
  if (hooks) watched_output = hooks->WrapOutput(*state.log);
  engine::LogSink& output = watched_output ? *watched_output : *state.log;
  ASSIGN_OR_RETURN(replicas, OpenReplicaHost(options, state, clock, output));
  if (!replicas.limits_note.empty()) {
    replicas_note += (replicas_note.empty() ? "" : "\n") + replicas.limits_note;
  }
  if (hooks) RETURN_IF_ERROR(hooks->WrapLaunchers(replicas));
  http::Handler answer = [this](const http::Request& request) { return Answer(request); };
  if (hooks) answer = hooks->WrapHandler(std::move(answer));
  ASSIGN_OR_RETURN(listener,
                   Listener::Open(options, *state.mint, wall, WithPlainPaths(std::move(answer))));
  listener->WarnAboutTrust(*state.log, clock);
  return listener->Listen(options);
}

// Makes the server answer in the networks of runs: the launcher passes on each network's listening
// sockets.
Status Emulator::Parts::ServeNetworks(front::ReplicaNetworkOptions& network) {
  if (!replicas.machines) return host::errors::LauncherLacksMachines(replicas.name);
  http::Server& server = listener->server();
  network.port = server.port();
  network.makes_ahead = !hooks;  // a scenario's faults are known when a network is opened
  if (!network.names.empty()) {
    network.more_names = [&buckets = *state.buckets] { return NamesOfBuckets(buckets); };
  }
  network.machines = replicas.machines;
  replicas.machines->SetEndpointHandler(
      [&server](const std::string& tag, Fd listening) { server.Adopt(std::move(listening), tag); });
  return Ok{};
}

// Wraps the launcher, so that each replica gets a metadata server and the companions' addresses.
Status Emulator::Parts::AddServers() {
  front::MetadataOptions settings = MetadataSettings(options, listener->bundle_file());
  settings.address = replicas.address;
  if (settings.network) RETURN_IF_ERROR(ServeNetworks(*settings.network));
  replicas.launcher = std::make_unique<front::MetadataLauncher>(
      std::move(replicas.launcher),
      front::MetadataLauncher::World{listener->server(), listener->machines(), *state.mint, wall},
      std::move(settings));
  if (options.companions.empty()) return Ok{};
  host::CompanionOptions companions = CompanionsOf(options, host::OwnEnvironment());
  companions.address = replicas.address;
  companions.address_for_replicas = replicas.address_for_replicas;
  replicas.launcher = std::make_unique<host::CompanionLauncher>(
      std::move(replicas.launcher), std::move(companions), *state.log, clock);
  return Ok{};
}

Status Emulator::Parts::StartEngine() {
  RETURN_IF_ERROR(AddServers());
  if (hooks) watched_log = hooks->WrapServiceLog(*state.log);
  engine::LogSink& log = watched_log ? *watched_log : *state.log;
  training = std::make_unique<ml::TrainingApi>(TrainingSettings(options), *state.storage);
  vertex_training =
      std::make_unique<vertex::TrainingApi>(VertexTrainingSettings(options), *state.storage);
  engine::EngineOptions settings =
      EngineSettings(options, replicas.url_for_replicas(listener->base_url()), *state.buckets);
  settings.rules.launch.names_resolve = replicas.names_resolve;
  engine = std::make_unique<engine::Engine>(std::move(settings),
                                            engine::EnginePorts{*replicas.launcher,
                                                                *replicas.packager,
                                                                *replicas.devices,
                                                                *replicas.addresses,
                                                                *state.jobs,
                                                                log,
                                                                *training,
                                                                worker,
                                                                replicas.disks,
                                                                {vertex_training.get()}},
                                            clock);
  return engine->Start();
}

void Emulator::Parts::Serve() {
  apis = std::make_unique<Apis>(ApiWorld{options, flags, state, *engine, clock, wall,
                                         listener->tokens().ForClients(),
                                         RunningReplicasOf(replicas)});
  apis->Serve(&router, {[this] {
                          const uint64_t one = 1;
                          [[maybe_unused]] const auto written =
                              ::write(end_asked.get(), &one, sizeof one);
                        },
                        [this] { return CloseIfUnused(); },
                        [this](int pid, bool stays) { return clients.Join(pid, stays); }});
  listener->StartAnswering();
}

Status Emulator::Parts::CloseIfUnused() {
  const bool may_end = (options.is_background || is_released) &&
                       clients.CloseIfUnused([this] { return engine->Idle(); });
  return may_end ? Status(Ok{}) : Status(errors::InUse());
}

// Runs before the parts that requests use are destroyed.
void Emulator::Parts::StopServing() {
  if (!listener) return;
  listener->StartAnswering();  // after a failed start: early requests must not wait forever
  state.apis->EndPauses();
  listener->Close();
}

namespace {

// Before anything is made: half an emulator does not answer, and does not end.
Status CheckDescriptors() {
  if (FreeDescriptors() >= kDescriptorsToStart) return Ok{};
  NoteDescriptorShortage();
  return errors::TooFewDescriptors(DescriptorLimit(), kDescriptorsToStart);
}

Status CheckNotInterrupted(const EmulatorOptions& options) {
  const bool is_interrupted = options.interrupted && options.interrupted();
  return is_interrupted ? Status(errors::StartInterrupted()) : Ok{};
}

}  // namespace

Result<std::unique_ptr<Emulator>> Emulator::Start(const EmulatorOptions& options,
                                                  const EmulatorFlags& flags,
                                                  EmulatorHooks* hooks) {
  RETURN_IF_ERROR(CheckReach(options));
  RETURN_IF_ERROR(CheckDescriptors());
  auto parts = std::make_unique<Parts>();
  parts->options = options;
  parts->flags = FlagWords(flags);
  parts->hooks = hooks;
  parts->end_asked = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  RETURN_IF_ERROR(parts->Open());
  RETURN_IF_ERROR(CheckNotInterrupted(options));  // the engine starts replicas again
  RETURN_IF_ERROR(parts->StartEngine());
  if (hooks) hooks->Begin(*parts->engine, parts->clock);
  parts->Serve();
  RETURN_IF_ERROR(CheckNotInterrupted(options));
  RETURN_IF_ERROR(parts->state.owner->Publish(parts->listener->base_url()));
  return std::unique_ptr<Emulator>(new Emulator(std::move(parts)));
}

Emulator::Emulator(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Emulator::~Emulator() { Stop(); }

const std::string& Emulator::base_url() const { return parts_->listener->base_url(); }

const std::string& Emulator::port_note() const { return parts_->listener->port_note(); }

const std::string& Emulator::replicas_note() const { return parts_->replicas_note; }

uint64_t Emulator::seed() const { return parts_->options.seed; }

engine::Engine& Emulator::engine() { return *parts_->engine; }

gcs::DirectoryStore& Emulator::buckets() { return *parts_->state.buckets; }

Emulator::End Emulator::WaitForEnd(int interrupt_descriptor, std::optional<Duration> idle) {
  http::Server& server = parts_->listener->server();
  uint64_t requests = server.total_requests();
  Stopwatch since_look;
  Stopwatch since_tidying;
  FreeMemory memory;
  while (true) {
    const Duration left = idle ? *idle - since_look.Elapsed() : Duration::max();
    const Duration pause = std::min(left, FreeMemory::kBetween - since_tidying.Elapsed());
    const auto end = WaitForWish(interrupt_descriptor, std::max(pause, Duration(0)));
    if (end) return *end;
    if (since_tidying.Elapsed() >= FreeMemory::kBetween) {
      parts_->state.buckets->ForgetUnusedLists();
      memory.GiveBack();
      since_tidying = Stopwatch();
    }
    if (!idle || since_look.Elapsed() < *idle) continue;
    const uint64_t now = server.total_requests();
    const bool silent = now == requests && server.active_requests() == 0;
    if (silent && parts_->clients.CloseIfUnused([this] { return parts_->engine->Idle(); })) {
      return End::kIdle;
    }
    requests = now;
    since_look = Stopwatch();
  }
}

std::optional<Emulator::End> Emulator::WaitForWish(int interrupt_descriptor, Duration limit) {
  struct pollfd waits[] = {{interrupt_descriptor, POLLIN, 0}, {parts_->end_asked.get(), POLLIN, 0}};
  ::poll(waits, 2, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(limit).count()));
  if (waits[0].revents != 0) return End::kInterrupted;
  if (waits[1].revents != 0) return End::kAsked;
  return std::nullopt;
}

std::optional<Emulator::End> Emulator::MayEnd() {
  struct pollfd asked {
    parts_->end_asked.get(), POLLIN, 0
  };
  if (::poll(&asked, 1, 0) > 0) {
    parts_->clients.Close();
    return End::kAsked;
  }
  const bool needed = parts_->clients.stays() ||
                      !parts_->clients.CloseIfUnused([this] { return parts_->engine->Idle(); });
  return needed ? std::nullopt : std::optional(End::kIdle);
}

Emulator::End Emulator::WaitWhileNeeded(int interrupt_descriptor) {
  parts_->is_released = true;
  while (true) {
    if (const auto end = MayEnd()) return *end;
    if (parts_->clients.stays()) {
      return WaitForEnd(interrupt_descriptor, ParseDuration(parts_->options.background_idle));
    }
    const auto end = WaitForWish(interrupt_descriptor, kIdleCheck);
    if (end == End::kInterrupted) return *end;
  }
}

void Emulator::Stop() {
  if (parts_->hooks) std::exchange(parts_->hooks, nullptr)->End();
  parts_->clients.Close();
  if (parts_->apis) parts_->apis->EndFollowing();
  // Replicas first: until they are gone they may write to storage.
  parts_->engine->Stop();
  parts_->StopServing();
}

}  // namespace caip::app
