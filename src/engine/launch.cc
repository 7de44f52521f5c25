#include "engine/launch.h"

#include <algorithm>

namespace caip::engine {
namespace {

// Later variables win, at the place of the first: names stay unique.
void Overlay(const Environment& over, Environment& base) {
  for (const auto& variable : over) {
    const auto found = std::find_if(
        base.begin(), base.end(), [&](const auto& entry) { return entry.first == variable.first; });
    if (found == base.end()) {
      base.push_back(variable);
    } else {
      found->second = variable.second;
    }
  }
}

// What the launcher has answered for the images when the job was submitted.
run::Program ResolvedProgram(const LaunchFacts& facts) {
  run::Program program = facts.job.spec().GroupOf(facts.key.replica).program;
  if (auto* image = std::get_if<run::ContainerImage>(&program)) {
    const auto known = facts.note.images.find(image->uri);
    if (known != facts.note.images.end()) image->entrypoint = known->second.entrypoint;
  }
  return program;
}

// The image that the packager has unpacked for the replica; nullptr: it runs a command of the host.
std::shared_ptr<const PreparedImage> ImageOf(const LaunchFacts& facts) {
  const auto* image =
      std::get_if<run::ContainerImage>(&facts.job.spec().GroupOf(facts.key.replica).program);
  if (!image) return nullptr;
  const auto found = facts.prepared.images.find(image->uri);
  return found == facts.prepared.images.end() ? nullptr : found->second;
}

// An image without ENTRYPOINT and CMD runs the first argument, as in Docker and Kubernetes.
void UseImage(std::shared_ptr<const PreparedImage> prepared, ReplicaLaunch& launch) {
  auto& image = std::get<run::ContainerImage>(launch.program);
  image.entrypoint = prepared->entrypoint;
  image.default_args = prepared->default_args;
  std::vector<std::string>& first = image.args.empty() ? launch.arguments : image.args;
  const bool is_bare = image.entrypoint.empty() && image.default_args.empty();
  if (is_bare && image.command.empty() && !first.empty()) {
    image.command = {first.front()};
    first.erase(first.begin());
  }
  Environment environment = prepared->environment;
  Overlay(launch.environment, environment);
  launch.environment = std::move(environment);
  launch.working_directory = prepared->working_directory;
  launch.image = std::move(prepared);
}

// False for a replica without packages whose run has some for other replicas.
bool UsesEnvironment(const LaunchFacts& facts) {
  const run::RunSpec& spec = facts.job.spec();
  return std::holds_alternative<run::PythonModule>(spec.GroupOf(facts.key.replica).program) ||
         !spec.NeedsPackages();
}

// PATH: of the image, else that of the host after the directory of the packages.
std::string PathOf(const LaunchFacts& facts, const PreparedImage* image) {
  if (!image) {
    const std::string prefix = UsesEnvironment(facts) ? facts.prepared.path_prefix : "";
    return prefix.empty() ? facts.path : prefix + ":" + facts.path;
  }
  const auto path = std::find_if(image->environment.begin(), image->environment.end(),
                                 [](const auto& variable) { return variable.first == "PATH"; });
  return path == image->environment.end() ? facts.path : path->second;
}

int BootDiskGbOf(const run::ReplicaGroup& group) {
  return group.disk.size_gb > 0 ? group.disk.size_gb : run::kBootDiskGbDefault;
}

ReplicaMachine DescribeMachine(const LaunchFacts& facts, const run::Program& program) {
  const run::RunSpec& spec = facts.job.spec();
  const run::ReplicaGroup& group = spec.GroupOf(facts.key.replica);
  const auto* image = std::get_if<run::ContainerImage>(&program);
  ReplicaMachine machine{.host_name = facts.job.HostName(facts.key.replica, facts.note.names),
                         .region = spec.region,
                         .machine_type = group.machine_type,
                         .boot_disk_gb = BootDiskGbOf(group),
                         .image_uri = image ? image->uri : "",
                         .service_account = spec.service_account,
                         .vcpus = group.vcpus,
                         .memory_bytes = group.memory_bytes};
  for (const run::PlannedReplica& peer : facts.plan) {
    const std::string host = peer.address.substr(0, peer.address.rfind(':'));
    machine.peers.push_back({peer.id, facts.job.HostName(peer.id, facts.note.names), host});
    if (std::find(machine.peer_hosts.begin(), machine.peer_hosts.end(), host) ==
        machine.peer_hosts.end()) {
      machine.peer_hosts.push_back(host);
    }
  }
  return machine;
}

// Only the file of the lead counts (docs/service/hyperparameter-tuning.md, section 5).
std::optional<MetricSource> FindMetrics(const LaunchFacts& facts) {
  const auto& tuning = facts.job.spec().tuning;
  const bool leads = facts.key.replica == facts.job.spec().lead();
  if (!facts.key.run.IsTrial() || !leads || !tuning) return std::nullopt;
  return MetricSource{.tag = tuning->metric_tag,
                      .file = facts.boot_disk + "/" + facts.run.MetricFile(),
                      .output_directory = facts.run.OutputDirectory()};
}

void Resolve(const std::string& field, const run::Program& asked, const Launcher& launcher,
             ResolvedPrograms& resolved) {
  const Result<run::Program> program = launcher.Resolve(asked);
  if (!program.ok()) {
    if (!field.empty()) resolved.refused.push_back({field, program.error().message});
  } else if (const auto* image = std::get_if<run::ContainerImage>(&*program)) {
    if (image->entrypoint.empty() && image->source.empty()) return;
    resolved.images[image->uri] = {image->entrypoint, image->source};
  }
}

}  // namespace

ResolvedPrograms ResolvePrograms(const run::RunSpec& spec, const Launcher& launcher) {
  ResolvedPrograms resolved;
  for (const run::ReplicaGroup& group : spec.groups) {
    Resolve(group.program_field, group.program, launcher, resolved);
  }
  for (const run::IdleProgram& idle : spec.idle_programs) {
    Resolve(idle.field, idle.program, launcher, resolved);
  }
  return resolved;
}

std::vector<DeviceRequest> DeviceRequestsOf(const run::RunSpec& spec,
                                            const std::vector<run::PlannedReplica>& plan) {
  std::vector<DeviceRequest> requests;
  for (const run::PlannedReplica& replica : plan) {
    for (const run::Accelerator& asked : spec.GroupOf(replica.id).accelerators) {
      requests.push_back({replica.id, asked.type, asked.count});
    }
  }
  return requests;
}

ReplicaLaunch MakeLaunch(const LaunchFacts& facts, bool fresh_disk) {
  std::shared_ptr<const PreparedImage> image = ImageOf(facts);
  run::ReplicaSetup setup = facts.run.SetUp(
      {facts.key.replica, facts.boot_disk, PathOf(facts, image.get()), image != nullptr});
  ReplicaLaunch launch;
  launch.key = facts.key;
  launch.task = facts.job.TaskName(facts.key.replica);
  launch.program = ResolvedProgram(facts);
  launch.machine = DescribeMachine(facts, launch.program);
  launch.interpreter = facts.prepared.interpreter;
  launch.arguments = std::move(setup.arguments);
  launch.environment = std::move(setup.environment);
  Overlay(facts.devices.environment, launch.environment);
  launch.device_nodes = facts.devices.nodes;
  if (UsesEnvironment(facts)) {
    Overlay(facts.prepared.environment, launch.environment);
    launch.working_files = facts.prepared.packages;
    launch.needs = facts.prepared.needs;
  }
  launch.user_directories = std::move(setup.directories);
  launch.working_directory = std::move(setup.working_directory);
  launch.buckets_at = std::move(setup.buckets_at);
  launch.mounts = std::move(setup.mounts);
  launch.log_reader = setup.log_reader;
  launch.fresh_disk = fresh_disk;
  launch.metrics = FindMetrics(facts);
  if (image) UseImage(std::move(image), launch);
  return launch;
}

}  // namespace caip::engine
