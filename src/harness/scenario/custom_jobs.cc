// Custom jobs of Vertex AI as scenarios know them. Their document is a CustomJob with the names of
// the API, as Read makes it.

#include <algorithm>

#include "base/time_text.h"
#include "harness/scenario/job_kind.h"
#include "run/replica_outcome.h"
#include "vertex/catalog/catalog.h"
#include "vertex/cluster.h"
#include "vertex/document.h"
#include "vertex/limits.h"
#include "vertex/resource_names.h"
#include "vertex/schema/custom_job_json.h"
#include "vertex/training_api.h"

namespace caip::harness {
namespace {

constexpr char kCustomJobId[] = "4611686018427387904";  // the service makes such numbers
constexpr char kCustomJobAgain[] = "4611686018427387905";
constexpr char kCustomJobRegion[] = "us-central1";
constexpr char kPoolMachine[] = "n1-standard-4";
constexpr char kPools[] = "workerPoolSpecs";
// What a job has and a specification has not.
constexpr const char* kJobFields[] = {"jobSpec", "job_spec",       "displayName",    "display_name",
                                      "labels",  "encryptionSpec", "encryption_spec"};
constexpr const char* kTasks[] = {"containerSpec", "pythonPackageSpec"};
constexpr int64_t kPoolReplicasMax = 10'000;

const Json& NoPools() {
  static const Json none = Json::array();
  return none;
}

const Json& PoolsOf(const Json& document) {
  const Json* spec = Member(document, "jobSpec");
  const Json* pools = spec ? Member(*spec, kPools) : nullptr;
  return pools && pools->is_array() ? *pools : NoPools();
}

// The part that says what the pool runs; null if it says nothing.
const Json* TaskOf(const Json& pool) {
  for (const char* name : kTasks) {
    if (const Json* task = Member(pool, name)) return task;
  }
  return nullptr;
}

std::string ImageOf(const Json& pool) {
  const Json* container = Member(pool, "containerSpec");
  return container ? StringOr(*container, "imageUri") : "";
}

int64_t CountOfPool(const Json& pool) {
  if (pool.empty()) return 0;
  return std::clamp<int64_t>(IntOr(pool, "replicaCount", 1), 0, kPoolReplicasMax);
}

// gcloud's file may have one pool instead of a list, and a specification instead of a job.
Json AsJob(const Json& written) {
  const auto is_of_jobs = [&](const char* name) { return written.contains(name); };
  const bool is_job = std::ranges::any_of(kJobFields, is_of_jobs);
  Json job = is_job ? written : Json{{"jobSpec", written}};
  if (!job.contains("displayName") && !job.contains("display_name")) {
    job["displayName"] = "scenario";
  }
  const char* const name = job.contains("jobSpec") ? "jobSpec" : "job_spec";
  if (!job.contains(name) || !job[name].is_object()) return job;
  Json& spec = job[name];
  for (const char* pools : {kPools, "worker_pool_specs"}) {
    if (spec.contains(pools) && spec[pools].is_object()) spec[pools] = Json::array({spec[pools]});
  }
  return job;
}

void AddWords(const std::vector<std::string>& words, Json& pool) {
  for (const char* name : kTasks) {
    if (!pool.contains(name)) continue;
    Json& args = pool[name]["args"];
    if (!args.is_array()) args = Json::array();
    for (const std::string& word : words) args.push_back(word);
  }
}

void CompletePool(const JobCompletion& completion, Json& pool) {
  if (!pool.contains("machineSpec")) pool["machineSpec"] = {{"machineType", kPoolMachine}};
  if (!completion.image.empty() && !pool.contains("pythonPackageSpec")) {
    if (!pool.contains("containerSpec")) pool["containerSpec"] = Json::object();
    Json& container = pool["containerSpec"];
    if (!container.contains("imageUri")) container["imageUri"] = completion.image;
  }
  if (!completion.arguments.empty()) AddWords(completion.arguments, pool);
}

class CustomJobKind final : public JobKind {
 public:
  std::string_view noun() const override { return "custom job"; }
  std::string_view document_key() const override { return "custom_job"; }
  std::string_view words_key() const override { return "create"; }

  Result<Json> Read(const Json& written) const override {
    return vertex::SpellCustomJob(AsJob(written));
  }

  // A later pool that is empty is skipped.
  Json Complete(Json document, const JobCompletion& completion) const override {
    Json job = document.is_object() ? std::move(document) : Json{{"displayName", "scenario"}};
    Json& spec = job["jobSpec"];
    if (!spec.is_object()) spec = Json::object();
    if (!spec.contains(kPools)) spec[kPools] = Json::array({Json::object()});
    for (size_t i = 0; i < spec[kPools].size(); ++i) {
      Json& pool = spec[kPools][i];
      if (i == 0 || !pool.empty()) CompletePool(completion, pool);
    }
    if (!spec.contains("baseOutputDirectory") && !completion.output_directory.empty()) {
      spec["baseOutputDirectory"] = {{"outputUriPrefix", completion.output_directory}};
    }
    return job;
  }

  Json RequestOf(const Json& document, const std::string&) const override { return document; }
  run::JobPlace PlaceOf(const std::string& job_id) const override {
    return {.location = kCustomJobRegion,
            .new_id = job_id,
            .collection = std::string(vertex::kCustomJobs),
            .api = std::string(vertex::kApiName)};
  }
  std::string IdOf(bool once_more) const override {
    return once_more ? kCustomJobAgain : kCustomJobId;
  }

  std::vector<std::string> ReplicasOf(const Json& document) const override {
    std::vector<std::string> replicas;
    const Json& pools = PoolsOf(document);
    for (size_t i = 0; i < pools.size(); ++i) {
      // The first pool of a scenario may be empty: the trainer's command is its program.
      const int64_t count =
          i == 0 ? std::max<int64_t>(1, CountOfPool(pools[i])) : CountOfPool(pools[i]);
      for (int64_t index = 0; index < count; ++index) {
        replicas.push_back(vertex::ReplicaName({vertex::PoolRole(i), static_cast<int>(index)}));
      }
    }
    if (replicas.empty()) replicas.push_back(vertex::ReplicaName({vertex::PoolRole(0), 0}));
    return replicas;
  }

  bool InstallsPackages(const Json& document) const override {
    return std::ranges::any_of(PoolsOf(document), [](const Json& pool) {
      return Member(pool, "pythonPackageSpec") != nullptr;
    });
  }
  bool RunsImage(const Json& document) const override {
    const Json& pools = PoolsOf(document);
    return !pools.empty() && Member(pools[0], "containerSpec");
  }
  std::vector<std::string> ImagesOf(const Json& document) const override {
    std::vector<std::string> images;
    for (const Json& pool : PoolsOf(document)) {
      const std::string image = ImageOf(pool);
      const bool is_new = std::ranges::find(images, image) == images.end();
      if (!image.empty() && is_new) images.push_back(image);
    }
    return images;
  }
  std::optional<run::PythonModule> PythonModuleOf(const Json& document) const override {
    const Json& pools = PoolsOf(document);
    const Json* package = pools.empty() ? nullptr : Member(pools[0], "pythonPackageSpec");
    if (!package) return std::nullopt;
    const auto image = vertex::DescribePrebuiltImage(StringOr(*package, "executorImageUri"));
    run::PythonModule module;
    module.module = StringOr(*package, "pythonModule");
    module.software_version = image.name;
    module.python_version = image.python;
    const Json* uris = Member(*package, "packageUris");
    for (const Json& uri : uris ? *uris : NoPools()) {
      module.package_uris.push_back(uri.get<std::string>());
    }
    return module;
  }
  std::string OutputDirectoryOf(const Json& document) const override {
    const Json* spec = Member(document, "jobSpec");
    const Json* output = spec ? Member(*spec, "baseOutputDirectory") : nullptr;
    return output ? StringOr(*output, "outputUriPrefix") : "";
  }
  std::optional<Duration> MaxRunningOf(const Json& document) const override {
    const Json* spec = Member(document, "jobSpec");
    const Json* scheduling = spec ? Member(*spec, "scheduling") : nullptr;
    return scheduling ? ParseProtoDuration(StringOr(*scheduling, "timeout")) : std::nullopt;
  }
  std::string SubjectOf(const Json& document) const override {
    const Json& pools = PoolsOf(document);
    const Json* task = pools.empty() ? nullptr : TaskOf(pools[0]);
    if (!task) return "";
    return StringOr(*task, "pythonModule", StringOr(*task, "imageUri"));
  }
  std::string MetricTagOf(const Json&) const override { return ""; }
  // The loss of a Spot machine restarts the job.
  int64_t AttemptsMaxOf(const Json& document) const override {
    const Json* spec = Member(document, "jobSpec");
    const Json* scheduling = spec ? Member(*spec, "scheduling") : nullptr;
    const std::string strategy = scheduling ? StringOr(*scheduling, "strategy") : "";
    const bool may_be_spot = document.is_null() || strategy == "SPOT" || strategy == "LOW_COST";
    return 1 + run::kJobRetriesMax + (may_be_spot ? vertex::kSpotRestartsMax : 0);
  }
  bool NamesReplicasByPools() const override { return true; }
  bool GivesTfConfigToOneReplica() const override { return false; }
  bool RestartsFailing() const override { return true; }
  bool AddsJobDir() const override { return false; }
  std::string_view output_name() const override { return "baseOutputDirectory"; }
  std::string_view output_source() const override {
    return "the directories that AIP_MODEL_DIR and AIP_CHECKPOINT_DIR name";
  }

  void KeepOneTrial(const std::string&, Json&) const override {}
  void AddArguments(const std::vector<std::string>& words, Json& document) const override {
    if (PoolsOf(document).empty()) return;
    for (Json& pool : document["jobSpec"][kPools]) AddWords(words, pool);
  }
  void RemoveImages(Json& document) const override {
    if (PoolsOf(document).empty()) return;
    for (Json& pool : document["jobSpec"][kPools]) {
      if (pool.contains("containerSpec")) pool["containerSpec"].erase("imageUri");
    }
  }

  bool HasRole(const Json& document, const std::string& role) const override {
    const std::vector<std::string> replicas = ReplicasOf(document);
    return std::ranges::any_of(replicas,
                               [&](const std::string& name) { return RoleOf(name) == role; });
  }
  bool UsesChief(const Json&) const override { return true; }
  // All pools run what the first one runs.
  void AddEveryRole(Json& document, bool evaluator) const override {
    if (PoolsOf(document).empty()) return;
    Json& pools = document["jobSpec"][kPools];
    Json pool = pools[0];
    pool["replicaCount"] = "2";
    const Json workers = pool;
    pool["replicaCount"] = "1";
    pools = Json::array({pools[0], workers, pool});
    if (evaluator) pools.push_back(pool);
  }
  std::string NameFirst(bool chief, Json&) const override {
    return chief ? "" : "a custom job's TF_CONFIG always calls its first replica chief";
  }

  Result<std::vector<std::string>> ReplicasOf(const run::Job& job) const override {
    ASSIGN_OR_RETURN(const vertex::StoredCustomJob stored, vertex::ReadDocument(job.document));
    std::vector<std::string> replicas;
    const auto& pools = stored.job.spec->pools;
    for (size_t i = 0; i < pools.size(); ++i) {
      for (int index = 0; index < pools[i].ReplicaCount(); ++index) {
        replicas.push_back(vertex::ReplicaName({vertex::PoolRole(i), index}));
      }
    }
    return replicas;
  }
  Result<std::string> BestTrialOf(const run::Job&) const override { return std::string(); }
};

}  // namespace

const JobKind& CustomJobs() {
  static const CustomJobKind kind;
  return kind;
}

}  // namespace caip::harness
