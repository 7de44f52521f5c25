#pragma once
// A scenario: a job, the delays of the service, the faults, and the conditions that must hold
// afterwards. docs/scenarios.md describes the format, and scenarios/schema.json describes it for
// editors.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "harness/events/step_reader.h"
#include "harness/expectations/expectation.h"
#include "harness/expectations/twin_comparison.h"
#include "harness/faults/fault.h"
#include "harness/faults/machine_lifetime.h"
#include "harness/scenario/job_kind.h"
#include "run/queueing.h"

namespace caip::harness {

/// How a trainer sees storage: objects over HTTP, or files below a directory.
enum class Semantics { kObject, kPosix };

/// What stands for the job's directory in a command: a directory of this host, or a gs:// URI.
inline constexpr std::string_view kJobDirWord = "{job_dir}";
inline constexpr std::string_view kGcsJobDirWord = "{gs_job_dir}";

/// A bucket before the job starts.
struct BucketContents {
  std::optional<Path> from;                    // a directory whose files are its objects
  std::map<std::string, std::string> objects;  // further objects
};

/// The part `mood` of the format.
struct ServiceDelays {
  run::DelayModel queue_delay = run::NoDelay{};
  run::DelayModel provisioning_delay = run::NoDelay{};
  run::DelayModel restart_delay = run::NoDelay{};
  std::optional<MachineLifetime> vm_lifetime;
  // what a step of the trainer stands for: machines age by it; unset: in emulated time
  std::optional<Duration> step_time;
  // how long a failed program of a custom job runs again; unset: as the faults say
  std::optional<Duration> failing_restart;
};

struct Limits {
  Duration wall = std::chrono::seconds(60);
  // time without a step, a change in storage or a boot
  Duration no_progress = std::chrono::seconds(10);
  int64_t log_lines = 100'000;
  Duration grace = std::chrono::seconds(5);  // time between SIGTERM and SIGKILL
};

/// A machine of a cluster of commands.
struct ClusterMember {
  std::string name;  // its host name, by which the others find it
  std::vector<std::string> command;
};

struct Scenario {
  Path file;
  std::string description;
  uint64_t seed = 1;
  Semantics semantics = Semantics::kObject;
  std::vector<std::string> needs;    // abilities of the host beyond those of its faults
  std::vector<std::string> modules;  // Python modules without which it is skipped
  int64_t gpus = 0;                  // real GPUs without which it is skipped

  // The job: arguments of gcloud, a document, a command that all replicas run, or a cluster.
  const JobKind* kind = &TrainingJobs();
  Path job_folder;                 // relative paths in `words` start here
  Path trainer_folder;             // relative paths in `command` start here
  std::vector<std::string> words;  // of the client's command
  Json document;                   // null if there is none
  std::vector<std::string> command;
  std::vector<std::string> arguments;
  // Of `command`. It may name the job's directory by kJobDirWord or kGcsJobDirWord in any word.
  Path working_directory;              // of this host; "": one of the machine's own
  std::vector<Path> volumes;           // directories that outlive machines: absolute, normal
  int ranks = 1;                       // machines; without `members`, torchrun's ranks
  std::vector<ClusterMember> members;  // a cluster of commands; the first one's is `command`
  bool restarts_together = true;       // of several machines: if one is lost, all start again
  bool appends_job_dir = true;         // the command gets --job-dir
  bool inherits_environment = false;   // it gets the variables of caip's own environment
  // Has the directory of the job's package, for tracebacks; "": not known. Only code sets it.
  Path package_parent = {};
  // The local commands of images, by URI. Only code sets them.
  std::map<std::string, std::vector<std::string>> images = {};
  bool own_ports = false;  // TF_CONFIG names localhost and ports, not addresses

  std::map<std::string, BucketContents> buckets;
  ServiceDelays service_delays;
  Limits limits;
  StepSource steps;
  std::vector<Fault> faults;
  std::vector<std::shared_ptr<const Expectation>> expectations;
  TwinComparison comparison;           // set by the expectations
  std::vector<std::string> shows_bug;  // assertions that must fail; empty: none may fail

  /// True if an expectation compares the run with one without faults.
  bool needs_twin() const;
  /// Whether it states a job by words or a document, not only by a command.
  bool HasJob() const;
  /// The folder to which words of the command are relative.
  const Path& command_folder() const {
    return working_directory.empty() ? trainer_folder : working_directory;
  }
  /// True if a word of the command contains `word`.
  bool CommandHas(std::string_view word) const;
};

/// Reports all mistakes at once, each with line, column and a caret. Reads the files that the
/// scenario `extends`.
Result<Scenario> ReadScenario(const Path& file);

/// True if the file has no job of a scenario, but a `trainingInput`, `workerPoolSpecs`, `jobSpec`
/// or `studySpec`: it is for --config of `jobs submit training`, `ai custom-jobs create` or `ai
/// hp-tuning-jobs create`.
bool IsJobConfig(const Path& file);

/// Whether a file in a folder of scenarios is one of them, by its name and contents: each *.yaml,
/// and a *.yml with a job, a trainer or `extends`, or with the config of a job. Other tools have
/// files that end in .yml.
bool IsMeantAsScenario(const Path& file);

/// The format as a JSON schema (draft 2020-12).
Json ScenarioSchema();

/// Like ReadScenario(file) for a file with this text.
Result<Scenario> ReadScenarioText(const std::string& text, const Path& file);

}  // namespace caip::harness
