#include "host/process/process_launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "host/devices/gpu_driver.h"
#include "host/errors.h"
#include "host/machine/addresses.h"
#include "host/machine/boot_disks.h"
#include "host/machine/machine_files.h"
#include "host/machine/machines.h"
#include "host/machine/run_networks.h"
#include "host/process/launcher_link.h"
#include "host/process/launcher_lock.h"
#include "host/process/live_replicas.h"
#include "host/process/orphans.h"
#include "host/process/replica_command.h"
#include "host/process/replica_end.h"
#include "host/process/replica_output.h"
#include "host/process/shown_directories.h"
#include "host/process/task_queue.h"
#include "host/watch/call_source.h"
#include "host/watch/disk_limits.h"
#include "host/watch/watched_replicas.h"
#include "run/limits.h"
#include "run/texts.h"

namespace caip::host {
namespace {

using engine::ReplicaExit;
using engine::ReplicaKey;
using engine::ReplicaLaunch;

struct Pipe {
  Fd reading;
  Fd writing;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return CannotMakePipe(errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

/// Methods whose names end in "Now" run on the worker thread.
class Processes final : public ProcessLauncher {
 public:
  Processes(ProcessLauncherOptions options, const Clock& clock, engine::LogSink& sink)
      : options_(std::move(options)),
        state_id_(StateId(options_.state_directory)),
        disks_(options_.state_directory, options_.keep_disks),
        files_(options_.state_directory, options_.outer_states),
        output_(clock, sink),
        watched_(output_, options_.interposition),
        gpu_driver_(options_.gpu_driver),
        oom_kills_(options_.oom_kills) {}

  ~Processes() override {
    tasks_.Stop();
    link_.reset();  // kills all replicas, and returns when they are dead
  }

  /// Blocks. Call it before any task is posted.
  Status Open() {
    ASSIGN_OR_RETURN(
        lock_, LockForLaunchers(options_.state_directory, kLauncherPatience, options_.interrupted));
    RETURN_IF_ERROR(EnsureLink());
    // a living replica has a disk, and a search takes a while
    if (disks_.AnyLeft()) RETURN_IF_ERROR(KillReplicas(state_id_));
    disks_.DiscardAll();
    tasks_.Start();
    return Ok{};
  }

  // engine::Launcher
  Result<run::Program> Resolve(const run::Program& program) const override {
    return ResolveImage(options_.images, program);
  }
  void Launch(ReplicaLaunch launch, Listener listener) override {
    tasks_.Post([this, launch = std::move(launch), listener = std::move(listener)]() mutable {
      LaunchNow(std::move(launch), std::move(listener));
    });
  }
  void Signal(const ReplicaKey& key, int signal) override {
    tasks_.Post([this, key, signal] {
      const uint64_t number = replicas_.NumberOf(key, signal == SIGKILL);
      if (number != 0) link_->Signal(number, signal);
    });
  }
  void Kill(const ReplicaKey& key) override {
    tasks_.Post([this, key] {
      if (const uint64_t number = replicas_.NumberOf(key, true)) link_->Kill(number);
    });
  }
  void Discard(const engine::RunKey& run) override {
    tasks_.Post([this, run] {
      networks_.Close(link_.get(), run);
      disks_.Discard(run);
    });
  }

  // engine::LocalDisks
  std::string BootDisk(const ReplicaKey& key) const override {
    return options_.own_roots ? "" : disks_.Of(key).string();
  }
  std::string OnHost(const ReplicaKey& key, const std::string& path) const override {
    return options_.own_roots ? files_.OnHost(disks_.Of(key), path).string() : path;
  }

  // Freezable
  void Freeze(const ReplicaKey& key, std::function<void()> frozen) override {
    tasks_.Post([this, key, frozen = std::move(frozen)] {
      const uint64_t number = replicas_.NumberOf(key, false);
      if (number == 0 || !replicas_.AwaitFrozen(number, frozen)) return frozen();
      link_->Freeze(number);
    });
  }
  void Thaw(const ReplicaKey& key) override {
    tasks_.Post([this, key] {
      if (const uint64_t number = replicas_.NumberOf(key, false)) link_->Thaw(number);
    });
  }

  // Watchable
  void Watch(ReplicaWatch watch, ReplicaWatcher& watcher) override {
    tasks_.Post([this, watch = std::move(watch), &watcher] { watching_ = {watch, &watcher}; });
  }

  // ShowsProcesses
  std::vector<LivingReplica> LivingOf(const std::string& project,
                                      const std::string& job_id) const override {
    return replicas_.LivingOf(project, job_id);
  }

  // OwnMachines
  std::string SharedAddress() const override { return std::string(kHubAddress); }
  std::string HostAddress() const override { return std::string(kHostAddress); }
  void SetEndpointHandler(EndpointHandler handler) override {
    networks_.SetEndpointHandler(std::move(handler));
  }
  void MakeAhead(const engine::RunKey& run, std::shared_ptr<const engine::RunNetwork> network,
                 std::vector<std::string> addresses) override {
    tasks_.Post([this, run, network = std::move(network), addresses = std::move(addresses)] {
      if (EnsureLink().ok()) networks_.LinkAhead(*link_, run, network, addresses);
    });
  }

  // DisturbsNetworks
  void SetPacketFaults(const engine::RunKey& run, std::vector<PacketFault> faults,
                       NetworkListener listener) override {
    tasks_.Post([this, run, faults = std::move(faults), listener = std::move(listener)]() mutable {
      networks_.SetFaults(link_.get(), run, std::move(faults), std::move(listener));
    });
  }

 private:
  Status EnsureLink() {
    if (link_ && link_->IsAlive()) return Ok{};
    link_.reset();
    networks_.Forget();
    LauncherLink::Listener listener;
    listener.report = [this](const launcher::Report& report) { OnReport(report); };
    listener.watched = [this](uint64_t number, Fd calls, pid_t init) {
      watched_.Listen(number, KernelCalls(std::move(calls)), init);
    };
    listener.endpoint = [this](uint64_t network, uint32_t endpoint, Fd listening) {
      networks_.EndpointOpened(network, endpoint, std::move(listening));
    };
    listener.faults = [this](const launcher::Report& report) { networks_.FaultsSet(report); };
    listener.nat = [this](const launcher::Report& report) {
      const auto run = networks_.RunOf(report.replica);
      if (run) output_.Write({*run, std::string(run::kServiceTask)}, {LostWayOut(report)});
    };
    listener.gone = [this] { EndAll(); };
    const Path program = options_.program.empty() ? OwnLauncher() : options_.program;
    ASSIGN_OR_RETURN(link_, LauncherLink::Start(program, std::move(listener), lock_.get()));
    return Ok{};
  }

  void LaunchNow(ReplicaLaunch launch, Listener listener) {
    const ReplicaKey key = launch.key;
    const std::string task = launch.task;
    auto remarks = ShowDirectories(options_.state_directory, HasOwnRoot(launch), launch);
    const std::vector<std::string> argv = launch.Argv();
    // first, because the end of an old link ends all entered replicas
    const Status linked = EnsureLink();
    const uint64_t number = replicas_.Enter({.key = key,
                                             .listener = std::move(listener),
                                             .program = argv.empty() ? "" : argv.front(),
                                             .directory = DirectoryOf(launch),
                                             .task = task,
                                             .image = launch.image ? launch.machine.image_uri : "",
                                             .is_machine = launch.isolation.has_value(),
                                             .watcher = WatchingOf(launch).watcher,
                                             .oom_kills = oom_kills_.Recent()});
    const Status started =
        linked.ok() ? StartNow(number, argv, std::move(launch), std::move(remarks)) : linked;
    if (started.ok()) return;
    const bool lives = link_ && link_->IsAlive();
    output_.Write({key.run, task}, RemarksWithoutStart(started.error(), lives));
    End(number, ExitWithoutStart(key, started.error()), {});
  }

  bool HasOwnRoot(const ReplicaLaunch& launch) const {
    return options_.own_roots && launch.isolation;
  }

  /// As the replica sees it.
  std::string DirectoryOf(const ReplicaLaunch& launch) const {
    return (DiskShownTo(launch) / launch.working_directory).string();
  }
  Path DiskShownTo(const ReplicaLaunch& launch) const {
    return HasOwnRoot(launch) ? Path("/") : disks_.Of(launch.key);
  }

  /// An Error means that the start failed before caip-launcher got a request.
  Status StartNow(uint64_t number, const std::vector<std::string>& argv, ReplicaLaunch launch,
                  std::vector<ReplicaOutput::Remark> remarks) {
    const std::string lacks = gpu_driver_.GiveTo(launch);
    if (!lacks.empty()) remarks.push_back({engine::Severity::kWarning, lacks});
    RETURN_IF_ERROR(CheckCommand(argv, launch.environment));
    RETURN_IF_ERROR(CheckMounts(launch.mounts));
    LauncherLink::Replica replica;
    replica.directory = DirectoryOf(launch);
    // first: caip-launcher works on it while this thread makes the disk
    if (launch.isolation) RETURN_IF_ERROR(networks_.Link(*link_, launch, replica));
    ASSIGN_OR_RETURN(const HostView host, MakeDiskNow(launch));
    ASSIGN_OR_RETURN(Pipe out, MakePipe());
    ASSIGN_OR_RETURN(Pipe err, MakePipe());
    if (const Watching watching = WatchingOf(launch); watching.any()) {
      if (watching.watcher == &disk_limits_) disk_limits_.Begin(launch.key, DiskFor(launch));
      ASSIGN_OR_RETURN(replica.watch, watched_.Admit(number, watching, launch, out.writing.get(),
                                                     err.writing.get(), SocketFor(launch)));
    }
    if (launch.isolation) RETURN_IF_ERROR(AddMachineNow(launch, host, replica));
    if (options_.limits) {
      ASSIGN_OR_RETURN(replica.machine.cgroups, options_.limits->Make(number, launch.machine));
    }
    output_.Add(number, {launch.key.run, launch.task, launch.log_reader}, std::move(out.reading),
                std::move(err.reading), std::move(remarks));
    replica.number = number;
    replica.argv = argv;
    replica.removal.argv = launch.removal;
    replica.environment = VariablesFor(launch, ReplicaMarker(state_id_, launch.key));
    replica.out = out.writing.get();
    replica.err = err.writing.get();
    return link_->Launch(replica);
  }

  Result<HostView> MakeDiskNow(const ReplicaLaunch& launch) {
    RETURN_IF_ERROR(disks_.Make(launch.key, launch.fresh_disk));
    const Path disk = disks_.Of(launch.key);
    const bool has_own_root = HasOwnRoot(launch);
    if (!has_own_root) RETURN_IF_ERROR(MakeUserDirectories(launch, disk));
    if (!has_own_root) RETURN_IF_ERROR(MakeDirectories(DirectoryOf(launch)));
    ASSIGN_OR_RETURN(HostView host, has_own_root ? files_.Prepare(disk, launch) : HostView());
    const Path shown = DirectoryOf(launch);
    RETURN_IF_ERROR(CopyWorkingFiles(launch, has_own_root ? files_.OnHost(disk, shown) : shown));
    return host;
  }

  /// A scenario's watcher comes before the limits of disks.
  Watching WatchingOf(const ReplicaLaunch& launch) {
    if (watching_.watcher || options_.disk_bytes_max == 0) return watching_;
    const bool is_usual = launch.machine.boot_disk_gb == run::kBootDiskGbDefault;
    if (options_.only_named_disk_sizes && is_usual) return watching_;
    return {{.changed_roots = {DiskShownTo(launch)}}, &disk_limits_};
  }

  DiskLimits::Disk DiskFor(const ReplicaLaunch& launch) const {
    constexpr uint64_t kGibibyte = 1ull << 30;
    const uint64_t of_job = static_cast<uint64_t>(launch.machine.boot_disk_gb) * kGibibyte;
    const uint64_t most = options_.disk_bytes_max;
    return {disks_.Of(launch.key), of_job > 0 ? std::min(of_job, most) : most, DiskShownTo(launch)};
  }

  std::optional<WatchSocket> SocketFor(const ReplicaLaunch& launch) const {
    if (!launch.isolation) return std::nullopt;
    const Path file = disks_.WatchSocketOf(launch.key);
    return WatchSocket{file, HasOwnRoot(launch) ? "/dev/caip-watch" : file.string()};
  }

  Status AddMachineNow(const ReplicaLaunch& launch, const HostView& host,
                       LauncherLink::Replica& replica) {
    MachineConfiguration configuration{disks_.HostsFileOf(launch.key),
                                       disks_.ResolverFileOf(launch.key), HasOwnRoot(launch)};
    const bool has_files_of_host = HasOwnRoot(launch) && !launch.image;
    if (!has_files_of_host) configuration.host_name = disks_.HostNameFileOf(launch.key);
    RETURN_IF_ERROR(WriteConfiguration(launch, configuration));
    replica.machine = MachineFor(launch, configuration);
    if (options_.own_roots) files_.AddTo(replica.machine, disks_.Of(launch.key), host, launch);
    return Ok{};
  }

  /// Called on the link's thread.
  void OnReport(const launcher::Report& report) {
    if (report.kind == launcher::Report::kFrozen) return replicas_.ReportFrozen(report.replica);
    const std::optional<LiveReplica> replica = replicas_.Find(report.replica);
    if (!replica) return;
    if (report.kind == launcher::Report::kStarted) {
      watched_.NoteStarted(report.replica, report.init);
      replicas_.NoteStarted(report.replica, {.key = replica->key,
                                             .task = replica->task,
                                             .init = report.init,
                                             .leader = report.leader,
                                             .is_machine = replica->is_machine,
                                             .directory = replica->directory,
                                             .marker = ReplicaMarker(state_id_, replica->key)});
      if (report.user_error != 0) {
        output_.Write({replica->key.run, replica->task}, {RunsAsRoot(report.user_error)});
      }
      if (replica->listener.on_started) replica->listener.on_started(replica->key);
      return;
    }
    ReplicaExit exit;
    std::vector<ReplicaOutput::Remark> remarks;
    if (report.kind == launcher::Report::kStartFailed) {
      const Error why = StartError(*replica, report);
      exit = ExitWithoutStart(replica->key, why);
      remarks = RemarksWithoutStart(why, true);
    } else {
      exit = ExitOf(replica->key, report);
      const std::vector<std::string> left = LeftRunning(report);
      if (replica->watcher && !left.empty()) replica->watcher->LeftRunning(replica->key, left);
      exit.out_of_memory =
          exit.signal == SIGKILL && !replica->was_killed && oom_kills_.Now() > replica->oom_kills;
      remarks = Remarks(exit, report);
    }
    if (disk_limits_.WasFull(replica->key)) remarks.push_back(DiskWasFull());
    End(report.replica, std::move(exit), std::move(remarks));
  }

  /// Reports the exit when the log has all output of the replica.
  void End(uint64_t number, ReplicaExit exit, std::vector<ReplicaOutput::Remark> remarks) {
    if (!replicas_.BeginEnd(number)) return;
    watched_.Finish(number, [this, number, exit = std::move(exit), remarks = std::move(remarks)] {
      FinishOutput(number, exit, remarks);
    });
  }

  void FinishOutput(uint64_t number, ReplicaExit exit, std::vector<ReplicaOutput::Remark> remarks) {
    output_.Finish(number, std::move(remarks),
                   [this, number, exit = std::move(exit)](std::string traceback) mutable {
                     exit.traceback = std::move(traceback);
                     if (options_.limits) options_.limits->Remove(number);
                     const LiveReplica replica = replicas_.Remove(number);
                     for (const auto& frozen : replica.on_frozen) frozen();
                     if (replica.listener.on_exit) replica.listener.on_exit(exit);
                   });
  }

  /// Called when caip-launcher was killed. Its replicas died with it. Kills the processes that did
  /// not.
  void EndAll() {
    const auto killed = KillReplicas(state_id_);
    for (const auto& [number, key] : replicas_.All()) {
      ReplicaExit exit;
      exit.key = key;
      exit.signal = SIGKILL;
      End(number, std::move(exit), {});
    }
  }

  const ProcessLauncherOptions options_;
  const std::string state_id_;
  BootDisks disks_;
  const MachineFiles files_;
  LiveReplicas replicas_;
  ReplicaOutput output_;
  DiskLimits disk_limits_;  // before watched_, which calls it
  WatchedReplicas watched_;
  RunNetworks networks_;
  Watching watching_;         // used by the worker thread
  HostGpuDriver gpu_driver_;  // used by the worker thread
  OomCount oom_kills_;        // the worker thread calls Recent
  Fd lock_;
  std::unique_ptr<LauncherLink> link_;  // used by Open, then by the worker thread
  TaskQueue tasks_;                     // owns the worker thread
};

}  // namespace

Result<std::unique_ptr<ProcessLauncher>> ProcessLauncher::Start(ProcessLauncherOptions options,
                                                                const Clock& clock,
                                                                engine::LogSink& sink) {
  auto processes = std::make_unique<Processes>(std::move(options), clock, sink);
  RETURN_IF_ERROR(processes->Open());
  return std::unique_ptr<ProcessLauncher>(std::move(processes));
}

}  // namespace caip::host
