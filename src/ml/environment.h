#pragma once
// The environment of a replica, whole: TF_CONFIG, CLUSTER_SPEC, TPU_CONFIG, CLOUD_ML_* and the
// variables that lead libraries to the emulator (docs/service/replica-environment.md, sections 2 to
// 4, and docs/service/clients.md, section 6). Rendered from facts alone, so a replica that starts
// again reads the same bytes.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "ml/cluster.h"
#include "ml/job.h"

namespace caip::ml {

/// The parts of TF_CONFIG and of the launcher's first lines that describe the job. They are the
/// same for all replicas of a run and all their starts, and expensive to render.
struct JobTexts {
  std::string of_tf_config;
  std::string of_task_line;
};
/// `arguments` as in EnvironmentFacts.
JobTexts RenderJobTexts(const TrainingInput& input, const ClusterPlan& plan,
                        const std::vector<std::string>& arguments);

/// All that the environment of one start of one replica depends on. Made for a call: the references
/// must outlive it.
struct EnvironmentFacts {
  const TrainingInput& input;
  const ClusterPlan& plan;  // with addresses
  ReplicaId replica;
  std::string job_id;
  std::string project_id;
  std::string trial;                   // "" outside tuning
  std::vector<std::string> arguments;  // FinalArguments
  std::string cloud_id;                // "w93a1503672d4dd09-ml": the tenant project
  std::string host_id;                 // ten hexadecimal digits, see HostName
  std::string boot_disk;               // directory that stands for the replica's disk
  std::string path;                    // PATH
  bool has_own_image = false;          // it brings the variables of its system
  int cpus = 1;
  std::string endpoint;  // "http://127.0.0.1:8080": ml, storage and logging; "" for none
  const JobTexts* job_texts = nullptr;  // made before; null: they are made when they are needed
};

/// The documented list (docs/environment.md), in a fixed order. Names occur once.
std::vector<std::pair<std::string, std::string>> RenderEnvironment(const EnvironmentFacts& facts);

/// Directories below the boot disk that the variables of RenderEnvironment name.
std::vector<std::string> BootDiskDirectories();

/// The working directory of a Python job, below the boot disk: the launcher makes and enters it.
inline constexpr std::string_view kUserDirectory = "user_dir";
/// Where cloudml-hypertune writes, below the boot disk: CLOUD_ML_HP_METRIC_FILE.
inline constexpr std::string_view kMetricFile = "var/hypertune/output.metric";
/// The metric tag when the job names none.
inline constexpr std::string_view kDefaultMetricTag = "training/hptuning/metric";
/// The metric of a tuning job; the default one of a job that tunes nothing.
std::string MetricTagOf(const TrainingInput& input);

/// TF_CONFIG: of every replica of every training job.
std::string RenderTfConfig(const EnvironmentFacts& facts);
/// CLUSTER_SPEC: of custom container jobs; the master is never "chief", `job` is a text.
std::string RenderClusterSpec(const EnvironmentFacts& facts);
/// TPU_CONFIG, from which TensorFlow's TPU client learns its node. Of TPU jobs only.
std::string RenderTpuConfig(const EnvironmentFacts& facts);
/// "cmle-training-e118e0f997-tpu": the node's name in TPU_CONFIG.
std::string TpuNodeName(std::string_view host_id);

/// The launcher's first words: "Running task with arguments: --cluster=... --task=... --job=...".
std::string RunningTaskText(const EnvironmentFacts& facts);

}  // namespace caip::ml
