// Jobs of AI Platform Training as scenarios know them. Their document is a trainingInput.

#include <algorithm>
#include <cstdlib>

#include "base/time_text.h"
#include "harness/events/replica_name.h"
#include "harness/scenario/job_kind.h"
#include "ml/catalog/catalog.h"
#include "ml/cluster.h"
#include "ml/render.h"
#include "ml/schema/job_json.h"
#include "run/replica_outcome.h"

namespace caip::harness {
namespace {

constexpr char kTrainingJobId[] = "scenario";
constexpr char kRankMachine[] = "n1-standard-4";
constexpr int64_t kReplicasMax = 10'000;  // of one role
constexpr int64_t kTrialsMax = 1000;

struct RoleNames {
  ml::Role role;
  const char* name;    // in scenarios
  const char* config;  // in a trainingInput
  const char* count;
};
constexpr RoleNames kRoleNames[] = {
    {ml::Role::kMaster, "master", "masterConfig", ""},
    {ml::Role::kWorker, "worker", "workerConfig", "workerCount"},
    {ml::Role::kParameterServer, "ps", "parameterServerConfig", "parameterServerCount"},
    {ml::Role::kEvaluator, "evaluator", "evaluatorConfig", "evaluatorCount"},
};

// Counts are int64, which JSON may write as text.
int64_t CountIn(const Json& input, const char* key) {
  const Json* count = Member(input, key);
  if (!count) return 0;
  if (count->is_number_integer()) return count->get<int64_t>();
  return count->is_string() ? std::strtoll(count->get<std::string>().c_str(), nullptr, 10) : 0;
}

int64_t CountOf(const RoleNames& role, const Json& input) {
  if (role.role == ml::Role::kMaster) return 1;
  const ml::ScaleTier* tier = ml::DefaultCatalog().FindTier(StringOr(input, "scaleTier"));
  if (!tier || tier->IsCustom()) return CountIn(input, role.count);
  const ml::TierRole* of_tier = tier->Of(role.role);
  return of_tier ? of_tier->count : CountIn(input, role.count);
}

std::string ImageIn(const Json& input, const RoleNames& role) {
  const Json* config = Member(input, role.config);
  return config ? StringOr(*config, "imageUri") : "";
}

Result<ml::ClusterPlan> ClusterOf(const Json& input) {
  ASSIGN_OR_RETURN(const ml::Job job, ml::ParseJob({{"jobId", "check"}, {"trainingInput", input}}));
  return ml::PlanCluster(*job.training_input);
}

void SetImages(const std::string& image, Json& input) {
  for (const RoleNames& role : kRoleNames) {
    const bool has_role = role.role == ml::Role::kMaster || input.contains(role.count);
    if (!has_role) continue;
    if (!input.contains(role.config)) input[role.config] = Json::object();
    if (!input[role.config].contains("imageUri")) input[role.config]["imageUri"] = image;
  }
}

// One machine for each rank or member.
void MakeGroup(const JobCompletion& completion, Json& input) {
  input["scaleTier"] = "CUSTOM";
  input["masterType"] = input["workerType"] = kRankMachine;
  input["workerCount"] = completion.ranks - 1;
  input["scheduling"]["resilientToWorkerRestart"] = completion.restarts_together;
}

class TrainingJobKind final : public JobKind {
 public:
  std::string_view noun() const override { return "training job"; }
  std::string_view document_key() const override { return "config"; }
  std::string_view words_key() const override { return "submit"; }
  // The service reports what is wrong with it.
  Result<Json> Read(const Json& written) const override { return written; }

  Json Complete(Json document, const JobCompletion& completion) const override {
    Json input = document.is_object() ? std::move(document) : Json::object();
    if (!input.contains("scaleTier")) input["scaleTier"] = "BASIC";
    if (!input.contains("region")) input["region"] = "us-central1";
    if (!input.contains("jobDir") && !completion.output_directory.empty()) {
      input["jobDir"] = completion.output_directory;
    }
    if (completion.ranks > 1) MakeGroup(completion, input);
    if (!completion.image.empty()) SetImages(completion.image, input);
    if (!completion.arguments.empty()) AddArguments(completion.arguments, input);
    return input;
  }

  Json RequestOf(const Json& document, const std::string& job_id) const override {
    return {{"jobId", job_id}, {"trainingInput", document}};
  }
  run::JobPlace PlaceOf(const std::string&) const override { return {}; }
  std::string IdOf(bool once_more) const override {
    return std::string(kTrainingJobId) + (once_more ? "_again" : "");
  }

  std::vector<std::string> ReplicasOf(const Json& document) const override {
    std::vector<std::string> replicas;
    const Json input = document.is_object() ? document : Json::object();
    for (const RoleNames& role : kRoleNames) {
      const int64_t count = std::min(CountOf(role, input), kReplicasMax);
      for (int64_t i = 0; i < count; ++i) {
        replicas.push_back(std::string(role.name) + "-" + std::to_string(i));
      }
    }
    const Json* tuning = Member(input, "hyperparameters");
    if (!tuning) return replicas;
    return NamesInTrials(replicas,
                         std::clamp<int64_t>(IntOr(*tuning, "maxTrials", 1), 1, kTrialsMax));
  }

  bool InstallsPackages(const Json& document) const override {
    const Json* packages = Member(document, "packageUris");
    return packages && !packages->empty();
  }
  bool RunsImage(const Json& document) const override {
    return !ImageIn(document, kRoleNames[0]).empty();
  }
  std::vector<std::string> ImagesOf(const Json& document) const override {
    std::vector<std::string> images;
    for (const RoleNames& role : kRoleNames) {
      const std::string image = ImageIn(document, role);
      const bool is_new = std::ranges::find(images, image) == images.end();
      if (!image.empty() && is_new) images.push_back(image);
    }
    return images;
  }
  std::optional<run::PythonModule> PythonModuleOf(const Json& document) const override {
    run::PythonModule module;
    module.module = StringOr(document, "pythonModule");
    module.software_version = StringOr(document, "runtimeVersion");
    module.python_version = StringOr(document, "pythonVersion");
    return module.module.empty() ? std::nullopt : std::optional(std::move(module));
  }
  std::string OutputDirectoryOf(const Json& document) const override {
    return StringOr(document, "jobDir");
  }
  std::optional<Duration> MaxRunningOf(const Json& document) const override {
    const Json* scheduling = Member(document, "scheduling");
    return scheduling ? ParseProtoDuration(StringOr(*scheduling, "maxRunningTime")) : std::nullopt;
  }
  std::string SubjectOf(const Json& document) const override {
    return RunsImage(document) ? ImageIn(document, kRoleNames[0])
                               : StringOr(document, "pythonModule");
  }
  std::string MetricTagOf(const Json& document) const override {
    const Json* tuning = Member(document, "hyperparameters");
    if (!tuning) return "";
    const std::string tag = StringOr(*tuning, "hyperparameterMetricTag");
    return tag.empty() ? "training/hptuning/metric" : tag;
  }
  int64_t AttemptsMaxOf(const Json&) const override { return 1 + run::kJobRetriesMax; }
  bool NamesReplicasByPools() const override { return false; }
  bool GivesTfConfigToOneReplica() const override { return true; }
  bool RestartsFailing() const override { return false; }
  bool AddsJobDir() const override { return true; }
  std::string_view output_name() const override { return "job-dir"; }
  std::string_view output_source() const override { return "--job-dir"; }

  void KeepOneTrial(const std::string& metric, Json& document) const override {
    if (!document.contains("hyperparameters")) return;
    Json& tuning = document["hyperparameters"];
    tuning["maxTrials"] = 1;
    tuning["maxParallelTrials"] = 1;
    tuning.erase("resumePreviousJobId");
    if (!metric.empty()) tuning["hyperparameterMetricTag"] = metric;
  }
  void AddArguments(const std::vector<std::string>& words, Json& document) const override {
    Json& args = document["args"];
    if (args.is_null()) args = Json::array();
    if (!args.is_array()) return;  // the service rejects it
    for (const std::string& word : words) args.push_back(word);
  }
  void RemoveImages(Json& document) const override {
    for (const RoleNames& role : kRoleNames) {
      if (!document.contains(role.config)) continue;
      document[role.config].erase("imageUri");
      if (document[role.config].empty()) document.erase(role.config);
    }
  }

  bool HasRole(const Json& document, const std::string& role) const override {
    const auto plan = ClusterOf(document);
    return plan.ok() && std::ranges::any_of(plan->replicas, [&](const ml::ReplicaPlan& replica) {
             return ml::RoleKey(replica.id.role) == role;
           });
  }
  bool UsesChief(const Json& document) const override {
    const auto plan = ClusterOf(document);
    return plan.ok() && plan->uses_chief;
  }
  // All of them have the master's machine type and image.
  void AddEveryRole(Json& document, bool evaluator) const override {
    const std::string machine = StringOr(document, "masterType", kRankMachine);
    const Json config = document.contains("masterConfig") ? document["masterConfig"] : Json();
    document["scaleTier"] = "CUSTOM";
    document["masterType"] = machine;
    for (const char* role : {"worker", "parameterServer", "evaluator"}) {
      if (std::string(role) == "evaluator" && !evaluator) continue;
      document[std::string(role) + "Type"] = machine;
      document[std::string(role) + "Count"] = std::string(role) == "worker" ? "2" : "1";
      if (!config.is_null()) document[std::string(role) + "Config"] = config;
    }
  }
  // The master is `chief` with runtime versions of 2.1 and later, and `master` with versions up to
  // 1.15. In containers useChiefInTfConfig decides (docs/service/replica-environment.md, section
  // 2). With an evaluator the master of a container job is the chief, even if the job requests
  // otherwise.
  std::string NameFirst(bool chief, Json& document) const override {
    if (!chief && HasRole(document, "evaluator")) {
      return "with an evaluator the master is always called chief";
    }
    if (RunsImage(document)) {
      document["useChiefInTfConfig"] = chief;
    } else if (UsesChief(document) != chief) {
      document["runtimeVersion"] = chief ? "2.11" : "1.15";
      document["pythonVersion"] = "3.7";
    }
    return "";
  }

  Result<std::vector<std::string>> ReplicasOf(const run::Job& job) const override {
    ASSIGN_OR_RETURN(const ml::Job rendered, ml::RenderJob(job));
    std::vector<std::string> replicas;
    if (!rendered.training_input) return replicas;
    for (const ml::ReplicaPlan& plan : ml::PlanCluster(*rendered.training_input).replicas) {
      replicas.push_back(ReplicaName(ml::TaskName(plan.id)));
    }
    const auto& tuning = rendered.training_input->hyperparameters;
    return tuning ? NamesInTrials(replicas, tuning->max_trials.value_or(1)) : replicas;
  }
  Result<std::string> BestTrialOf(const run::Job& job) const override {
    ASSIGN_OR_RETURN(const ml::Job rendered, ml::RenderJob(job));
    if (!rendered.training_output || rendered.training_output->trials.empty()) return std::string();
    const ml::HyperparameterOutput& best = rendered.training_output->trials.front();
    return best.final_metric ? best.trial_id : std::string();
  }
};

}  // namespace

const JobKind& TrainingJobs() {
  static const TrainingJobKind kind;
  return kind;
}

}  // namespace caip::harness
