#include "ml/environment.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "base/json.h"
#include "google/client_variables.h"
#include "ml/schema/job_json.h"

namespace caip::ml {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Where the launcher and the log hook of the service's images keep their files, below the disk.
constexpr std::string_view kLogFile = "var/log-storage/output.log";
constexpr std::string_view kErrorSentinel = "var/log-storage/failed.sentinel";
constexpr std::string_view kTerminationLog = "dev/termination-log";
constexpr std::string_view kTracebackFile = "tmp/last_traceback.log";
constexpr std::string_view kHome = "root";
constexpr std::string_view kTemporary = "tmp";

// The order of the examples in docs/service/replica-environment.md, section 2.
constexpr Role kClusterOrder[] = {Role::kMaster, Role::kParameterServer, Role::kWorker,
                                  Role::kEvaluator};

std::string PythonQuoted(std::string_view text) { return PythonJson(Json(text)); }

// "master" is called "chief" only by TF_CONFIG.
std::string_view TaskType(Role role, bool uses_chief) {
  return role == Role::kMaster && uses_chief ? "chief" : RoleKey(role);
}

// {"chief": ["h:2222"], "worker": ["h:2222", "h:2222"]}; a role without replicas has no key.
std::string ClusterText(const ClusterPlan& plan, bool uses_chief, bool with_evaluators) {
  std::string text = "{";
  for (Role role : kClusterOrder) {
    if (role == Role::kEvaluator && !with_evaluators) continue;
    std::string hosts;
    for (const ReplicaPlan& replica : plan.replicas) {
      if (replica.id.role != role) continue;
      hosts += (hosts.empty() ? "" : ", ") + PythonQuoted(replica.address);
    }
    if (hosts.empty()) continue;
    text += (text.size() == 1 ? "" : ", ") + PythonQuoted(TaskType(role, uses_chief));
    text += ": [" + hosts + "]";
  }
  return text + "}";
}

// {"type": "worker", "index": 1, "trial": "3", without its closing brace.
std::string TaskHead(const EnvironmentFacts& facts, bool uses_chief) {
  std::string text = "{\"type\": " + PythonQuoted(TaskType(facts.replica.role, uses_chief));
  text += ", \"index\": " + std::to_string(facts.replica.index);
  if (!facts.trial.empty()) text += ", \"trial\": " + PythonQuoted(facts.trial);
  return text;
}

std::string TaskText(const EnvironmentFacts& facts) {
  return TaskHead(facts, facts.plan.uses_chief) + ", \"cloud\": " + PythonQuoted(facts.cloud_id) +
         "}";
}

// The launcher of Python jobs appends to the very list it dumps later: args are then the final
// ones. Containers are started without it.
Json WithFinalArguments(Json job, const TrainingInput& input, const ClusterPlan& plan,
                        const std::vector<std::string>& arguments) {
  if (!plan.is_container && !input.args.empty()) job["args"] = arguments;
  return job;
}

JobTexts JobTextsOf(const EnvironmentFacts& facts) {
  if (facts.job_texts) return *facts.job_texts;
  return RenderJobTexts(facts.input, facts.plan, facts.arguments);
}

void AddSystem(const EnvironmentFacts& facts, Variables& out) {
  if (facts.has_own_image) {
    out.emplace_back("HOSTNAME", HostName(facts.replica, facts.host_id));
    return;
  }
  out.emplace_back("PATH", facts.path);
  out.emplace_back("HOME", facts.boot_disk + "/" + std::string(kHome));
  out.emplace_back("USER", "root");
  out.emplace_back("LANG", "C.UTF-8");
  out.emplace_back("TMPDIR", facts.boot_disk + "/" + std::string(kTemporary));
  out.emplace_back("HOSTNAME", HostName(facts.replica, facts.host_id));
  out.emplace_back("PYTHONUNBUFFERED", "1");  // ours: lines are shown as they are printed
}

void AddJob(const EnvironmentFacts& facts, Variables& out) {
  out.emplace_back("CLOUD_ML_JOB_ID", facts.job_id);
  out.emplace_back("CLOUD_ML_PROJECT_ID", facts.project_id);
  out.emplace_back("CLOUD_ML_REGION", facts.input.region);
  out.emplace_back("TF_CONFIG", RenderTfConfig(facts));
  if (facts.input.UsesContainer()) out.emplace_back("CLUSTER_SPEC", RenderClusterSpec(facts));
}

// The rank of a replica among the nodes of distributed PyTorch; nullopt: it is not a node.
std::optional<int> RankOf(ReplicaId replica) {
  if (replica.role == Role::kMaster) return 0;
  if (replica.role == Role::kWorker) return replica.index + 1;
  return std::nullopt;
}

// Where torch.distributed finds the cluster with init_method="env://" (section 3 of
// docs/service/replica-environment.md).
void AddPyTorch(const EnvironmentFacts& facts, Variables& out) {
  const std::optional<int> rank = RankOf(facts.replica);
  const std::string image = facts.plan.Of(facts.replica).image_uri;
  if (!rank || !IsPrebuiltImage(image) || image.find("/pytorch-") == std::string::npos) return;
  const auto nodes = std::count_if(facts.plan.replicas.begin(), facts.plan.replicas.end(),
                                   [](const ReplicaPlan& one) { return RankOf(one.id); });
  const std::string& master = facts.plan.replicas.front().address;
  const size_t colon = master.rfind(':');
  out.emplace_back("MASTER_ADDR", master.substr(0, colon));
  out.emplace_back("MASTER_PORT", master.substr(colon + 1));
  out.emplace_back("WORLD_SIZE", std::to_string(nodes));
  out.emplace_back("RANK", std::to_string(*rank));
}

// Presence of the tag is how user code tells a tuning job.
void AddTrial(const EnvironmentFacts& facts, Variables& out) {
  if (facts.trial.empty()) return;
  out.emplace_back("CLOUD_ML_TRIAL_ID", facts.trial);
  out.emplace_back("CLOUD_ML_HP_METRIC_TAG", MetricTagOf(facts.input));
  out.emplace_back("CLOUD_ML_HP_METRIC_FILE", facts.boot_disk + "/" + std::string(kMetricFile));
}

void AddTpu(const EnvironmentFacts& facts, Variables& out) {
  if (facts.plan.tpu_type.empty()) return;
  out.emplace_back("TPU_CONFIG", RenderTpuConfig(facts));
  if (facts.plan.is_container) return;  // the launcher sets the next one
  out.emplace_back("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", TpuNodeName(facts.host_id));
}

// The variables of the launcher of runtime-version jobs; containers have no launcher.
void AddLauncher(const EnvironmentFacts& facts, Variables& out) {
  if (facts.plan.is_container) return;
  const auto file = [&](std::string_view name) {
    return facts.boot_disk + "/" + std::string(name);
  };
  out.emplace_back("KMP_BLOCKTIME", "0");
  out.emplace_back("KMP_AFFINITY", "granularity=fine,verbose,compact,1,0");
  out.emplace_back("KMP_SETTINGS", "1");
  out.emplace_back("OMP_NUM_THREADS", std::to_string(facts.cpus));
  out.emplace_back("LOG_FILE_TO_WRITE", file(kLogFile));
  out.emplace_back("ERROR_SENTINEL", file(kErrorSentinel));
  out.emplace_back("TERMINATION_LOG", file(kTerminationLog));
  out.emplace_back("TRACEBACK_FILE_PATH", file(kTracebackFile));
}

void AddEmulator(const EnvironmentFacts& facts, Variables& out) {
  for (auto& variable : google::StorageVariables(facts.endpoint)) out.push_back(variable);
  out.emplace_back("GOOGLE_CLOUD_PROJECT", facts.project_id);
  const std::string config =
      facts.has_own_image ? "" : facts.boot_disk + "/" + std::string(kHome) + "/.config/gcloud";
  for (auto& variable : google::GcloudVariables(facts.endpoint, config, facts.project_id)) {
    out.push_back(variable);
  }
}

}  // namespace

std::string TpuNodeName(std::string_view host_id) {
  return "cmle-training-" + std::string(host_id) + "-tpu";
}

std::string MetricTagOf(const TrainingInput& input) {
  const auto& spec = input.hyperparameters;
  const bool has_tag = spec && !spec->hyperparameter_metric_tag.empty();
  return has_tag ? spec->hyperparameter_metric_tag : std::string(kDefaultMetricTag);
}

JobTexts RenderJobTexts(const TrainingInput& input, const ClusterPlan& plan,
                        const std::vector<std::string>& arguments) {
  Json job = ToSnakeCaseJson(input);
  std::string of_task_line = PythonJson(job);
  return {PythonJson(WithFinalArguments(std::move(job), input, plan, arguments)),
          std::move(of_task_line)};
}

std::string RenderTfConfig(const EnvironmentFacts& facts) {
  std::string text = "{\"cluster\": ";
  text += ClusterText(facts.plan, facts.plan.uses_chief, /*with_evaluators=*/false);
  text += ", \"task\": " + TaskText(facts);
  text += ", \"job\": " + JobTextsOf(facts).of_tf_config;
  return text + ", \"environment\": \"cloud\"}";
}

std::string RenderClusterSpec(const EnvironmentFacts& facts) {
  Json job = Json::object();
  job["python_module"] = facts.input.python_module;
  job["package_uris"] = facts.input.package_uris;
  job["job_args"] = facts.input.args;
  std::string text = "{\"cluster\": ";
  text += ClusterText(facts.plan, /*uses_chief=*/false, /*with_evaluators=*/true);
  text += ", \"environment\": \"cloud\", \"task\": " + TaskHead(facts, /*uses_chief=*/false);
  return text + "}, \"job\": " + PythonQuoted(CompactJson(job)) + "}";
}

std::string RenderTpuConfig(const EnvironmentFacts& facts) {
  Json config = Json::object();
  config["project"] = facts.cloud_id;  // the node stands in the service's tenant project
  config["zone"] = facts.input.region + "-b";
  config["tpu_node_name"] = TpuNodeName(facts.host_id);
  return PythonJson(config);
}

std::string RunningTaskText(const EnvironmentFacts& facts) {
  std::string text = "Running task with arguments: --cluster=";
  text += ClusterText(facts.plan, facts.plan.uses_chief, /*with_evaluators=*/false);
  text += " --task=" + TaskText(facts);
  return text + " --job=" + JobTextsOf(facts).of_task_line;
}

std::vector<std::string> BootDiskDirectories() {
  return {"root", "tmp", "dev", "var/log-storage", "var/hypertune"};
}

Variables RenderEnvironment(const EnvironmentFacts& facts) {
  Variables variables;
  variables.reserve(48);
  AddSystem(facts, variables);
  AddJob(facts, variables);
  AddPyTorch(facts, variables);
  AddTrial(facts, variables);
  AddTpu(facts, variables);
  AddLauncher(facts, variables);
  if (!facts.endpoint.empty()) AddEmulator(facts, variables);
  return variables;
}

}  // namespace caip::ml
