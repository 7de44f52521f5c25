#pragma once
// The kinds of jobs that scenarios, checks and the explorer run: training jobs of AI Platform,
// custom jobs and tuning jobs of Vertex AI. Everything that these commands need to know about an
// API is here, so that a new API is one more class.
//
// A document is what a client of the API sends: a trainingInput, a CustomJob or a
// HyperparameterTuningJob.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "run/api_port.h"
#include "run/job.h"
#include "run/program.h"

namespace caip::harness {

/// What runs of a job add to its document.
struct JobCompletion {
  std::string image = {};                   // of replicas that name no program; "": none
  std::vector<std::string> arguments = {};  // of the trainer
  std::string output_directory = {};        // unless the job has one; "": none
  int ranks = 1;                            // machines that run the same command
  bool restarts_together = true;            // of them
};

/// One kind. Pure; any thread.
class JobKind {
 public:
  virtual ~JobKind() = default;

  /// What sentences call such a job: "training job".
  virtual std::string_view noun() const = 0;
  /// The key of a document below `job` in a scenario: "config".
  virtual std::string_view document_key() const = 0;
  /// The key of the words of a client's command there: "submit".
  virtual std::string_view words_key() const = 0;
  /// The document as the other functions expect it. The error says what is wrong with it.
  virtual Result<Json> Read(const Json& written) const = 0;
  /// A document that can be created, except for rules of the service that it does not obey.
  virtual Json Complete(Json document, const JobCompletion& completion) const = 0;

  /// The body of the request that creates the job.
  virtual Json RequestOf(const Json& document, const std::string& job_id) const = 0;
  virtual run::JobPlace PlaceOf(const std::string& job_id) const = 0;
  /// The id of the job in a run, and when it is sent once more.
  virtual std::string IdOf(bool once_more) const = 0;

  // Facts about a document. It may break rules of the service, and be null.
  /// The replicas, by their names in scenarios, also those of trials.
  virtual std::vector<std::string> ReplicasOf(const Json& document) const = 0;
  /// Whether the service installs Python packages of the job.
  virtual bool InstallsPackages(const Json& document) const = 0;
  /// Whether the first replica runs the program of an image.
  virtual bool RunsImage(const Json& document) const = 0;
  /// The images whose programs replicas run, each once, that of the first replica first.
  virtual std::vector<std::string> ImagesOf(const Json& document) const = 0;
  /// The module that the first replica runs, and its software; nullopt if it runs an image.
  virtual std::optional<run::PythonModule> PythonModuleOf(const Json& document) const = 0;
  /// A gs:// URI; "" none.
  virtual std::string OutputDirectoryOf(const Json& document) const = 0;
  /// The limit of the running time; nullopt if the document states none.
  virtual std::optional<Duration> MaxRunningOf(const Json& document) const = 0;
  /// What a report calls the trainer: its image, or its module.
  virtual std::string SubjectOf(const Json& document) const = 0;
  /// The tag of a tuning job's metric; "" for other jobs.
  virtual std::string MetricTagOf(const Json& document) const = 0;
  /// How often the service tries the whole job at most.
  virtual int64_t AttemptsMaxOf(const Json& document) const = 0;
  /// Whether replicas are named after worker pools: "workerpool1-0".
  virtual bool NamesReplicasByPools() const = 0;
  /// Whether a job's only replica gets TF_CONFIG, too.
  virtual bool GivesTfConfigToOneReplica() const = 0;
  /// Whether a replica whose program failed starts once more before its job fails.
  virtual bool RestartsFailing() const = 0;
  /// Whether the service adds the flag --job-dir to the trainer's arguments.
  virtual bool AddsJobDir() const = 0;
  /// What sentences call the place of the output: "job-dir".
  virtual std::string_view output_name() const = 0;
  /// How the trainer learns of it: "--job-dir".
  virtual std::string_view output_source() const = 0;

  // Changes of a document.
  /// Leaves one trial of a tuning job, which reports `metric`; "": the job's own. Other jobs stay.
  virtual void KeepOneTrial(const std::string& metric, Json& document) const = 0;
  virtual void AddArguments(const std::vector<std::string>& words, Json& document) const = 0;
  /// Removes the images, so that Complete gives all replicas one program.
  virtual void RemoveImages(Json& document) const = 0;

  // The roles of replicas: "master", "worker", "ps", "evaluator".
  virtual bool HasRole(const Json& document, const std::string& role) const = 0;
  /// Whether TF_CONFIG calls the first replica `chief`.
  virtual bool UsesChief(const Json& document) const = 0;
  /// Adds two workers, one parameter server and, with `evaluator`, one evaluator.
  virtual void AddEveryRole(Json& document, bool evaluator) const = 0;
  /// Lets TF_CONFIG call the first replica `chief` or `master`. Returns why it cannot; "" if it
  /// can.
  virtual std::string NameFirst(bool chief, Json& document) const = 0;

  // A job as the engine has it.
  /// kDataLoss: its document cannot be read.
  virtual Result<std::vector<std::string>> ReplicasOf(const run::Job& job) const = 0;
  /// The best trial with a metric; "" none.
  virtual Result<std::string> BestTrialOf(const run::Job& job) const = 0;
};

/// Jobs of AI Platform Training.
const JobKind& TrainingJobs();
/// Custom jobs of Vertex AI.
const JobKind& CustomJobs();
/// Hyperparameter tuning jobs of Vertex AI.
const JobKind& TuningJobs();
/// All kinds, in the order of the documentation.
const std::vector<const JobKind*>& JobKinds();

/// Whether the job has more than one replica.
bool HasCluster(const JobKind& kind, const Json& document);

/// "master", "worker", "ps" or "evaluator": the role of a replica by its name in scenarios, of any
/// kind of job.
std::string RoleOf(const std::string& replica);

/// Whether it is the first replica of its job: "master-0" or "workerpool0-0".
bool IsFirstReplica(const std::string& replica);

/// "worker-0" or "worker" -> "workerpool1-0": the replica of a custom job that has the role in
/// TF_CONFIG. Other names are unchanged.
std::string NameInPools(const std::string& replica);

}  // namespace caip::harness
