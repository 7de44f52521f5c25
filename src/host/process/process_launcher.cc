#include "host/process/process_launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "host/errors.h"
#include "host/machine/boot_disks.h"
#include "host/machine/socket_owner.h"
#include "host/process/launcher_link.h"
#include "host/process/note_queue.h"
#include "host/process/oom_count.h"
#include "host/process/orphans.h"
#include "host/process/replica_command.h"
#include "host/process/replica_end.h"
#include "host/process/replica_output.h"
#include "host/watch/kernel_calls.h"
#include "host/watch/watched_replicas.h"

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
  if (::pipe2(ends, O_CLOEXEC) != 0) return SystemError("cannot make a pipe", errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

/// The notes, the thread that works through them, and the replicas that live.
class ProcessLauncher::Core {
 public:
  Result<run::Program> Resolve(const run::Program& program) const {
    return ResolveImage(options_.images, program);
  }

  Core(ProcessLauncherOptions options, const Clock& clock, engine::LogSink& sink)
      : options_(std::move(options)),
        state_id_(StateId(options_.state_directory)),
        disks_(options_.state_directory),
        output_(clock, sink),
        oom_kills_(options_.oom_kills) {
    if (options_.watcher) watched_.emplace(*options_.watcher, output_, options_.interposition);
  }

  ~Core() {
    notes_.Stop();
    link_.reset();  // kills; returns when all are dead
    watched_.reset();
  }

  /// Blocks; before any note is left.
  Status Start() {
    RETURN_IF_ERROR(EnsureLink());
    if (disks_.AnyLeft()) {  // no replica lives without its disk; to look for one takes a while
      const auto killed = KillReplicas(state_id_);
      if (!killed.ok()) return killed.error();
    }
    disks_.DiscardAll();
    notes_.Start();
    return Ok{};
  }

  BootDisks& disks() { return disks_; }
  NoteQueue& notes() { return notes_; }
  RunNetworks& networks() { return networks_; }
  const std::string& state_id() const { return state_id_; }

  void Launch(ReplicaLaunch launch, Listener listener) {
    const ReplicaKey key = launch.key;
    const Status linked = EnsureLink();  // first: the end of an old link ends all that are entered
    const uint64_t number = Enter(launch, std::move(listener));
    const Status started = linked.ok() ? Begin(number, std::move(launch)) : linked;
    if (started.ok()) return;
    ReplicaExit exit;
    exit.key = key;
    exit.start_error = started.error().message;
    End(number, std::move(exit), {});
  }

  void Signal(const ReplicaKey& key, int signal) {
    if (const uint64_t number = NumberOf(key, signal == SIGKILL)) link_->Signal(number, signal);
  }

  void Kill(const ReplicaKey& key) {
    if (const uint64_t number = NumberOf(key, true)) link_->Kill(number);
  }

  void Freeze(const ReplicaKey& key, std::function<void()> frozen) {
    const uint64_t number = NumberOf(key, false);
    if (!number || !AwaitFrozen(number, frozen)) return frozen();
    link_->Freeze(number);
  }

  void Thaw(const ReplicaKey& key) {
    if (const uint64_t number = NumberOf(key, false)) link_->Thaw(number);
  }

  void Discard(const engine::RunKey& run) {
    networks_.Close(link_.get(), run);
    disks_.Discard(run);
  }

 private:
  struct Replica {
    ReplicaKey key;
    Listener listener;
    std::string program;
    std::string directory;
    std::deque<std::function<void()>> on_frozen;  // one for each freeze that is under way
    int64_t oom_kills = 0;                        // at its start
    bool was_killed = false;                      // by us
    bool is_ending = false;
  };

  Status EnsureLink() {
    if (link_ && link_->IsAlive()) return Ok{};
    link_.reset();
    networks_.Forget();
    LauncherLink::Listener listener;
    listener.report = [this](const launcher::Report& report) { Hear(report); };
    listener.watched = [this](uint64_t number, Fd calls, pid_t init) {
      if (watched_) watched_->Listen(number, KernelCalls(std::move(calls)), init);
    };
    listener.door = [this](uint64_t network, uint32_t door, Fd listening) {
      networks_.DoorOpened(network, door, std::move(listening));
    };
    listener.gone = [this] { EndAll(); };
    const Path program = options_.program.empty() ? LauncherBesideUs() : options_.program;
    ASSIGN_OR_RETURN(link_, LauncherLink::Start(program, std::move(listener)));
    return Ok{};
  }

  uint64_t Enter(const ReplicaLaunch& launch, Listener listener) {
    const int64_t oom_kills = oom_kills_.Lately();
    const std::lock_guard lock(mutex_);
    Replica& replica = replicas_[++last_number_];
    replica.key = launch.key;
    replica.listener = std::move(listener);
    const std::vector<std::string> argv = launch.Argv();
    replica.program = argv.empty() ? "" : argv.front();
    replica.directory = DirectoryOf(launch);
    replica.oom_kills = oom_kills;
    numbers_[launch.key] = last_number_;
    return last_number_;
  }

  std::string DirectoryOf(const ReplicaLaunch& launch) const {
    return (disks_.Of(launch.key) / launch.working_directory).string();
  }

  /// An Error is a start that failed before the launcher was asked.
  Status Begin(uint64_t number, ReplicaLaunch launch) {
    std::vector<std::string> argv = launch.Argv();
    RETURN_IF_ERROR(CheckTexts(launch, argv));
    RETURN_IF_ERROR(disks_.Make(launch.key, launch.fresh_disk));
    for (const std::string& directory : launch.user_directories) {
      RETURN_IF_ERROR(MakeDirectories(disks_.Of(launch.key) / directory));
    }
    LauncherLink::Replica replica;
    replica.directory = DirectoryOf(launch);
    RETURN_IF_ERROR(MakeDirectories(replica.directory));
    RETURN_IF_ERROR(Isolate(launch, replica));
    ASSIGN_OR_RETURN(Pipe out, MakePipe());
    ASSIGN_OR_RETURN(Pipe err, MakePipe());
    RETURN_IF_ERROR(Watch(number, launch, out.writing.get(), err.writing.get(), replica.watch));
    output_.Add(number, launch.key.run, launch.task, std::move(out.reading),
                std::move(err.reading));
    replica.number = number;
    replica.argv = std::move(argv);
    replica.environment = VariableWords(launch.environment, ReplicaMarker(state_id_, launch.key));
    replica.out = out.writing.get();
    replica.err = err.writing.get();
    return link_->Launch(replica);
  }

  Status Isolate(const ReplicaLaunch& launch, LauncherLink::Replica& replica) {
    if (!launch.isolation) return Ok{};
    if (launch.watch.any() && options_.interposition == Interposition::Kind::kPreload) {
      return errors::NoWatchInNamespaces();  // its sockets are the host's network's
    }
    const Path hosts = disks_.HostsFileOf(launch.key);
    RETURN_IF_ERROR(MakeDirectories(hosts.parent_path()));
    RETURN_IF_ERROR(WriteFile(hosts, launch.isolation->hosts));
    replica.surroundings = {hosts.string(), launch.machine.host_name};
    ASSIGN_OR_RETURN(replica.network,
                     networks_.Open(*link_, launch.key.run, launch.isolation->network));
    return Ok{};
  }

  Status Watch(uint64_t number, ReplicaLaunch& launch, int out, int err, uint32_t& watch) {
    if (!launch.watch.any()) return Ok{};
    if (!watched_) {
      return Error{Code::kInternal, "cannot watch the replica: nobody was given to watch it"};
    }
    ASSIGN_OR_RETURN(watch, watched_->Admit(number, launch, out, err));
    return Ok{};
  }

  /// 0 when the replica has ended. `to_kill` notes that its end will be our doing.
  uint64_t NumberOf(const ReplicaKey& key, bool to_kill) {
    const std::lock_guard lock(mutex_);
    const auto found = numbers_.find(key);
    if (found == numbers_.end()) return 0;
    Replica& replica = replicas_.at(found->second);
    if (replica.is_ending) return 0;
    replica.was_killed |= to_kill;
    return found->second;
  }

  /// False when it has ended meanwhile.
  bool AwaitFrozen(uint64_t number, std::function<void()> frozen) {
    const std::lock_guard lock(mutex_);
    const auto found = replicas_.find(number);
    if (found == replicas_.end()) return false;
    found->second.on_frozen.push_back(std::move(frozen));
    return true;
  }

  void TellFrozen(uint64_t number) {
    std::function<void()> frozen;
    {
      const std::lock_guard lock(mutex_);
      const auto found = replicas_.find(number);
      if (found == replicas_.end() || found->second.on_frozen.empty()) return;
      frozen = std::move(found->second.on_frozen.front());
      found->second.on_frozen.pop_front();
    }
    frozen();
  }

  /// The link's thread.
  void Hear(const launcher::Report& report) {
    if (report.kind == launcher::Report::kFrozen) return TellFrozen(report.replica);
    Replica replica;
    {
      const std::lock_guard lock(mutex_);
      const auto found = replicas_.find(report.replica);
      if (found == replicas_.end() || found->second.is_ending) return;
      replica = found->second;
    }
    if (report.kind == launcher::Report::kStarted) {
      if (replica.listener.on_started) replica.listener.on_started(replica.key);
      return;
    }
    ReplicaExit exit;
    if (report.kind == launcher::Report::kStartFailed) {
      exit.key = replica.key;
      exit.start_error = StartError(replica.program, replica.directory, report);
    } else {
      exit = ExitOf(replica.key, report);
      const std::vector<std::string> left = LeftRunning(report);
      if (options_.watcher && !left.empty()) options_.watcher->LeftRunning(replica.key, left);
      exit.out_of_memory =
          exit.signal == SIGKILL && !replica.was_killed && oom_kills_.Now() > replica.oom_kills;
    }
    std::vector<ReplicaOutput::Remark> remarks = Remarks(exit, report);
    End(report.replica, std::move(exit), std::move(remarks));
  }

  /// Tells the engine once the log has all of it.
  void End(uint64_t number, ReplicaExit exit, std::vector<ReplicaOutput::Remark> remarks) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = replicas_.find(number);
      if (found == replicas_.end() || std::exchange(found->second.is_ending, true)) return;
    }
    if (!watched_) return FinishOutput(number, std::move(exit), std::move(remarks));
    watched_->Finish(number, [this, number, exit = std::move(exit), remarks = std::move(remarks)] {
      FinishOutput(number, exit, remarks);
    });
  }

  void FinishOutput(uint64_t number, ReplicaExit exit, std::vector<ReplicaOutput::Remark> remarks) {
    output_.Finish(number, std::move(remarks),
                   [this, number, exit = std::move(exit)](std::string traceback) mutable {
                     exit.traceback = std::move(traceback);
                     const Replica replica = Forget(number);
                     for (const auto& frozen : replica.on_frozen) frozen();
                     if (replica.listener.on_exit) replica.listener.on_exit(exit);
                   });
  }

  Replica Forget(uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = replicas_.find(number);
    Replica replica = std::move(found->second);
    replicas_.erase(found);
    const auto named = numbers_.find(replica.key);
    if (named != numbers_.end() && named->second == number) numbers_.erase(named);
    return replica;
  }

  /// The launcher has been killed; its replicas died with it, those that it could not see to now.
  void EndAll() {
    const auto killed = KillReplicas(state_id_);
    std::vector<std::pair<uint64_t, ReplicaKey>> ended;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [number, replica] : replicas_) ended.emplace_back(number, replica.key);
    }
    for (const auto& [number, key] : ended) {
      ReplicaExit exit;
      exit.key = key;
      exit.signal = SIGKILL;
      End(number, std::move(exit), {});
    }
  }

  const ProcessLauncherOptions options_;
  const std::string state_id_;
  BootDisks disks_;
  std::mutex mutex_;
  std::map<uint64_t, Replica> replicas_;    // guarded by mutex_
  std::map<ReplicaKey, uint64_t> numbers_;  // guarded by mutex_
  uint64_t last_number_ = 0;                // guarded by mutex_
  ReplicaOutput output_;
  std::optional<WatchedReplicas> watched_;
  RunNetworks networks_;
  OomCount oom_kills_;                  // Lately: the worker's
  std::unique_ptr<LauncherLink> link_;  // Start, then the worker
  NoteQueue notes_;                     // its thread is "the worker"
};

Result<std::unique_ptr<ProcessLauncher>> ProcessLauncher::Start(ProcessLauncherOptions options,
                                                                const Clock& clock,
                                                                engine::LogSink& sink) {
  auto core = std::make_unique<Core>(std::move(options), clock, sink);
  RETURN_IF_ERROR(core->Start());
  return std::unique_ptr<ProcessLauncher>(new ProcessLauncher(std::move(core)));
}

ProcessLauncher::ProcessLauncher(std::unique_ptr<Core> core) : core_(std::move(core)) {}
ProcessLauncher::~ProcessLauncher() = default;

Result<run::Program> ProcessLauncher::Resolve(const run::Program& program) const {
  return core_->Resolve(program);
}

std::string ProcessLauncher::BootDisk(const ReplicaKey& key) const {
  return core_->disks().Of(key).string();
}

void ProcessLauncher::Launch(ReplicaLaunch launch, Listener listener) {
  core_->notes().Leave(
      [core = core_.get(), launch = std::move(launch), listener = std::move(listener)]() mutable {
        core->Launch(std::move(launch), std::move(listener));
      });
}

void ProcessLauncher::Signal(const ReplicaKey& key, int signal) {
  core_->notes().Leave([core = core_.get(), key, signal] { core->Signal(key, signal); });
}

void ProcessLauncher::Kill(const ReplicaKey& key) {
  core_->notes().Leave([core = core_.get(), key] { core->Kill(key); });
}

void ProcessLauncher::Freeze(const ReplicaKey& key, std::function<void()> frozen) {
  core_->notes().Leave([core = core_.get(), key, frozen = std::move(frozen)]() mutable {
    core->Freeze(key, std::move(frozen));
  });
}

void ProcessLauncher::Thaw(const ReplicaKey& key) {
  core_->notes().Leave([core = core_.get(), key] { core->Thaw(key); });
}

void ProcessLauncher::Discard(const engine::RunKey& run) {
  core_->notes().Leave([core = core_.get(), run] { core->Discard(run); });
}

void ProcessLauncher::ServeDoors(Doorkeeper keeper) {
  core_->networks().SetDoorkeeper(std::move(keeper));
}

std::string ProcessLauncher::TaskOfClient(const engine::RunKey& run,
                                          const std::string& client) const {
  return host::TaskOfClient(core_->state_id(), run, client);
}

}  // namespace caip::host
