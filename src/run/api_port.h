#pragma once
// The port through which a job API attaches to the engine. An API turns its documents into run
// specifications. While a job runs, the API writes its log lines and renders the environments of
// its replicas. The engine and the APIs know nothing else of each other.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "run/job.h"
#include "run/log_form.h"
#include "run/program.h"
#include "run/run_spec.h"
#include "run/texts.h"

namespace caip::run {

/// Names that a run keeps as long as it lives.
struct RunNames {
  std::string cluster_id;      // in host names
  std::string tenant_project;  // where the service would have rented the machines
};

/// What every replica of this emulator is given.
struct HostFacts {
  std::string endpoint;  // "http://127.0.0.1:8080", "" none
  int cpus = 1;
};

/// What the environment of one start of a replica depends on, beside its run.
struct ReplicaFacts {
  ReplicaId replica;
  std::string boot_disk;  // directory
  std::string path;       // PATH
  /// The replica runs on the files of an image, which brings the variables of its system.
  bool has_own_image = false;
};

/// All that the environment of a run's replicas depends on, once addresses are lent.
struct RunFacts {
  RunKey key;
  RunNames names;
  std::vector<PlannedReplica> plan;
  tuning::ValueTexts values;     // of a trial
  std::string output_directory;  // what replicas see instead of the job's; "" the job's
  HostFacts host;
};

/// What a replica is started with, beside its program and its machine. The same replica gets the
/// same bytes at every start.
struct ReplicaSetup {
  std::vector<std::string> arguments;    // after those of its program
  Environment environment;               // whole; names are unique
  std::vector<std::string> directories;  // made below the boot disk
  std::string working_directory;         // below the boot disk
  LogReader log_reader = LogReader::kLauncher;
  std::string buckets_at = {};  // where it sees the buckets as directories; "" nowhere
  std::vector<ShownDirectory> mounts = {};
};

/// Events of a job for which an API may log lines.
enum class LoggedJobEvent {
  kAccepted,
  kPreparing,
  kMachinesReady,
  kRunning,
  kTearingDown,
  kTornDown,
  kSucceeded,
  kFailed,
  kCancelled,
};

/// Events of a replica, likewise.
enum class LoggedReplicaEvent {
  kBeforePackages,  // before packages are installed, or would be
  kBeforeStart,
  kTerminated,  // it is sent SIGTERM
  kSucceeded,
  kFailed,
};

/// A run's environment, made once for all its replicas. Engine thread only.
class ApiRun {
 public:
  virtual ~ApiRun() = default;
  virtual ReplicaSetup SetUp(const ReplicaFacts& facts) const = 0;
  /// The lines that the log reports about this event of the replica; often none. `failure` has the
  /// replica, and for kFailed how it failed.
  virtual std::vector<std::string> Lines(LoggedReplicaEvent, const ReplicaFailure&) const {
    return {};
  }
  /// Where the lead of a trial writes its metric: a file below the boot disk, "" none.
  virtual std::string MetricFile() const { return ""; }
  /// The directory in Cloud Storage that is the run's own; "" none.
  virtual std::string OutputDirectory() const { return ""; }
};

/// One job, read from its document. Immutable; any thread.
class ApiJob {
 public:
  virtual ~ApiJob() = default;
  const RunSpec& spec() const { return spec_; }

  virtual std::unique_ptr<const ApiRun> Begin(RunFacts facts) const = 0;
  /// The document with the results of the trials so far.
  virtual Document WithTrials(const Document& document, const TrialsSummary&) const {
    return document;
  }

  // Names.
  /// "worker-replica-0": in the log.
  virtual std::string TaskName(const ReplicaId& replica) const { return Name(replica); }
  /// "worker 0": in sentences.
  virtual std::string ReplicaName(const ReplicaId& replica) const;
  /// The name of the replica's machine, the same after every restart.
  virtual std::string HostName(const ReplicaId& replica, const RunNames& names) const;

  // Texts. The defaults are those of texts.h.
  virtual std::vector<std::string> Lines(LoggedJobEvent, const RunKey&) const { return {}; }
  /// The message of a failed job as the log reports it.
  virtual std::vector<std::string> ErrorLines(const std::string& message) const {
    return {message};
  }
  virtual std::string ReplicaFailed(const ReplicaFailure& failure, const RunKey& key) const;
  /// `reason` is the system's: "No such file or directory".
  virtual std::string CouldNotStart(const ReplicaId& replica, std::string_view reason,
                                    const RunKey& key) const;
  virtual std::string OutOfStock() const;
  virtual std::string WaitedTooLong() const;
  virtual std::string RanTooLong() const;
  virtual std::string TrialsFailed(const StudyProgress& progress, std::string_view trial,
                                   std::string_view last) const;

 protected:
  explicit ApiJob(RunSpec spec) : spec_(std::move(spec)) {}

 private:
  RunSpec spec_;
};

/// A document that an API has accepted.
struct AcceptedJob {
  RunKey key;
  Document document;
  std::shared_ptr<const ApiJob> job;
  std::string api = {};  // ApiPort::name; set by the engine
};

/// Where a job is created, and under which id, for an API whose service names the jobs.
struct JobPlace {
  std::string location = {};
  std::string new_id = {};
  std::string collection = {};  // the kind of job, for a service with several kinds
  std::string api = {};         // ApiPort::name
};

/// A request to create a job.
struct JobRequest {
  std::string project;
  std::string location;
  const Json& body;
  /// Packages that are still to be uploaded: they are not looked for.
  std::vector<std::string> arriving;
  /// Finds an earlier job of the project; kNotFound where there is none.
  std::function<Result<Job>(const std::string& job_id)> find;
  std::string new_id = {};      // JobPlace::new_id
  std::string collection = {};  // JobPlace::collection
};

/// One job API. Any thread.
class ApiPort {
 public:
  virtual ~ApiPort() = default;
  /// The mark of its jobs in stores, such as "vertex". Jobs without a mark are those of the first
  /// API of an engine.
  virtual std::string_view name() const { return ""; }
  /// Applies the rules that need only the document. Reports all violations at once.
  virtual Result<AcceptedJob> Accept(const JobRequest& request) const = 0;
  /// Looks for what an accepted job needs: buckets, packages, the job that it continues. May block.
  /// The error also names `refused`, the programs that nothing here can run.
  virtual Status Probe(const AcceptedJob& job, const JobRequest& request,
                       std::vector<FieldViolation> refused) const = 0;
  /// Reads a document that was accepted before.
  virtual Result<std::shared_ptr<const ApiJob>> Open(const Document& document) const = 0;
  virtual RunNames MakeNames(Random& random) const = 0;

  virtual Error JobNotFound() const = 0;
  virtual Error JobAlreadyExists() const = 0;
};

/// The APIs of one engine. Their names differ, and so do the ids of their jobs. They outlive it.
struct ApiPorts {
  const ApiPort* first = nullptr;
  std::vector<const ApiPort*> others = {};
  /// nullptr: no API has the name.
  const ApiPort* Find(std::string_view name) const;
};

}  // namespace caip::run
