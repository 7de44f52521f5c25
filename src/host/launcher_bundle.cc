#include "host/launcher_bundle.h"

#include <optional>
#include <string_view>

#include "host/containers/container_errors.h"
#include "host/containers/engine_images.h"
#include "host/containers/engine_launcher.h"
#include "host/devices/fake_devices.h"
#include "host/errors.h"
#include "host/images/image_packager.h"
#include "host/images/kept_mappings.h"
#include "host/images/local_images.h"
#include "host/machine/addresses.h"
#include "host/machine/machine_errors.h"
#include "host/machine/machine_limits.h"
#include "host/machine/machines.h"
#include "host/metrics/metric_launcher.h"
#include "host/process/helper_files.h"
#include "host/process/launcher_link.h"
#include "host/process/orphans.h"
#include "host/process/process_launcher.h"
#include "host/store/scratch.h"
#include "host/watch/call_source.h"

namespace caip::host {
namespace {

constexpr char kProcessName[] = "process";

std::unique_ptr<engine::AddressLender> MakeAddressLender(const LauncherOptions& options,
                                                         const LauncherWorld& world) {
  const Random chance(options.seed);
  if (options.own_machines) return std::make_unique<MachineAddresses>();
  if (options.addressing == Addressing::kPorts) {
    return std::make_unique<PortAddresses>(chance.Fork("ports"));
  }
  return std::make_unique<LoopbackElsePorts>(chance, world.log, world.clock);
}

Result<std::unique_ptr<engine::DeviceBinder>> MakeDeviceBinder(const LauncherOptions& options) {
  ASSIGN_OR_RETURN(FakeDevices fakes, MakeFakeDevices(options.fake_gpus, options.fake_tpu));
  const GpuTools tools{HelperFile("caip-nvidia-smi"), HelperFile("libcaip-nvml.so")};
  RETURN_IF_ERROR(GiveGpuTools(tools, options.state / "fake-gpus", fakes));
  const Variables& own = options.own_environment;
  DevicePlaces places;
  places.path = FindVariable(own, "PATH").value_or("");
  return std::unique_ptr<engine::DeviceBinder>(std::make_unique<DeviceBinderOnHost>(
      options.devices, [places, fakes, visible = FindVariable(own, "CUDA_VISIBLE_DEVICES")] {
        return InventoryFor(places, fakes, visible);
      }));
}

std::unique_ptr<Interpreters> MakeInterpreters(const LauncherOptions& options) {
  InterpreterSearch search = DefaultSearch(options.own_environment);
  search.python = options.python;
  search.installed_runtimes =
      options.runtime_store.empty() ? options.state / "runtimes" : options.runtime_store;
  search.configured = options.interpreters;
  search.cache_file = options.state / "interpreters.json";
  return std::make_unique<Interpreters>(std::move(search), options.runtimes);
}

PackagerOptions PackagerOptionsFrom(const LauncherOptions& options) {
  PackagerOptions packaging;
  packaging.state = options.state;
  packaging.own_environment = options.own_environment;
  packaging.strict_runtime = options.strict_runtime;
  return packaging;
}

bool RunsInEngine(const LauncherOptions& options) {
  return options.container_engine != ContainerEngineKind::kBundled;
}

// The user asked for them, not only jobs.
bool WantsDiskLimits(const LauncherOptions& options) {
  return options.disk_bytes_max > 0 && !options.only_named_disk_sizes;
}

ContainerEngine EngineFor(const LauncherOptions& options) {
  return ContainerEngine(options.container_engine, StateId(options.state), options.own_environment);
}

// Containers of an engine have neither the machines nor the watched processes of the bundled one.
Status CheckEngine(const LauncherOptions& options) {
  if (!RunsInEngine(options)) return Ok{};
  const ContainerEngine engine = EngineFor(options);
  if (options.own_machines) return errors::EngineOnMachines(engine.name());
  if (WantsDiskLimits(options)) return errors::EngineWithout(engine.name(), "--disk-limits");
  if (options.machine_limits) return errors::EngineWithout(engine.name(), "--machine-limits");
  return engine.Check();
}

Path ImageStoreOf(const LauncherOptions& options) {
  return options.image_store.empty() ? options.state / "images" : options.image_store;
}

std::shared_ptr<LocalImages> MakeImages(const LauncherOptions& options) {
  LocalImagesOptions images;
  images.state = options.state;
  images.store = ImageStoreOf(options);
  images.can_run = RunsInEngine(options) || (options.own_machines && options.own_roots);
  images.own_environment = options.own_environment;
  return std::make_shared<LocalImages>(std::move(images));
}

ImageRules ImageRulesFrom(const LauncherOptions& options, const LauncherWorld& world,
                          std::shared_ptr<LocalImages> images) {
  ImageRules rules{options.images,
                   [kept = KeptMappings(ImageStoreOf(options))] { return kept.Read(); },
                   world.built_in_images};
  if (options.strict_images) {
    rules.look_up = [images](const std::string& uri, const std::string& source) {
      return images->LookUp(uri, source);
    };
  }
  return rules;
}

std::unique_ptr<engine::Packager> MakePackager(const LauncherOptions& options,
                                               const LauncherWorld& world,
                                               std::shared_ptr<LocalImages> images,
                                               Interpreters& interpreters) {
  auto packages = std::make_unique<PackagerOnHost>(PackagerOptionsFrom(options), interpreters,
                                                   world.packages, world.log, world.clock);
  std::shared_ptr<ImageSource> source = images;
  if (RunsInEngine(options)) {
    source = std::make_shared<EngineImages>(EngineFor(options), std::move(images), options.state);
  }
  return std::make_unique<ImagePackager>(std::move(packages), std::move(source), world.log,
                                         world.clock);
}

// The limits are held at the replicas' writes.
Status CheckDiskLimits() {
  const Interposition found = InterpositionOf();
  if (found.kind == Interposition::Kind::kSeccomp) return Ok{};
  return errors::NoDiskLimits(found.reason);
}

uint64_t DiskBytesMax(const LauncherOptions& options) {
  if (!options.only_named_disk_sizes) return options.disk_bytes_max;
  const bool has_machines = options.own_machines && !RunsInEngine(options);
  return has_machines && CheckDiskLimits().ok() ? options.disk_bytes_max : 0;
}

std::shared_ptr<MachineLimits> OpenLimits(const LauncherOptions& options, std::string& note) {
  auto limits = MachineLimits::Open("caip-" + StateId(options.state));
  if (!limits.ok()) {
    note = "--machine-limits has no effect on this host: " + limits.error().message + ".";
    return nullptr;
  }
  const std::string missing = (*limits)->missing();
  if (!missing.empty()) {
    note = "--machine-limits does not limit the " + missing + " of replicas: this user has no " +
           "control groups for that.";
  }
  return *std::move(limits);
}

// In a run's network, the emulator's port is at the hub's address.
std::string UrlOnMachine(const std::string& url) {
  return "http://" + std::string(kHubAddress) + url.substr(url.rfind(':'));
}

Result<std::unique_ptr<engine::Launcher>> WithEngine(const LauncherOptions& options,
                                                     const LauncherWorld& world,
                                                     std::unique_ptr<ProcessLauncher> processes) {
  if (!RunsInEngine(options)) return std::unique_ptr<engine::Launcher>(std::move(processes));
  engine::LocalDisks& disks = *processes;
  return MakeEngineLauncher(std::move(processes), disks, options.state, EngineFor(options),
                            world.clock, world.log, {}, options.outer_states);
}

Result<LauncherBundle> OpenProcessBundle(const LauncherOptions& options, LauncherWorld world) {
  if (options.own_machines) {
    const auto why_not = options.own_roots ? TryMachineOnce(OwnLauncher(), options.state)
                                           : TryMachine(OwnLauncher());
    if (why_not) return errors::NoMachine(*why_not);
  }
  if (WantsDiskLimits(options)) RETURN_IF_ERROR(CheckDiskLimits());
  RETURN_IF_ERROR(CheckEngine(options));
  const std::shared_ptr<LocalImages> images = MakeImages(options);
  LauncherBundle bundle;
  bundle.name = kProcessName;
  const auto limits = options.machine_limits ? OpenLimits(options, bundle.limits_note) : nullptr;
  ASSIGN_OR_RETURN(auto processes,
                   ProcessLauncher::Start({.state_directory = options.state,
                                           .outer_states = options.outer_states,
                                           .images = ImageRulesFrom(options, world, images),
                                           .own_roots = options.own_machines && options.own_roots,
                                           .keep_disks = options.keep_disks,
                                           .limits = limits,
                                           .disk_bytes_max = DiskBytesMax(options),
                                           .only_named_disk_sizes = options.only_named_disk_sizes,
                                           .interrupted = options.interrupted},
                                          world.clock, world.output));
  bundle.disks = processes.get();
  bundle.machines = processes.get();
  if (!RunsInEngine(options)) {
    bundle.freezable = processes.get();
    bundle.watchable = processes.get();
    bundle.processes = processes.get();
  }
  if (options.own_machines) bundle.networks = processes.get();
  bundle.names_resolve = options.own_machines;
  ASSIGN_OR_RETURN(auto launcher, WithEngine(options, world, std::move(processes)));
  bundle.launcher = std::make_unique<MetricLauncher>(
      std::move(launcher), bundle.disks, MetricLauncherOptions{std::move(world.directory_of)},
      world.log, world.clock);
  bundle.interpreters = MakeInterpreters(options);
  bundle.packager = MakePackager(options, world, images, *bundle.interpreters);
  ASSIGN_OR_RETURN(bundle.devices, MakeDeviceBinder(options));
  bundle.addresses = MakeAddressLender(options, world);
  bundle.address = kLoopbackAddress;
  bundle.address_for_replicas = options.own_machines ? kHostAddress : kLoopbackAddress;
  bundle.url_for_replicas = [own = options.own_machines](const std::string& url) {
    return own ? UrlOnMachine(url) : url;
  };
  return bundle;
}

}  // namespace

std::vector<std::pair<std::string, LauncherKind>> LauncherKinds() {
  return {{kProcessName, LauncherKind::kProcess}};
}

Result<LauncherBundle> OpenLauncherBundle(const LauncherOptions& options, LauncherWorld world) {
  RemoveScratch(options.state);
  switch (options.kind) {
    case LauncherKind::kProcess:
      break;
  }
  return OpenProcessBundle(options, std::move(world));
}

}  // namespace caip::host
