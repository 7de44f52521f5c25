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
#include "emulator/api/route_list.h"
#include "emulator/api/stream_view.h"
#include "emulator/app/companion_options.h"
#include "emulator/app/log_adapter.h"
#include "emulator/app/owner.h"
#include "emulator/app/serving.h"
#include "emulator/app/storage_adapter.h"
#include "emulator/app/storage_faces.h"
#include "emulator/app/usual_port.h"
#include "emulator/app/version.h"
#include "emulator/front/front_door.h"
#include "emulator/front/guest_launcher.h"
#include "emulator/front/standard_parameters.h"
#include "engine/engine.h"
#include "fakes/gcs/json_api.h"
#include "fakes/logging/logging_api.h"
#include "fakes/metadata/account_answers.h"
#include "fakes/metadata/guest.h"
#include "fakes/metadata/token_mint.h"
#include "host/addresses.h"
#include "host/child_process.h"
#include "host/companion_launcher.h"
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

std::string ServiceAccountOf(const EmulatorOptions& options) {
  return options.service_account.empty() ? api::ManagedServiceAccount(options.project_number)
                                         : options.service_account;
}

// The machine that the emulator itself runs on, for whoever asks its main listener who he is.
metadata::Guest HostOf(const EmulatorOptions& options, Instant now) {
  const auto own = host::OwnEnvironment();
  metadata::Guest guest;
  guest.project_id = ProjectOf(own);
  guest.project_number = options.project_number;
  guest.instance_id = 1;
  guest.name = "caip";
  guest.hostname = "caip.c." + guest.project_id + ".internal";
  guest.zone = "us-central1-b";
  guest.machine_type = "n1-standard-4";
  guest.created = now;
  guest.service_account = ServiceAccountOf(options);
  return guest;
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
  SystemClock wall;  // of tokens and the access log: others compare it with their own
  Fd end_asked;      // an eventfd: readable once a client has asked for the end
  std::optional<host::StateDirectory> owner;
  std::unique_ptr<host::SqliteJobStore> jobs;
  std::unique_ptr<logging::LogBook> book;
  std::unique_ptr<LogAdapter> log;
  std::unique_ptr<gcs::DirectoryStore> buckets;
  std::unique_ptr<StorageAdapter> storage;
  std::unique_ptr<StorageFaces> faces;
  std::unique_ptr<metadata::TokenMint> mint;
  std::shared_ptr<http::CertificateAuthority> authority;
  std::unique_ptr<metadata::GuestBook> book_of_guests;
  std::unique_ptr<front::AccessLog> access_log;
  std::unique_ptr<front::FrontDoor> front;
  std::unique_ptr<host::ProcessLauncher> launcher;
  std::unique_ptr<host::Interpreters> interpreters;
  std::unique_ptr<host::PackagerOnHost> packager;
  std::unique_ptr<engine::DeviceBinder> devices;
  std::unique_ptr<engine::AddressLender> addresses;
  http::Router router{NoRoute};
  std::latch ready{1};  // requests wait until everything behind them is there
  std::unique_ptr<http::Server> server;
  std::unique_ptr<front::GuestLauncher> guests;
  std::unique_ptr<host::CompanionLauncher> companions;  // where any are asked for
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<api::JobFollower> follower;
  logging::StreamReaders stream_readers;
  std::unique_ptr<api::PolicyStore> policies;
  std::string base_url;
  std::string port_note;

  // A request that came before a start that failed must not wait for ever, nor outlive the rest.
  ~Parts() {
    if (!ready.try_wait()) ready.count_down();
    StopServing();
  }
  void StopServing();
  Status OpenState();
  Status OpenHost();
  Status OpenLenders();
  Status OpenFront();
  Status Listen();
  Result<std::unique_ptr<http::Server>> ServeAt(uint16_t port);
  Status StartEngine();
  front::GuestOptions GuestSettings() const;
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
  ASSIGN_OR_RETURN(faces, StorageFaces::Open({options.state, options.seed}, *buckets, wall));
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

// What stands before the APIs.
Status Emulator::Parts::OpenFront() {
  ASSIGN_OR_RETURN(mint, metadata::TokenMint::Open(options.state / "keys", wall));
  ASSIGN_OR_RETURN(authority, OpenAuthority(options.state, wall));
  const metadata::Guest host = HostOf(options, wall.Now());
  book_of_guests = std::make_unique<metadata::GuestBook>(host);
  if (options.access_log != "off") {
    const Path file =
        options.access_log.empty() ? options.state / "access.log" : Path(options.access_log);
    ASSIGN_OR_RETURN(access_log, front::AccessLog::Open(file));
  }
  front = std::make_unique<front::FrontDoor>(front::FrontDoor::Parts{
      *book_of_guests, *mint, metadata::IdentityOf(host),
      [this](const http::Request& request) {
        return gcs::IsXmlRequest(request) ? faces->AnswerXml(request) : router.Handle(request);
      },
      access_log.get(), wall});
  return Ok{};
}

Result<std::unique_ptr<http::Server>> Emulator::Parts::ServeAt(uint16_t port) {
  return http::Server::Start(ServingOptions(options, port, authority, host::OwnEnvironment()),
                             WithEncodings([this](const http::Request& request) {
                               ready.wait();
                               return front->Handle(request);
                             }));
}

// A port that was asked for is taken or refused; the usual one has neighbours.
Status Emulator::Parts::Listen() {
  const std::vector<uint16_t> ports =
      options.port ? std::vector<uint16_t>{*options.port} : PortsToTry(options.state);
  for (const uint16_t port : ports) {
    auto started = ServeAt(port);
    const bool taken = !started.ok() && started.error().code == Code::kAlreadyExists;
    if (taken && port != ports.back()) continue;
    ASSIGN_OR_RETURN(server, std::move(started));
    break;
  }
  if (!options.port && server->port() != ports.front()) {
    port_note = PortNote(ports.front(), server->port());
  }
  if (options.remember_port) RETURN_IF_ERROR(RememberPort(options.state, server->port()));
  const bool any = options.address == "0.0.0.0" || options.address == "::";
  base_url =
      "http://" + (any ? "127.0.0.1" : options.address) + ":" + std::to_string(server->port());
  return Ok{};
}

void Emulator::Parts::StopServing() {
  if (book_of_guests) book_of_guests->Close();  // who waits for a change goes home
  if (faces) faces->EndPauses();
  if (server) server->Stop(kServerGraceMilliseconds);
}

front::GuestOptions Emulator::Parts::GuestSettings() const {
  front::GuestOptions settings;
  settings.project_number = options.project_number;
  settings.service_account = ServiceAccountOf(options);
  if (options.gs_front == GsFront::kProxy) {
    settings.https = spec::HttpsFront{"", authority->bundle_file().string(),
                                      DirectHosts(host::OwnEnvironment())};
  }
  return settings;
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
  settings.service_account = ServiceAccountOf(options);
  return settings;
}

Status Emulator::Parts::StartEngine() {
  guests = std::make_unique<front::GuestLauncher>(
      front::GuestLauncher::World{*launcher, *server, *book_of_guests, *mint, wall},
      GuestSettings());
  engine::Launcher* outermost = guests.get();
  if (!options.companions.empty()) {
    companions = std::make_unique<host::CompanionLauncher>(
        *guests, CompanionsOf(options, host::OwnEnvironment()), *log, clock);
    outermost = companions.get();
  }
  engine = std::make_unique<engine::Engine>(
      EngineSettings(),
      engine::EnginePorts{*outermost, *packager, *devices, *addresses, *jobs, *log, *storage},
      clock);
  return engine->Start();
}

void Emulator::Parts::AddRoutes() {
  const engine::EngineOptions settings = EngineSettings();
  follower = std::make_unique<api::JobFollower>(*engine, *book);
  policies = std::make_unique<api::PolicyStore>(options.state / "policies");
  auto ml_routes =
      api::MlRoutes(*engine, *policies, {options.project_number, settings.service_account});
  router.Add(front::WithStandardParameters(
      api::ForStreamReaders(std::move(ml_routes), *engine, *book, stream_readers)));
  router.Add(front::WithStandardParameters(logging::LoggingRoutes(
      logging::MakeLoggingApi(options.state / "logs.db", *book, clock, wall, stream_readers))));
  router.Add(faces->Faulty(front::WithStandardParameters(faces->JsonRoutes())));
  router.Add(faces->OtherRoutes());
  router.Add(api::ControlRoutes(
      {kVersion, options.state.string(), options.seed, flags}, *engine, *follower, [this] {
        const uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(end_asked.get(), &one, sizeof one);
      }));
  router.Add(api::DiscoveryRoutes(router.routes()));
  router.Add(api::RouteListRoute(router.routes()));
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
  RETURN_IF_ERROR(parts->OpenFront());
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

const std::string& Emulator::port_note() const { return parts_->port_note; }

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
  // Replicas first: until they are gone they may write to storage.
  parts_->engine->Stop();
  parts_->StopServing();
}

}  // namespace caip::app
