#include "emulator/app/replica_host.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/app/interference.h"
#include "google/gcs_uri.h"
#include "host/devices/devices.h"
#include "host/devices/devices_binder.h"
#include "host/errors.h"
#include "host/machine/addresses.h"
#include "host/machine/isolation.h"
#include "host/process/child_process.h"

namespace caip::app {
namespace {

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

std::unique_ptr<engine::AddressLender> LenderOf(const EmulatorOptions& options) {
  const Random chance(options.seed);
  if (options.addressing == Addressing::kPorts) {
    return std::make_unique<host::PortAddresses>(chance.Fork("ports"));
  }
  return std::make_unique<host::LoopbackAddresses>(chance.Fork("addresses"));
}

Result<std::unique_ptr<engine::DeviceBinder>> BinderOf(const EmulatorOptions& options) {
  std::vector<host::Gpu> fakes;
  if (!options.fake_gpus.empty()) {
    ASSIGN_OR_RETURN(fakes, host::FakeGpus(options.fake_gpus));
  }
  const auto own = host::OwnEnvironment();
  host::DevicePlaces places;
  places.path = Find(own, "PATH").value_or("");
  return std::unique_ptr<engine::DeviceBinder>(std::make_unique<host::DeviceBinderOnHost>(
      ModeOf(options.gpus), [places, fakes, visible = Find(own, "CUDA_VISIBLE_DEVICES")] {
        return host::InventoryFor(places, fakes, visible);
      }));
}

std::unique_ptr<host::Interpreters> InterpretersOf(const EmulatorOptions& options) {
  host::InterpreterSearch search = host::DefaultSearch(host::OwnEnvironment());
  search.configured.assign(options.interpreters.begin(), options.interpreters.end());
  search.cache_file = options.state / "interpreters.json";
  return std::make_unique<host::Interpreters>(std::move(search), options.runtimes);
}

host::PackagerOptions PackagingOf(const EmulatorOptions& options) {
  host::PackagerOptions packaging;
  packaging.state = options.state;
  packaging.own_environment = host::OwnEnvironment();
  packaging.strict_runtime = options.strict_runtime;
  return packaging;
}

std::function<Path(const std::string&)> DirectoriesOf(const gcs::DirectoryStore& buckets) {
  return [&buckets](const std::string& uri) {
    const auto place = google::ParseGcsUri(uri);
    return place.ok() ? buckets.PathOf(place->bucket, place->object) : Path();
  };
}

}  // namespace

Result<ReplicaHost> OpenReplicaHost(const EmulatorOptions& options, const KeptState& state,
                                    Clock& clock, Interference* interference) {
  ReplicaHost host;
  if (options.isolation == Isolation::kNamespaces) {
    const auto why_not = host::TryIsolation(host::LauncherBesideUs());
    if (why_not) return host::errors::NoNamespaces(*why_not);
  }
  if (interference) host.watched_output = interference->Around(*state.log);
  engine::LogSink& output = host.watched_output ? *host.watched_output : *state.log;
  host::ProcessLauncherOptions launching{.state_directory = options.state,
                                         .images = options.images};
  if (interference) launching.watcher = interference->Watcher();
  ASSIGN_OR_RETURN(host.launcher,
                   host::ProcessLauncher::Start(std::move(launching), clock, output));
  host.metrics = std::make_unique<host::MetricLauncher>(
      *host.launcher, host::MetricLauncherOptions{DirectoriesOf(*state.buckets)}, *state.log,
      clock);
  if (interference) host.watched = interference->Around(*host.metrics);
  host.interpreters = InterpretersOf(options);
  host.packager = std::make_unique<host::PackagerOnHost>(PackagingOf(options), *host.interpreters,
                                                         *state.storage, *state.log, clock);
  ASSIGN_OR_RETURN(host.devices, BinderOf(options));
  host.addresses = LenderOf(options);
  return host;
}

}  // namespace caip::app
