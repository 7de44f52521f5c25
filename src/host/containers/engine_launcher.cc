#include "host/containers/engine_launcher.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/hash.h"
#include "host/containers/engine_images.h"
#include "host/machine/closed_files.h"
#include "host/machine/machine_places.h"
#include "host/process/orphans.h"
#include "host/process/task_queue.h"
#include "host/store/state_directory.h"
#include "run/texts.h"

namespace caip::host {
namespace {

using engine::ReplicaExit;
using engine::ReplicaKey;
using engine::ReplicaLaunch;

constexpr size_t kNameDigits = 24;

// Containers have here what they see of the state directory. An image may close directories that
// lead to the same path to its user: /root.
constexpr char kStateInContainers[] = "/run/caip";

bool IsBelowPlace(const std::string& path, const std::string& directory) {
  return path.starts_with(directory + "/");
}

// An image chooses some of the texts. So no path leads elsewhere, and a directory does not count.
bool IsNormal(const std::string& path) { return Path(path).lexically_normal() == path; }
bool IsFileThere(const std::string& path) {
  std::error_code error;
  return IsNormal(path) && std::filesystem::canonical(path, error) == path &&
         std::filesystem::is_regular_file(path, error);
}

// Names of other replicas lead to their addresses, as on the service.
std::vector<std::pair<std::string, std::string>> HostsOf(const engine::ReplicaMachine& machine) {
  std::vector<std::pair<std::string, std::string>> hosts;
  for (const engine::ReplicaPeer& peer : machine.peers) {
    if (peer.host.find_first_not_of("0123456789.") != std::string::npos) continue;
    hosts.emplace_back(peer.host_name, peer.host);
  }
  return hosts;
}

class EngineLauncher final : public engine::Launcher {
 public:
  EngineLauncher(std::unique_ptr<engine::Launcher> processes, engine::LocalDisks& disks,
                 const Path& state, ContainerEngine engine, const Clock& clock,
                 engine::LogSink& log, DriverPlaces gpu_driver,
                 const std::vector<Path>& outer_states)
      : gpu_driver_(std::move(gpu_driver)),
        clock_(clock),
        log_(log),
        disks_(disks),
        state_(state.string()),
        states_(HiddenStates(state, outer_states)),
        state_id_(StateId(state)),
        engine_(std::move(engine)),
        processes_(std::move(processes)) {
    removals_.Start();
  }
  ~EngineLauncher() override {
    processes_.reset();  // afterwards no listener is called
    removals_.Stop();
    (void)engine_.RemoveAll();  // else the next start does, or says why it cannot
  }

  Result<run::Program> Resolve(const run::Program& program) const override {
    return processes_->Resolve(program);
  }
  void Expect(const engine::RunKey& run, const std::vector<std::string>& addresses) override {
    processes_->Expect(run, addresses);
  }
  void Launch(ReplicaLaunch launch, Listener listener) override {
    if (!launch.image) return processes_->Launch(std::move(launch), std::move(listener));
    const std::string container = NameOf(launch.key);
    listener.on_exit = [this, container,
                        on_exit = std::move(listener.on_exit)](const ReplicaExit& exit) {
      if (exit.is_removed) {
        if (on_exit) on_exit(exit);
        return;
      }
      removals_.Post([this, container, on_exit, exit] {
        const Status removed = engine_.Remove(container);
        if (!removed.ok()) Warn(exit.key.run, removed.error().message);
        if (on_exit) on_exit(exit);
      });
    };
    processes_->Launch(InContainer(std::move(launch), container), std::move(listener));
  }
  void Signal(const ReplicaKey& key, int signal) override { processes_->Signal(key, signal); }
  void Kill(const ReplicaKey& key) override { processes_->Kill(key); }
  void Discard(const engine::RunKey& run) override { processes_->Discard(run); }

 private:
  void Warn(const engine::RunKey& run, const std::string& text) {
    log_.Write(
        {{run, std::string(run::kServiceTask), engine::Severity::kWarning, clock_.Now(), text}});
  }

  std::string NameOf(const ReplicaKey& key) const {
    return "caip-" + Sha256Hex(ReplicaMarker(state_id_, key)).substr(0, kNameDigits);
  }

  ReplicaLaunch InContainer(ReplicaLaunch launch, const std::string& name) {
    const std::string lacks = gpu_driver_.GiveTo(launch);
    if (!lacks.empty()) Warn(launch.key.run, lacks);
    const auto& image = *static_cast<const EngineImageName*>(launch.image->hold.get());
    ContainerRun run;
    run.name = name;
    run.image = image.name;
    run.argv = launch.Argv();
    run.environment = launch.environment;
    if (launch.working_directory != launch.image->working_directory) {
      run.working_directory = launch.working_directory;
    }
    run.host_name = launch.machine.host_name;
    run.hosts = HostsOf(launch.machine);
    AddPlaces(launch, run);
    AddMounts(launch, run);
    if (!launch.buckets_at.empty()) {
      run.directories.push_back({state_ + "/buckets", launch.buckets_at});
    }
    HideWorkOfStorage(run);
    run.devices = std::move(launch.device_nodes);
    launch.device_nodes.clear();
    launch.buckets_at.clear();
    launch.mounts.clear();
    if (!run.argv.empty()) launch.program = run::LocalCommand{engine_.CommandFor(run)};
    launch.removal = engine_.RemovalOf(name);
    launch.arguments.clear();
    launch.environment = engine_.environment();
    for (const auto& secret : SecretsOf(run.environment)) launch.environment.push_back(secret);
    launch.working_directory.clear();
    launch.image = nullptr;
    return launch;
  }

  // As on machines, without the state directory (machine_volumes.h).
  void AddMounts(const ReplicaLaunch& launch, ContainerRun& run) const {
    if (launch.mounts.empty()) return;
    const std::vector<HostMount> mounts = HostMounts();
    const ClosedFiles closed(state_, states_, mounts);
    for (const auto& [named, shown] : launch.mounts) {
      const std::string directory = FollowLinks(named);
      if (closed.IsClosedVolume({directory, shown}, directory)) {
        run.hidden.push_back(shown);
        continue;
      }
      run.directories.push_back({directory, shown});
      std::vector<launcher::MachineMount> hiding;
      for (const Path& state : states_) HideState(state, directory, shown, mounts, hiding);
      for (const launcher::MachineMount& mount : hiding) {
        if (HostHas(directory + mount.target.substr(shown.size()))) {
          run.hidden.push_back(mount.target);
        }
      }
    }
  }

  void HideWorkOfStorage(ContainerRun& run) const {
    for (const auto& [directory, shown] : run.directories) {
      if (directory != state_ + "/buckets") continue;
      for (const char* name : kWorkOfStorage) run.hidden.push_back(shown + "/" + name);
    }
  }

  std::string ShownOf(const std::string& path) const {
    if (!IsBelowPlace(path, state_)) return path;
    return kStateInContainers + path.substr(state_.size());
  }

  // Shows what the words and variables name of the state directory: the boot disk, buckets, and
  // single files such as the certificates of the front. Makes them name the places in the
  // container.
  void AddPlaces(const ReplicaLaunch& launch, ContainerRun& run) const {
    const std::string disk = disks_.BootDisk(launch.key);
    const std::string buckets = state_ + "/buckets";
    std::set<std::string> directories = {disk};
    std::set<std::string> files;
    const auto move = [&](std::string& text) {
      if (!IsBelowPlace(text, state_)) return;
      const bool is_in_buckets = IsBelowPlace(text, buckets) && IsNormal(text);
      const bool is_in_directory = is_in_buckets || IsBelowPlace(text, disk);
      const bool is_file = !is_in_directory && IsFileThere(text) && !IsSecretOfState(text, state_);
      if (!is_in_directory && !is_file) return;
      if (is_in_buckets) directories.insert(buckets);
      if (is_file) files.insert(text);
      text = ShownOf(text);
    };
    for (std::string& word : run.argv) move(word);
    for (auto& [name, value] : run.environment) move(value);
    for (const std::string& one : directories) run.directories.push_back({one, ShownOf(one)});
    for (const std::string& file : files) run.files.push_back({file, ShownOf(file)});
  }

  HostGpuDriver gpu_driver_;  // used by Launch
  const Clock& clock_;
  engine::LogSink& log_;
  engine::LocalDisks& disks_;
  const std::string state_;
  const std::vector<Path> states_;  // what exports do not show
  const std::string state_id_;
  const ContainerEngine engine_;
  TaskQueue removals_;
  std::unique_ptr<engine::Launcher> processes_;
};

}  // namespace

Result<std::unique_ptr<engine::Launcher>> MakeEngineLauncher(
    std::unique_ptr<engine::Launcher> processes, engine::LocalDisks& disks, const Path& state,
    ContainerEngine engine, const Clock& clock, engine::LogSink& log, DriverPlaces gpu_driver,
    const std::vector<Path>& outer_states) {
  RETURN_IF_ERROR(engine.RemoveAll());
  return std::unique_ptr<engine::Launcher>(
      std::make_unique<EngineLauncher>(std::move(processes), disks, state, std::move(engine), clock,
                                       log, std::move(gpu_driver), outer_states));
}

}  // namespace caip::host
