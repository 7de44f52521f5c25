#include "emulator/app/emulator.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <latch>
#include <thread>

#include "emulator/api/control.h"
#include "emulator/api/discovery.h"
#include "emulator/api/error_body.h"
#include "emulator/api/ml_routes.h"
#include "emulator/app/log_adapter.h"
#include "emulator/app/owner.h"
#include "emulator/app/storage_adapter.h"
#include "emulator/app/version.h"
#include "emulator/front/standard_parameters.h"
#include "engine/engine.h"
#include "fakes/gcs/json_api.h"
#include "host/addresses.h"
#include "host/child_process.h"
#include "host/devices.h"
#include "host/devices_binder.h"
#include "host/interpreters.h"
#include "host/job_store.h"
#include "host/packages.h"
#include "host/process_launcher.h"
#include "host/state_directory.h"
#include "http/server.h"
#include "spec/gcs_uri.h"

namespace caip::app {
namespace {

constexpr int kServerGraceMilliseconds = 200;

http::Response NoRoute(int status, const http::Request& request, const std::string& allow) {
  return gcs::IsStoragePath(request.path) ? gcs::NoStorageRoute(status, request, allow)
                                          : api::NoRouteResponse(status, request, allow);
}

std::optional<std::string> Find(const host::Variables& variables, std::string_view name) {
  for (const auto& [variable, value] : variables) {
    if (variable == name) return value;
  }
  return std::nullopt;
}

host::DeviceMode ModeOf(GpuMode mode) {
  switch (mode) {
    case GpuMode::kQueue:
      return host::DeviceMode::kQueue;
    case GpuMode::kShare:
      return host::DeviceMode::kShare;
    case GpuMode::kCpu:
      return host::DeviceMode::kCpu;
    case GpuMode::kByHost:
      break;
  }
  return host::DeviceMode::kByHost;
}

}  // namespace

// In the order of their making: what uses another stands behind it, and goes before it.
struct Emulator::Parts {
  EmulatorOptions options;
  std::vector<std::string> flags;
  LeapClock clock;
  Fd end_asked;  // an eventfd: readable once a client has asked for the end
  std::optional<host::StateDirectory> owner;
  std::unique_ptr<host::SqliteJobStore> jobs;
  std::unique_ptr<logging::LogBook> book;
  std::unique_ptr<LogAdapter> log;
  std::unique_ptr<gcs::DirectoryStore> buckets;
  std::unique_ptr<StorageAdapter> storage;
  std::unique_ptr<host::ProcessLauncher> launcher;
  std::unique_ptr<host::Interpreters> interpreters;
  std::unique_ptr<host::PackagerOnHost> packager;
  std::unique_ptr<engine::DeviceBinder> devices;
  std::unique_ptr<engine::AddressLender> addresses;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<api::JobFollower> follower;
  std::unique_ptr<api::PolicyStore> policies;
  http::Router router{NoRoute};
  std::latch ready{1};  // requests wait until everything behind them is there
  std::unique_ptr<http::Server> server;
  std::string base_url;

  // A request that came before a start that failed must not wait for ever.
  ~Parts() {
    if (!ready.try_wait()) ready.count_down();
  }
  Status OpenState();
  Status OpenHost();
  Status OpenLenders();
  Status Listen();
  Status StartEngine();
  void AddRoutes();
  engine::EngineOptions EngineSettings() const;
};

// What is on disk.
Status Emulator::Parts::OpenState() {
  ASSIGN_OR_RETURN(owner, host::StateDirectory::Own(options.state, kVersion, clock.Now()));
  ASSIGN_OR_RETURN(jobs, host::SqliteJobStore::Open(options.state / "jobs.db"));
  ASSIGN_OR_RETURN(book, logging::LogBook::Open(options.state / "logs.db"));
  log = std::make_unique<LogAdapter>(*book);
  ASSIGN_OR_RETURN(buckets, gcs::DirectoryStore::Open({.root = options.state / "buckets",
                                                       .durable = options.durable_storage,
                                                       .create_buckets = options.create_buckets},
                                                      clock));
  storage = std::make_unique<StorageAdapter>(*buckets, options.create_buckets);
  return Ok{};
}

// What replicas run on.
Status Emulator::Parts::OpenHost() {
  const auto own = host::OwnEnvironment();
  ASSIGN_OR_RETURN(launcher,
                   host::ProcessLauncher::Start({.state_directory = options.state}, clock, *log));
  host::InterpreterSearch search = host::DefaultSearch(own);
  search.configured.assign(options.interpreters.begin(), options.interpreters.end());
  search.cache_file = options.state / "interpreters.json";
  interpreters = std::make_unique<host::Interpreters>(std::move(search), options.runtimes);
  host::PackagerOptions packaging;
  packaging.state = options.state;
  packaging.own_environment = own;
  packaging.strict_runtime = options.strict_runtime;
  packager = std::make_unique<host::PackagerOnHost>(std::move(packaging), *interpreters, *storage,
                                                    *log, clock);
  return Ok{};
}

// What replicas are lent.
Status Emulator::Parts::OpenLenders() {
  const Random chance(options.seed);
  if (options.addressing == Addressing::kPorts) {
    addresses = std::make_unique<host::PortAddresses>(chance.Fork("ports"));
  } else {
    addresses = std::make_unique<host::LoopbackAddresses>(chance.Fork("addresses"));
  }
  std::vector<host::Gpu> fakes;
  if (!options.fake_gpus.empty()) {
    ASSIGN_OR_RETURN(fakes, host::FakeGpus(options.fake_gpus));
  }
  const auto own = host::OwnEnvironment();
  host::DevicePlaces places;
  places.path = Find(own, "PATH").value_or("");
  devices = std::make_unique<host::DeviceBinderOnHost>(
      ModeOf(options.gpus), [places, fakes, visible = Find(own, "CUDA_VISIBLE_DEVICES")] {
        return host::InventoryFor(places, fakes, visible);
      });
  return Ok{};
}

Status Emulator::Parts::Listen() {
  http::ServerOptions serving;
  serving.address = options.address;
  serving.port = options.port;
  serving.allowed_hosts = options.allowed_hosts;
  ASSIGN_OR_RETURN(server, http::Server::Start(serving, [this](const http::Request& request) {
                     ready.wait();
                     return router.Handle(request);
                   }));
  const bool any = options.address == "0.0.0.0" || options.address == "::";
  base_url =
      "http://" + (any ? "127.0.0.1" : options.address) + ":" + std::to_string(server->port());
  return Ok{};
}

engine::EngineOptions Emulator::Parts::EngineSettings() const {
  engine::EngineOptions settings;
  settings.rules.seed = options.seed;
  settings.rules.queue_delay = options.queue_delay;
  settings.rules.provisioning_delay = options.provision_delay;
  settings.rules.vm_restart_delay = options.restart_delay;
  settings.rules.grace = options.grace;
  settings.rules.project_number = options.project_number;
  settings.rules.launch.endpoint = base_url;
  settings.rules.launch.cpus = static_cast<int>(std::thread::hardware_concurrency());
  settings.rules.launch.images = options.images;
  if (options.storage_view == StorageView::kPath) {
    settings.rules.launch.storage_view = [this](const std::string& uri) {
      const auto place = spec::ParseGcsUri(uri);
      return place.ok() ? buckets->PathOf(place->bucket, place->object).string() : uri;
    };
  }
  settings.jobs_max = options.jobs_max;
  settings.rules.validation.extra_regions = options.extra_regions;
  settings.service_account = options.service_account.empty()
                                 ? api::ManagedServiceAccount(options.project_number)
                                 : options.service_account;
  return settings;
}

Status Emulator::Parts::StartEngine() {
  engine = std::make_unique<engine::Engine>(
      EngineSettings(),
      engine::EnginePorts{*launcher, *packager, *devices, *addresses, *jobs, *log, *storage},
      clock);
  return engine->Start();
}

void Emulator::Parts::AddRoutes() {
  const engine::EngineOptions settings = EngineSettings();
  follower = std::make_unique<api::JobFollower>(*engine, *book);
  policies = std::make_unique<api::PolicyStore>(options.state / "policies");
  router.Add(front::WithStandardParameters(
      api::MlRoutes(*engine, *policies, {options.project_number, settings.service_account})));
  router.Add(front::WithStandardParameters(
      gcs::StorageRoutes(std::make_shared<gcs::StorageApi>(*buckets, options.seed))));
  router.Add(api::ControlRoutes(
      {kVersion, options.state.string(), options.seed, flags}, *engine, *follower, [this] {
        const uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(end_asked.get(), &one, sizeof one);
      }));
  router.Add(api::DiscoveryRoutes(router.routes()));
}

Result<std::unique_ptr<Emulator>> Emulator::Start(const EmulatorOptions& options,
                                                  const cli::EmulatorFlags& flags) {
  auto parts = std::make_unique<Parts>();
  parts->options = options;
  parts->flags = FlagWords(flags);
  parts->end_asked = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  RETURN_IF_ERROR(parts->OpenState());
  RETURN_IF_ERROR(parts->OpenHost());
  RETURN_IF_ERROR(parts->OpenLenders());
  RETURN_IF_ERROR(parts->Listen());
  RETURN_IF_ERROR(parts->StartEngine());
  parts->AddRoutes();
  parts->ready.count_down();
  RETURN_IF_ERROR(parts->owner->Publish(parts->base_url));
  return std::unique_ptr<Emulator>(new Emulator(std::move(parts)));
}

Emulator::Emulator(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Emulator::~Emulator() { Stop(); }

const std::string& Emulator::base_url() const { return parts_->base_url; }

uint64_t Emulator::seed() const { return parts_->options.seed; }

Emulator::End Emulator::WaitForEnd(int interrupt_descriptor, std::optional<Duration> idle) {
  uint64_t requests = parts_->server->total_requests();
  while (true) {
    struct pollfd waits[] = {{interrupt_descriptor, POLLIN, 0},
                             {parts_->end_asked.get(), POLLIN, 0}};
    const int timeout =
        idle ? static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(*idle).count()) : -1;
    const int found = ::poll(waits, 2, timeout);
    if (found < 0 && errno == EINTR) continue;
    if (waits[0].revents != 0) return End::kInterrupted;
    if (waits[1].revents != 0) return End::kAsked;
    const uint64_t now = parts_->server->total_requests();
    const bool silent = now == requests && parts_->server->active_requests() == 0;
    if (silent && parts_->engine->Idle()) return End::kIdle;
    requests = now;
  }
}

void Emulator::Stop() {
  if (!parts_->server) return;
  // Replicas first: until they are gone they may write to storage.
  parts_->engine->Stop();
  parts_->server->Stop(kServerGraceMilliseconds);
  parts_->server.reset();
}

}  // namespace caip::app
