#include "emulator/app/replica_host.h"

#include <string>

#include "emulator/app/built_in_images.h"
#include "google/gcs_uri.h"
#include "host/machine/machines.h"
#include "host/metrics/log_file_launcher.h"
#include "host/process/child_process.h"
#include "host/process/launcher_link.h"
#include "host/store/state_directory.h"

namespace caip::app {
namespace {

host::DeviceMode DeviceModeFrom(GpuMode mode) {
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

host::LauncherOptions LauncherOptionsFrom(const EmulatorOptions& options) {
  return {.kind = options.launcher,
          .state = options.state,
          .outer_states = options.outer_states,
          .images = options.images,
          .image_store = options.image_store,
          .container_engine = options.container_engine,
          .strict_images = options.strict_images,
          .seed = options.seed,
          .own_environment = host::OwnEnvironment(),
          .own_machines = options.isolation == Isolation::kMachine,
          .keep_disks = options.keep_disks,
          .disk_bytes_max = options.disk_bytes_max,
          .only_named_disk_sizes = options.only_named_disk_sizes,
          .machine_limits = options.machine_limits,
          .addressing = options.addressing,
          .devices = DeviceModeFrom(options.gpus),
          .fake_gpus = options.fake_gpus,
          .fake_tpu = options.fake_tpu,
          .interpreters = {options.interpreters.begin(), options.interpreters.end()},
          .python = options.python,
          .runtime_store = options.runtime_store,
          .runtimes = options.runtimes,
          .strict_runtime = options.strict_runtime,
          .interrupted = options.interrupted};
}

// The service reads the log files of Vertex AI's replicas (docs/service/vertex.md, section 10),
// whose jobs are the only ones that belong to a location. A machine has their place; a process has
// not.
void ReadLogFiles(const EmulatorOptions& options, Clock& clock, engine::LogSink& output,
                  host::LauncherBundle& bundle) {
  if (options.isolation != Isolation::kMachine) return;
  host::LogFileOptions files;
  files.root = options.state / host::kLogFilesOfMachines;
  files.reads_files = [](const run::RunKey& run) { return !run.location.empty(); };
  bundle.launcher = std::make_unique<host::LogFileLauncher>(std::move(bundle.launcher),
                                                            std::move(files), output, clock);
}

}  // namespace

std::string NoMachinesNote(const std::string& why_not) {
  return "Replicas are processes of this host, because it allows them no machines of their own (" +
         why_not + "). `caip doctor` shows what that costs.";
}

std::string ChooseIsolation(EmulatorOptions& options) {
  if (options.isolation != Isolation::kByHost) return "";
  options.isolation = Isolation::kProcess;
  if (options.addressing == Addressing::kPorts) return "";  // machines have names, not ports
  if (options.container_engine != host::ContainerEngineKind::kBundled) return "";
  if (const auto why_not = host::TryMachineOnce(host::OwnLauncher(), options.state)) {
    return NoMachinesNote(*why_not);
  }
  options.isolation = Isolation::kMachine;
  return "";
}

api::FindRunning RunningReplicasOf(const host::LauncherBundle& replicas) {
  return [&replicas](const std::string& project, const std::string& job_id) {
    std::vector<api::RunningReplica> found;
    if (!replicas.processes) return found;
    for (host::LivingReplica& living : replicas.processes->LivingOf(project, job_id)) {
      found.push_back({.task = std::move(living.task),
                       .trial = living.key.run.trial,
                       .boot = living.key.boot,
                       .init = living.init,
                       .leader = living.leader,
                       .is_machine = living.is_machine,
                       .directory = std::move(living.directory),
                       .marker = std::move(living.marker)});
    }
    return found;
  };
}

Result<host::LauncherBundle> OpenReplicaHost(const EmulatorOptions& options, const KeptState& state,
                                             Clock& clock, engine::LogSink& output) {
  const auto directory_of = [&buckets = *state.buckets](const std::string& uri) {
    const auto place = google::ParseGcsUri(uri);
    return place.ok() ? buckets.PathOf(place->bucket, place->object) : Path();
  };
  const auto built_in = [images = BuiltInImages{options.state, options.python, options.runtimes,
                                                host::OwnEnvironment()}](const std::string& uri) {
    return images.CommandFor(uri);
  };
  ASSIGN_OR_RETURN(host::LauncherBundle bundle,
                   host::OpenLauncherBundle(
                       LauncherOptionsFrom(options),
                       {clock, output, *state.log, *state.storage, directory_of, built_in}));
  ReadLogFiles(options, clock, output, bundle);
  return bundle;
}

}  // namespace caip::app
