// Hyperparameter tuning jobs of Vertex AI as scenarios know them. Their document is a
// HyperparameterTuningJob with the names of the API, as Read makes it. Each trial is a custom job.

#include <algorithm>

#include "harness/events/replica_name.h"
#include "harness/scenario/job_kind.h"
#include "vertex/document.h"
#include "vertex/limits.h"
#include "vertex/resource_names.h"
#include "vertex/schema/tuning_job_json.h"
#include "vertex/trials.h"

namespace caip::harness {
namespace {

constexpr char kTuningJobId[] = "9000000000001000000";  // the service makes such numbers
constexpr char kTuningJobAgain[] = "9000000000002000000";
constexpr char kTrialSpec[] = "trialJobSpec";
constexpr char kStudy[] = "studySpec";
constexpr char kMaxTrials[] = "maxTrialCount";
constexpr char kParallelTrials[] = "parallelTrialCount";

// The custom job that a trial runs.
Json TrialOf(const Json& document) {
  const Json* spec = document.is_object() ? Member(document, kTrialSpec) : nullptr;
  return spec ? Json{{"displayName", "scenario"}, {"jobSpec", *spec}} : Json();
}

// Changes the trials of the job with a function for custom jobs.
template <typename Change>
void ChangeTrial(Json& document, Change change) {
  Json trial = TrialOf(document);
  if (trial.is_null()) return;
  change(trial);
  document[kTrialSpec] = std::move(trial["jobSpec"]);
}

const Json* FirstMetricOf(const Json& document) {
  const Json* study = document.is_object() ? Member(document, kStudy) : nullptr;
  const Json* metrics = study ? Member(*study, "metrics") : nullptr;
  const bool has_one = metrics && metrics->is_array() && !metrics->empty();
  return has_one ? &metrics->front() : nullptr;
}

/// Answers for the custom job of a trial, except where the study counts.
class TuningJobKind final : public JobKind {
 public:
  std::string_view noun() const override { return "tuning job"; }
  std::string_view document_key() const override { return "hyperparameter_tuning_job"; }
  std::string_view words_key() const override { return "tune"; }

  Result<Json> Read(const Json& written) const override {
    Json job = written;
    const bool has_name = job.contains("displayName") || job.contains("display_name");
    if (!has_name) job["displayName"] = "scenario";
    return vertex::SpellTuningJob(job);
  }

  // A count that is missing is 1, as in gcloud.
  Json Complete(Json document, const JobCompletion& completion) const override {
    Json job = document.is_object() ? std::move(document) : Json{{"displayName", "scenario"}};
    for (const char* count : {kMaxTrials, kParallelTrials}) {
      if (!job.contains(count)) job[count] = 1;
    }
    job[kTrialSpec] = std::move(trials_.Complete(TrialOf(job), completion)["jobSpec"]);
    return job;
  }

  Json RequestOf(const Json& document, const std::string&) const override { return document; }
  run::JobPlace PlaceOf(const std::string& job_id) const override {
    run::JobPlace place = trials_.PlaceOf(job_id);
    place.collection = std::string(vertex::kTuningJobs);
    return place;
  }
  std::string IdOf(bool once_more) const override {
    return once_more ? kTuningJobAgain : kTuningJobId;
  }

  std::vector<std::string> ReplicasOf(const Json& document) const override {
    const int64_t trials = document.is_object() ? IntOr(document, kMaxTrials, 1) : 1;
    return NamesInTrials(trials_.ReplicasOf(TrialOf(document)),
                         std::clamp<int64_t>(trials, 1, vertex::kTrialsMax));
  }
  bool InstallsPackages(const Json& document) const override {
    return trials_.InstallsPackages(TrialOf(document));
  }
  bool RunsImage(const Json& document) const override {
    return trials_.RunsImage(TrialOf(document));
  }
  std::vector<std::string> ImagesOf(const Json& document) const override {
    return trials_.ImagesOf(TrialOf(document));
  }
  std::optional<run::PythonModule> PythonModuleOf(const Json& document) const override {
    return trials_.PythonModuleOf(TrialOf(document));
  }
  std::string OutputDirectoryOf(const Json& document) const override {
    return trials_.OutputDirectoryOf(TrialOf(document));
  }
  std::optional<Duration> MaxRunningOf(const Json& document) const override {
    return trials_.MaxRunningOf(TrialOf(document));
  }
  std::string SubjectOf(const Json& document) const override {
    return trials_.SubjectOf(TrialOf(document));
  }
  std::string MetricTagOf(const Json& document) const override {
    const Json* metric = FirstMetricOf(document);
    return metric ? StringOr(*metric, "metricId") : "";
  }
  int64_t AttemptsMaxOf(const Json& document) const override {
    return trials_.AttemptsMaxOf(TrialOf(document));
  }
  bool NamesReplicasByPools() const override { return trials_.NamesReplicasByPools(); }
  bool GivesTfConfigToOneReplica() const override { return trials_.GivesTfConfigToOneReplica(); }
  bool RestartsFailing() const override { return trials_.RestartsFailing(); }
  bool AddsJobDir() const override { return trials_.AddsJobDir(); }
  std::string_view output_name() const override { return trials_.output_name(); }
  std::string_view output_source() const override { return trials_.output_source(); }

  void KeepOneTrial(const std::string& metric, Json& document) const override {
    document[kMaxTrials] = 1;
    document[kParallelTrials] = 1;
    document.erase("maxFailedTrialCount");  // may be above the number of trials
    if (metric.empty() || !FirstMetricOf(document)) return;
    document[kStudy]["metrics"][0]["metricId"] = metric;
  }
  void AddArguments(const std::vector<std::string>& words, Json& document) const override {
    ChangeTrial(document, [&](Json& trial) { trials_.AddArguments(words, trial); });
  }
  void RemoveImages(Json& document) const override {
    ChangeTrial(document, [&](Json& trial) { trials_.RemoveImages(trial); });
  }

  bool HasRole(const Json& document, const std::string& role) const override {
    return trials_.HasRole(TrialOf(document), role);
  }
  bool UsesChief(const Json& document) const override {
    return trials_.UsesChief(TrialOf(document));
  }
  void AddEveryRole(Json& document, bool evaluator) const override {
    ChangeTrial(document, [&](Json& trial) { trials_.AddEveryRole(trial, evaluator); });
  }
  std::string NameFirst(bool chief, Json& document) const override {
    return trials_.NameFirst(chief, document);
  }

  Result<std::vector<std::string>> ReplicasOf(const run::Job& job) const override {
    ASSIGN_OR_RETURN(const vertex::StoredTuningJob stored,
                     vertex::ReadTuningDocument(job.document));
    return ReplicasOf(vertex::ToStoredJson(stored.job));
  }
  Result<std::string> BestTrialOf(const run::Job& job) const override {
    ASSIGN_OR_RETURN(const vertex::StoredTuningJob stored,
                     vertex::ReadTuningDocument(job.document));
    const run::Trial* best = vertex::FindBestTrial(stored);
    return best ? best->id : std::string();
  }

 private:
  const JobKind& trials_ = CustomJobs();
};

}  // namespace

const JobKind& TuningJobs() {
  static const TuningJobKind kind;
  return kind;
}

}  // namespace caip::harness
