#pragma once
// The environment of a replica, whole (docs/service/vertex.md, section 6). Rendered from facts
// alone, so a replica that starts again reads the same bytes.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/program.h"
#include "run/run_spec.h"
#include "vertex/custom_job.h"

namespace caip::vertex {

/// All that the environment of one start of one replica depends on. Made for a call: the references
/// must outlive it.
struct EnvironmentFacts {
  const CustomJobSpec& spec;
  const std::vector<run::PlannedReplica>& plan;  // with addresses
  run::ReplicaId replica;
  std::string job_id = {};
  std::string project_id = {};
  std::string project_number = {};
  std::string region = {};
  std::string service_account = {};         // e-mail of the identity
  std::string trial = {};                   // "" outside tuning
  std::string metric_tag = {};              // of a trial
  std::vector<std::string> arguments = {};  // of a package's replica: FinalArguments
  std::string output_directory = {};        // with its final slash, without the trial; "" none
  std::string cloud_id = {};                // "w93a1503672d4dd09-ml": the tenant project
  std::string host_id = {};                 // ten hexadecimal digits, see HostName
  std::string boot_disk = {};               // directory that stands for the replica's disk
  std::string path = {};                    // PATH
  bool has_own_image = false;               // it brings the variables of its system
  int cpus = 1;
  std::string endpoint = {};  // "http://127.0.0.1:8080": the APIs of the emulator; "" for none

  const WorkerPoolSpec& pool() const;
};

/// The variables in a fixed order; the job's own env[] last. Names occur once.
run::Environment RenderEnvironment(const EnvironmentFacts& facts);

/// Directories below the boot disk that the variables of RenderEnvironment name.
std::vector<std::string> BootDiskDirectories();

/// The working directory of a package's replica, below the boot disk.
inline constexpr std::string_view kUserDirectory = "user_dir";
/// Where cloudml-hypertune writes, below the boot disk: CLOUD_ML_HP_METRIC_FILE.
inline constexpr std::string_view kMetricFile = "var/hypertune/output.metric";

/// CLUSTER_SPEC: of every replica.
std::string RenderClusterSpec(const EnvironmentFacts& facts);
/// TF_CONFIG: of the replicas of a job that has several.
std::string RenderTfConfig(const EnvironmentFacts& facts);
/// CLOUD_ML_JOB, and the text in CLUSTER_SPEC's `job`.
std::string RenderJobText(const WorkerPoolSpec& pool);

/// "Running task with arguments: --cluster=... --task=... --job=...".
std::string RunningTaskText(const EnvironmentFacts& facts);

/// `text` with each $(NAME) replaced by its value. $$ is a dollar; unknown names stay.
std::string ExpandVariables(std::string_view text, const run::Environment& known);

}  // namespace caip::vertex
