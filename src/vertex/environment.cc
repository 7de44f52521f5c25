#include "vertex/environment.h"

#include <algorithm>

#include "base/json.h"
#include "google/client_variables.h"
#include "vertex/cluster.h"
#include "vertex/limits.h"

namespace caip::vertex {
namespace {

// Where the launcher and the log hook of the service's images keep their files, below the disk.
constexpr std::string_view kLogFile = "var/log-storage/output.log";
constexpr std::string_view kErrorSentinel = "var/log-storage/failed.sentinel";
constexpr std::string_view kTerminationLog = "dev/termination-log";
constexpr std::string_view kTracebackFile = "tmp/last_traceback.log";
constexpr std::string_view kHome = "root";
constexpr std::string_view kTemporary = "tmp";

// The order of the roles in docs/service/replica-environment.md, section 2. Evaluators are not in
// the cluster.
constexpr size_t kTfConfigPools[] = {0, 2, 1};
constexpr size_t kPoolLimit = 4;

std::string PythonText(std::string_view text) { return PythonJson(Json(text)); }

std::vector<std::string> AddressesOf(const EnvironmentFacts& facts, size_t pool) {
  std::vector<std::string> addresses;
  for (const run::PlannedReplica& replica : facts.plan) {
    if (PoolOf(replica.id) == pool) addresses.push_back(replica.address);
  }
  return addresses;
}

// {"chief": ["h:2222"], "worker": ["h:2222", "h:2222"]}; a pool without replicas has no key.
std::string TfCluster(const EnvironmentFacts& facts) {
  Json cluster = Json::object();
  for (const size_t pool : kTfConfigPools) {
    const std::vector<std::string> addresses = AddressesOf(facts, pool);
    if (!addresses.empty()) cluster[std::string(TaskType(pool))] = addresses;
  }
  return PythonJson(cluster);
}

// {"type": "worker", "index": 1, "trial": "3", without its closing brace.
std::string TfTaskHead(const EnvironmentFacts& facts) {
  std::string text = "{\"type\": " + PythonText(TaskType(PoolOf(facts.replica)));
  text += ", \"index\": " + std::to_string(facts.replica.index);
  if (!facts.trial.empty()) text += ", \"trial\": " + PythonText(facts.trial);
  return text;
}

Json JobOf(const PythonPackageSpec& package, const std::vector<std::string>& arguments) {
  return Json{{"python_module", package.python_module},
              {"package_uris", package.package_uris},
              {"job_args", arguments}};
}

// The launcher of packages appends to the very list that it dumps later: job_args are then the
// final ones.
std::string TfJob(const EnvironmentFacts& facts) {
  const auto& package = facts.pool().python_package;
  if (!package) return PythonJson(JobOf({}, {}));
  return PythonJson(JobOf(*package, package->args.empty() ? package->args : facts.arguments));
}

// As a serializer that is safe in HTML writes it.
std::string HtmlSafe(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '=':
        safe += "\\u003d";
        break;
      case '<':
        safe += "\\u003c";
        break;
      case '>':
        safe += "\\u003e";
        break;
      case '&':
        safe += "\\u0026";
        break;
      case '\'':
        safe += "\\u0027";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

void AddSystem(const EnvironmentFacts& facts, run::Environment& out) {
  if (!facts.has_own_image) {
    out.emplace_back("PATH", facts.path);
    out.emplace_back("HOME", facts.boot_disk + "/" + std::string(kHome));
    out.emplace_back("USER", "root");
    out.emplace_back("LANG", "C.UTF-8");
    out.emplace_back("TMPDIR", facts.boot_disk + "/" + std::string(kTemporary));
  }
  out.emplace_back("HOSTNAME", HostName(facts.replica, facts.host_id));
  if (!facts.has_own_image) {
    out.emplace_back("PYTHONUNBUFFERED", "1");  // ours: lines are shown as they are printed
    // Ours: pip of the host installs for the user as an image's does (PEP 668), below HOME.
    if (facts.pool().container) out.emplace_back("PIP_BREAK_SYSTEM_PACKAGES", "1");
  }
}

void AddOutput(const EnvironmentFacts& facts, run::Environment& out) {
  if (facts.output_directory.empty()) return;
  const std::string base =
      facts.trial.empty() ? facts.output_directory : facts.output_directory + facts.trial + "/";
  out.emplace_back("AIP_MODEL_DIR", base + "model/");
  out.emplace_back("AIP_CHECKPOINT_DIR", base + "checkpoints/");
  out.emplace_back("AIP_TENSORBOARD_LOG_DIR", base + "logs/");
}

void AddJob(const EnvironmentFacts& facts, run::Environment& out) {
  out.emplace_back("CLOUD_ML_JOB_ID", facts.job_id);
  out.emplace_back("CLOUD_ML_PROJECT_ID", facts.project_number);
  out.emplace_back("CLOUD_ML_REGION", facts.region);
  out.emplace_back("CLOUD_ML_JOB", RenderJobText(facts.pool()));
  out.emplace_back("CLOUD_ML_JOB_SA", facts.service_account);
  out.emplace_back("CLUSTER_SPEC", RenderClusterSpec(facts));
  if (facts.plan.size() > 1) out.emplace_back("TF_CONFIG", RenderTfConfig(facts));
  if (facts.pool().container) out.emplace_back("AIP_USE_CUSTOM_CONTAINER", "true");
  if (!facts.spec.tensorboard.empty()) {
    out.emplace_back("AIP_TENSORBOARD_RESOURCE_NAME", facts.spec.tensorboard);
  }
}

// Presence of the tag is how user code tells a tuning job.
void AddTrial(const EnvironmentFacts& facts, run::Environment& out) {
  if (facts.trial.empty()) return;
  out.emplace_back("CLOUD_ML_TRIAL_ID", facts.trial);
  out.emplace_back("CLOUD_ML_HP_METRIC_TAG", facts.metric_tag);
  out.emplace_back("CLOUD_ML_HP_METRIC_FILE", facts.boot_disk + "/" + std::string(kMetricFile));
}

// The variables of the launcher of packages; containers have no launcher.
void AddLauncher(const EnvironmentFacts& facts, run::Environment& out) {
  if (!facts.pool().python_package) return;
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

// GOOGLE_CLOUD_PROJECT is not set on the service, and user code may test that.
void AddEmulator(const EnvironmentFacts& facts, run::Environment& out) {
  if (facts.endpoint.empty()) return;
  const std::string config =
      facts.has_own_image ? "" : facts.boot_disk + "/" + std::string(kHome) + "/.config/gcloud";
  for (const auto& variables :
       {google::StorageVariables(facts.endpoint),
        google::GcloudVariables(facts.endpoint, config, facts.project_id)}) {
    out.insert(out.end(), variables.begin(), variables.end());
  }
  out.emplace_back("CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM", facts.endpoint + "/");
}

void Put(const std::string& name, const std::string& value, run::Environment& out) {
  const auto found = std::find_if(out.begin(), out.end(),
                                  [&](const auto& variable) { return variable.first == name; });
  if (found == out.end()) {
    out.emplace_back(name, value);
  } else {
    found->second = value;
  }
}

// An entry sees the service's variables and the entries before it.
void AddOwn(const EnvironmentFacts& facts, run::Environment known, run::Environment& out) {
  size_t bytes = 0;
  for (const EnvVar& variable : facts.pool().env()) {
    const std::string value = ExpandVariables(variable.value, known);
    bytes += value.size();
    if (bytes > kEnvironmentBytesMax) return;  // no program starts with so much (execve(2))
    Put(variable.name, value, known);
    Put(variable.name, value, out);
  }
}

}  // namespace

const WorkerPoolSpec& EnvironmentFacts::pool() const { return spec.pools.at(PoolOf(replica)); }

std::string RenderJobText(const WorkerPoolSpec& pool) {
  const PythonPackageSpec package = pool.python_package.value_or(PythonPackageSpec{});
  return HtmlSafe(CompactJson(JobOf(package, package.args)));
}

std::string RenderClusterSpec(const EnvironmentFacts& facts) {
  Json cluster = Json::object();
  for (size_t pool = 0; pool < kPoolLimit; ++pool) {
    const std::vector<std::string> addresses = AddressesOf(facts, pool);
    if (!addresses.empty()) cluster[PoolRole(pool)] = addresses;
  }
  Json task = {{"type", facts.replica.role}, {"index", facts.replica.index}};
  if (!facts.trial.empty()) task["trial"] = facts.trial;
  constexpr int kOpenPort = 3333;
  const Json text = {{"cluster", std::move(cluster)},
                     {"environment", "cloud"},
                     {"task", std::move(task)},
                     {"job", RenderJobText(facts.pool())},
                     {"open_ports", Json::array({kOpenPort})}};
  return CompactJson(text);
}

std::string RenderTfConfig(const EnvironmentFacts& facts) {
  return "{\"cluster\": " + TfCluster(facts) + ", \"task\": " + TfTaskHead(facts) +
         ", \"cloud\": " + PythonText(facts.cloud_id) + "}, \"job\": " + TfJob(facts) +
         ", \"environment\": \"cloud\"}";
}

std::string RunningTaskText(const EnvironmentFacts& facts) {
  return "Running task with arguments: --cluster=" + TfCluster(facts) +
         " --task=" + TfTaskHead(facts) + "} --job=" + TfJob(facts);
}

std::vector<std::string> BootDiskDirectories() {
  return {"root", "tmp", "dev", "var/log-storage", "var/hypertune"};
}

// As Kubernetes does it.
std::string ExpandVariables(std::string_view text, const run::Environment& known) {
  std::string expanded;
  while (!text.empty() && expanded.size() <= kVariableBytesMax) {
    const size_t dollar = text.find('$');
    expanded += text.substr(0, dollar);
    text.remove_prefix(std::min(dollar, text.size()));
    if (text.empty()) break;
    const size_t end = text.starts_with("$(") ? text.find(')') : text.npos;
    if (end == text.npos) {  // "$$" is one dollar
      expanded += '$';
      text.remove_prefix(text.starts_with("$$") ? 2 : 1);
      continue;
    }
    const std::string_view name = text.substr(2, end - 2);
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& one) { return one.first == name; });
    expanded += found == known.end() ? text.substr(0, end + 1) : std::string_view(found->second);
    text.remove_prefix(end + 1);
  }
  if (expanded.size() > kVariableBytesMax) expanded.resize(kVariableBytesMax + 1);
  return expanded;
}

run::Environment RenderEnvironment(const EnvironmentFacts& facts) {
  run::Environment service;
  AddJob(facts, service);
  AddOutput(facts, service);
  AddTrial(facts, service);
  run::Environment variables;
  AddSystem(facts, variables);
  variables.insert(variables.end(), service.begin(), service.end());
  AddLauncher(facts, variables);
  AddEmulator(facts, variables);
  AddOwn(facts, std::move(service), variables);
  return variables;
}

}  // namespace caip::vertex
