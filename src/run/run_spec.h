#pragma once
// What an API asks the engine to run, in words that belong to no API.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "run/limits.h"
#include "run/program.h"
#include "run/replica.h"
#include "run/replica_outcome.h"
#include "run/study_step.h"
#include "tuning/optimizer.h"

namespace caip::run {

struct Accelerator {
  std::string type;  // "NVIDIA_TESLA_T4", "TPU_V2"
  int64_t count = 0;
  bool operator==(const Accelerator&) const = default;
};

struct BootDisk {
  std::string type;  // "" the default one
  int size_gb = 0;   // 0: the default size
  bool operator==(const BootDisk&) const = default;
};

/// Replicas that are alike. A group has at least one.
struct ReplicaGroup {
  std::string role;  // unique within the run
  int count = 1;
  std::string machine_type;
  int vcpus = 0;                               // of each replica; 0: unknown
  int64_t memory_bytes = 0;                    // 0: unknown
  std::vector<Accelerator> accelerators = {};  // of each replica
  BootDisk disk = {};
  Program program = {};
  /// The field of the job's document that names the program, for error messages; "" where the group
  /// runs the program of another one.
  std::string program_field = {};
};

/// A program that the document names for a role without replicas. Nothing runs it, but a launcher
/// that cannot run it refuses the job all the same.
struct IdleProgram {
  std::string field;  // of the document, for error messages
  Program program;
};

struct Limits {
  std::optional<Duration> max_wait = {};  // from the creation to the first RUNNING
  Duration max_running = kMaxRunningDefault;
  bool fails_after_max_wait = false;  // else it is cancelled
};

/// Which of a trial's reports is its result.
enum class FinalReport {
  kLast,  // of the metric file the last, of event files that of the latest step
  kBest,  // by the goal
};

/// Trials that look for the best values of parameters.
struct TuningSpec {
  tuning::Study study;
  std::string metric_tag;
  int64_t max_trials = 1;
  int64_t max_parallel = 1;
  int64_t max_failed = 0;  // 0: `failure_rule` decides
  FailureRule failure_rule = {};
  FinalReport final_report = FinalReport::kLast;
  bool stops_early = false;
  std::string resumed_job = {};  // the job whose trials this one continues; "" none
};

/// Groups of replicas and the rules they run by. The first replica of the first group leads: its
/// success is the run's success, and the other replicas are stopped then.
struct RunSpec {
  std::vector<ReplicaGroup> groups;  // at least one, in the order of lists and logs
  std::vector<IdleProgram> idle_programs = {};
  RestartPolicy policy = {};
  Limits limits = {};
  int priority = 0;  // higher ones leave the queue first
  std::string region;
  std::string service_account = {};   // e-mail; "" the default one
  std::string output_directory = {};  // a gs:// URI; "" none
  std::optional<TuningSpec> tuning = {};

  ReplicaId lead() const { return {groups.front().role, 0}; }
  const ReplicaGroup& GroupOf(const ReplicaId& replica) const;
  /// True where a group runs Python packages, which have to be installed first.
  bool NeedsPackages() const;
};

/// One replica of the plan.
struct PlannedReplica {
  ReplicaId id;
  std::string address;  // "host:port"; empty until addresses are lent
};

/// All replicas in the order of the groups.
std::vector<PlannedReplica> PlanReplicas(const RunSpec& spec);

}  // namespace caip::run
