#pragma once
// The interfaces through which the engine uses the world. Adapters live in src/host and fakes,
// working fakes in tests. The engine's thread calls them and must not block: a slow call answers
// later, from any thread, through its callback.

#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "run/job.h"
#include "run/log_form.h"
#include "run/program.h"
#include "run/replica.h"
#include "run/severity.h"

namespace caip::engine {

using run::Environment;
using run::RunKey;
using run::Severity;

/// One start of one replica. `boot` counts the starts of this replica in this job from 1, so that a
/// late exit of an earlier start can be recognized.
struct ReplicaKey {
  RunKey run;
  run::ReplicaId replica;
  int boot = 1;
  auto operator<=>(const ReplicaKey&) const = default;
};

/// Another replica of the run: its address and the name of its machine.
struct ReplicaPeer {
  run::ReplicaId replica;
  std::string host_name;
  std::string host;  // of its address: "10.128.0.2", "127.1.2.3", "localhost"
};

/// The machine that the service would have rented for a replica, for the metadata server.
struct ReplicaMachine {
  std::string host_name;     // "training-worker-e118e0f997-1", the same after a restart
  std::string region;        // "us-central1"
  std::string machine_type;  // "n1-standard-4"
  int boot_disk_gb = 0;
  std::string image_uri;                     // "" where the replica runs no image
  std::string service_account;               // e-mail; "" the default one
  std::vector<std::string> peer_hosts = {};  // all addresses of the run, its own too
  std::vector<ReplicaPeer> peers = {};       // all replicas of the run, in the plan's order
  int vcpus = 0;                             // 0: unknown
  int64_t memory_bytes = 0;                  // 0: unknown
};

/// One reported value of a trial's metric (docs/service/hyperparameter-tuning.md, section 5).
struct Report {
  int64_t step = 0;
  double value = 0;      // may be NaN or infinite
  double time = 0;       // seconds since 1970, by the trainer's clock
  bool summary = false;  // from an event file, else from the metric file
};

/// Identifies a report that is found again: summary, step, time and value. The value is compared by
/// its bits, for NaN. Trainers without a clock report several values for one step.
using ReportName = std::tuple<bool, int64_t, double, uint64_t>;

inline ReportName NameOf(const Report& report) {
  return {report.summary, report.step, report.time, std::bit_cast<uint64_t>(report.value)};
}

/// Where a trial leaves its reports; only the file of its lead counts.
struct MetricSource {
  std::string tag;               // of these values alone
  std::string file;              // JSON lines, by the path that the replica sees
  std::string output_directory;  // a gs:// URI with event files below; "" none
};

/// A network that only the replicas of one run share. They reach each other, and the emulator's
/// listeners at its endpoints.
struct RunNetwork {
  struct Endpoint {
    std::string address;  // IPv4
    uint16_t port = 0;
    std::string tag;  // identifies the listener
  };
  std::vector<Endpoint> endpoints;
};

/// What a replica finds on a machine of its own. Its host name is the name of its machine.
struct ReplicaIsolation {
  /// A file of the host that a replica sees at the path of another one.
  struct Cover {
    std::string file;
    std::string covered;  // exists
  };
  std::shared_ptr<const RunNetwork> network;  // the same for all of a run
  std::string address;                        // IPv4, in the run's network
  std::string hosts;                          // the text of its hosts file
  std::vector<Cover> covers = {};
};

/// A container image that is unpacked on this host.
struct PreparedImage {
  std::vector<std::string> layers;             // directories of this host, the lowest first
  std::vector<std::string> entrypoint = {};    // ENTRYPOINT
  std::vector<std::string> default_args = {};  // CMD
  Environment environment = {};                // ENV, with PATH and HOME
  std::string working_directory = "/";         // WORKDIR
  uint32_t user = 0;                           // USER
  uint32_t group = 0;
  std::vector<uint32_t> groups = {};      // the user's other groups
  std::shared_ptr<const void> hold = {};  // the layers stay on this host while it lives
};

/// A file in /dev of a machine, or one of a device's driver (then read-only).
struct DeviceNode {
  std::string file;   // of this host
  std::string shown;  // its path in the machine
  bool is_read_only = false;
  bool operator==(const DeviceNode&) const = default;
};

/// A directory of this host in a machine, at a path of its own.
struct Volume {
  enum class Use {
    kShared,       // it outlives the machines of a run, and all of them write to it
    kReadOnly,     //
    kCopyOnWrite,  // what a machine writes belongs to its boot disk
  };
  std::string directory;  // of this host
  std::string shown;      // its path in the machine: absolute, normal
  Use use = Use::kShared;
  bool operator==(const Volume&) const = default;
};

/// The accelerators that a replica may use.
struct LentDevices {
  Environment environment;  // names them, or hides all others
  std::vector<DeviceNode> nodes = {};
};

/// Everything needed to start a replica.
struct ReplicaLaunch {
  ReplicaKey key;
  std::string task;  // the replica's name in the log
  ReplicaMachine machine;
  run::Program program;                       // as Launcher::Resolve has answered
  std::string interpreter;                    // path of python, for a PythonModule
  std::vector<std::string> arguments;         // after those of the program
  Environment environment;                    // whole: nothing is inherited
  std::vector<std::string> user_directories;  // made below the boot disk before the start
  /// Below the boot disk, or absolute, as the replica sees it. Made before the start.
  std::string working_directory;
  std::vector<std::string> working_files = {};  // of this host, copied there onto a fresh disk
  std::vector<std::string> needs = {};          // of this host, beside what the command line names
  bool fresh_disk = true;  // false: the boot disk of the replica's last boot is kept (`crash`)
  std::optional<MetricSource> metrics = {};  // of the lead of a trial
  std::optional<ReplicaIsolation> isolation = {};
  std::vector<DeviceNode> device_nodes = {};  // beside those that every machine has
  std::vector<Volume> volumes = {};           // a replica that is a process sees them in place
  std::string buckets_at = {};  // where it sees the buckets as directories: "/gcs"; "": nowhere
  std::vector<run::ShownDirectory> mounts = {};  // seen as the buckets are
  run::LogReader log_reader = run::LogReader::kLauncher;
  bool sees_home = false;  // the machine's /root is not empty but the host's
  std::shared_ptr<const PreparedImage> image = {};  // the machine's root; nullptr: the host's files
  std::vector<std::string> removal = {};  // a command that ends what it has started in a daemon

  /// The command line. argv[0] is a path or is looked up in PATH of `environment`.
  std::vector<std::string> Argv() const {
    return run::CommandLine(program, interpreter, arguments);
  }
};

/// How a replica ended. Exactly one for each Launch, after all its output was handed to the log.
struct ReplicaExit {
  ReplicaKey key;
  int exit_code = 0;  // of the process; meaningless when `signal` is set
  int signal = 0;     // the signal that ended it, else 0
  bool out_of_memory = false;
  std::string traceback;        // the last Python traceback it printed, "" if none
  std::string start_error;      // why it could not be started, "" if it was
  bool start_may_pass = false;  // that may pass, so the replica counts as killed (`signal`)
  bool is_removed = false;      // the launch's `removal` has succeeded
};

/// Starts replicas and reports how they end. What only some launchers can do is a separate
/// interface: LocalDisks below, and those of host/abilities.h.
class Launcher {
 public:
  struct Listener {
    std::function<void(const ReplicaKey&)> on_started;
    std::function<void(const ReplicaExit&)> on_exit;
    /// Reports as they are found, in their order and none twice for one start; all of them before
    /// on_exit. Called only for launches with `metrics`.
    std::function<void(const ReplicaKey&, std::vector<Report>)> on_reports = {};
  };
  virtual ~Launcher() = default;
  /// What the launcher runs for `program`, or why it cannot. The engine asks when a job is
  /// submitted and keeps the answer with the job, so that an emulator with other settings runs the
  /// same later. Any thread.
  virtual Result<run::Program> Resolve(const run::Program& program) const = 0;
  /// Before replicas of the run are launched, with their addresses, or Discard ends the run.
  virtual void Expect(const RunKey&, const std::vector<std::string>&) {}
  virtual void Launch(ReplicaLaunch launch, Listener listener) = 0;
  /// Sends `signal` to the replica's main process group. Does nothing when the replica is gone.
  virtual void Signal(const ReplicaKey& key, int signal) = 0;
  /// Ends everything that the replica started, at once (SIGKILL); on_exit follows.
  virtual void Kill(const ReplicaKey& key) = 0;
  /// Deletes the boot disks of a run that has ended.
  virtual void Discard(const RunKey& run) = 0;
};

/// The ability of a launcher to keep boot disks in directories of this host.
class LocalDisks {
 public:
  virtual ~LocalDisks() = default;
  /// The directory that is the replica's boot disk, as the replica sees it: a pure function of the
  /// key. "": the replica's root.
  virtual std::string BootDisk(const ReplicaKey& key) const = 0;
  /// The file of this host that the replica has on its boot disk at `path`.
  virtual std::string OnHost(const ReplicaKey&, const std::string& path) const { return path; }
};

/// What a run needs before its replicas can start: packages to install, images to unpack.
struct PrepareRequest {
  RunKey run;
  int attempt = 1;  // of the job; echoed
  std::vector<std::string> package_uris;
  std::string software_version;
  std::string python_version;
  bool is_python_default = false;      // nobody asked for this version
  std::string python_module;           // "": there are no packages
  std::vector<std::string> log_tasks;  // task names under which install lines are logged
  /// Images that bring their own program: their URIs, and where Launcher::Resolve has found them.
  std::map<std::string, std::string> images = {};
};

/// An environment to run Python in and the images of replicas, or why one of them is missing.
struct Prepared {
  RunKey run;
  int attempt = 1;
  std::string interpreter;  // absolute path of python
  Environment environment;  // further variables (VIRTUAL_ENV, ...), may be empty
  std::string path_prefix;  // directory to put at the head of PATH, "" none
  struct Failure {
    int exit_code = 1;      // as the replica's launcher would exit
    std::string traceback;  // the tool's own last words, for errorMessage
    std::string refusal;  // set instead when the job must fail before any replica: its errorMessage
  };
  std::optional<Failure> failure;
  std::vector<std::string> packages = {};  // files of this host, as the service leaves them
  std::vector<std::string> needs = {};     // of this host, what programs of the environment read
  std::map<std::string, std::shared_ptr<const PreparedImage>> images = {};  // by URI
};

class Packager {
 public:
  virtual ~Packager() = default;
  /// Installs and unpacks (or finds in the caches) and answers once. Writes its own log lines.
  virtual void Prepare(PrepareRequest request, std::function<void(Prepared)> done) = 0;
  /// Stops what Prepare started; `done` is not called any more. Blocks at most briefly.
  virtual void Abandon(const RunKey& run) = 0;
};

/// A line for the job's log, before it gets its insertId.
struct LogLine {
  RunKey run;
  std::string task;  // run::kServiceTask, or the replica's name in the log
  Severity severity = Severity::kInfo;
  Instant time;
  std::string message;
  std::string pathname = {};  // "" unknown
  int line_number = 0;        // 0 unknown
  std::string thread = {};    // "" unknown
  run::Payload payload = run::Payload::kRecord;
};

class LogSink {
 public:
  virtual ~LogSink() = default;
  /// Any thread. Order within a task is kept. The sink may drop nothing.
  virtual void Write(std::vector<LogLine> lines) = 0;
  /// Returns when all that was written is durable and visible to readers. An Error says why that
  /// is not possible now; the sink keeps the lines and tries again.
  virtual Status Flush() = 0;
  /// True: all that was written is durable. Otherwise calls `stored` once, on any thread, as soon
  /// as it is; not if the sink ends before. Does not block.
  virtual bool IsStored(std::function<void()> stored) = 0;
};

struct DeviceRequest {
  run::ReplicaId replica;
  std::string type;  // "NVIDIA_TESLA_T4", "TPU_V2", ...
  int64_t count = 0;
};

/// The answer to a request for devices.
struct DeviceAnswer {
  enum class Kind { kGranted, kWait, kNever } kind = Kind::kGranted;
  std::vector<std::pair<run::ReplicaId, LentDevices>> replicas;  // every replica of the run
  std::vector<std::string> warnings;  // for the job's log, e.g. "asked 2 T4, runs on the CPU"
  std::string refusal;                // kNever: why, for errorMessage
};

/// Lends GPUs and TPU devices to runs, all or none. Engine thread only.
class DeviceBinder {
 public:
  virtual ~DeviceBinder() = default;
  /// `replicas` are all of the run, so that those without devices get an environment that hides the
  /// devices.
  virtual DeviceAnswer Bind(const RunKey& run, const std::vector<run::ReplicaId>& replicas,
                            const std::vector<DeviceRequest>& requests) = 0;
  virtual void Release(const RunKey& run) = 0;
};

/// Lends host:port addresses to runs: no two live runs on this host share one. Engine thread only.
class AddressLender {
 public:
  virtual ~AddressLender() = default;
  /// One address for each replica of the plan, in its order. `kept` (from the store, after a
  /// restart of the emulator) is used again if it is free.
  virtual Result<std::vector<std::string>> Lend(const RunKey& run, size_t count,
                                                const std::vector<std::string>& kept) = 0;
  virtual void Release(const RunKey& run) = 0;
};

/// A job as the store keeps it. `note` is the engine's own note of how far the run is.
struct JobRecord {
  run::Job job;
  Json note;
};

/// A trial of a tuning job as the store keeps it. Its document is empty: it runs its job's.
/// `reports` are in the order in which they came.
struct TrialRecord {
  run::Job job;
  Json note;
  std::vector<Report> reports = {};
};

struct JobQuery {
  std::string project;         // "": all projects; not with the first API
  int limit = 0;               // 0: all
  std::string before_id = {};  // continue after this id in the order of the list; "" at the start
  /// When that job was created: if it has been removed since, the list continues after this time.
  std::optional<Instant> before_time = {};
  std::string api = {};       // ApiPort::name
  std::string location = {};  // of the jobs
};

/// Whether a new job may have the id of a job that was removed. On the service it may not.
enum class RemovedId { kFree, kTaken };

/// Jobs and their trials, durably. Reads from any thread, writes from the engine's.
class JobStore {
 public:
  virtual ~JobStore() = default;
  /// kAlreadyExists when the project has a job of that id, or when the id stayed taken. Durable
  /// when it returns.
  virtual Status Create(const JobRecord& record) = 0;
  virtual Status Save(const JobRecord& record) = 0;
  /// Removes an ended job and its trials, durably when it returns. kNotFound: it does not exist.
  virtual Status Remove(const std::string& project, const std::string& job_id, RemovedId id) = 0;
  virtual Result<JobRecord> Get(const std::string& project, const std::string& job_id) const = 0;
  /// The job of another API than the first one that has this id, in whatever project.
  virtual Result<JobRecord> Find(const std::string& job_id) const = 0;
  /// Newest createTime first; equal times by the order of creation, newest first.
  virtual Result<std::vector<JobRecord>> List(const JobQuery& query) const = 0;
  /// All jobs of all projects that are not in a terminal state, oldest first.
  virtual Result<std::vector<JobRecord>> Unfinished() const = 0;
  /// The number of jobs that were ever created, also those that were removed.
  virtual Result<int64_t> CountCreated() const = 0;
  /// The createTime of the newest job of all projects; nullopt: there is no job.
  virtual Result<std::optional<Instant>> NewestCreateTime() const = 0;

  /// Makes or replaces the trial; its reports are left as they are.
  virtual Status SaveTrial(const TrialRecord& record) = 0;
  /// Adds reports after those that the trial has.
  virtual Status AddReports(const RunKey& trial, const std::vector<Report>& reports) = 0;
  /// All trials of a job, by number; none where there is no such job.
  virtual Result<std::vector<TrialRecord>> Trials(const std::string& project,
                                                  const std::string& job_id) const = 0;
};

/// Runs tasks that take long and touch only what they were given: choosing the values of trials.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Runs `work` once, on another thread; perhaps never, if the emulator ends first.
  virtual void Do(std::function<void()> work) = 0;
};

}  // namespace caip::engine
