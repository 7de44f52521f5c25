#pragma once
// Vertex AI over an engine that runs nothing, with a resource of each kind, and valid bodies for
// its methods.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/api/vertex/vertex_routes.h"
#include "emulator/front/standard_parameters.h"
#include "ml/training_api.h"
#include "tests/api/router_client.h"
#include "tests/support/small_world.h"
#include "tests/vertex/a_study_job.h"
#include "vertex/document.h"
#include "vertex/resource_names.h"
#include "vertex/training_api.h"

namespace caip::app {

inline Json AVertexPipeline() {
  return {{"displayName", "census"},
          {"trainingTaskDefinition", "gs://x/custom_task_1.0.0.yaml"},
          {"trainingTaskInputs", vertex::AContainerJob()["jobSpec"]}};
}

inline Json AVertexTuningPipeline() {
  Json inputs = vertex::AStudyJob();
  inputs.erase("displayName");
  return {{"displayName", "study"},
          {"trainingTaskDefinition", "gs://x/hyperparameter_tuning_task_1.0.0.yaml"},
          {"trainingTaskInputs", std::move(inputs)}};
}

/// A valid body of a create request, with optional messages so that values inside of them get as
/// far as possible.
inline Json ValidVertexBody(std::string_view collection) {
  if (collection == vertex::kTuningJobs) return vertex::AStudyJob();
  if (collection == vertex::kTrainingPipelines) return AVertexPipeline();
  Json job = vertex::AContainerJob();
  job["labels"] = {{"team", "a"}};
  job["jobSpec"]["scheduling"] = {{"timeout", "3600s"}, {"strategy", "SPOT"}};
  job["jobSpec"]["baseOutputDirectory"] = {{"outputUriPrefix", "gs://bkt/out"}};
  return job;
}

/// Whether the place of a value in a body has a field for which docs/service/vertex.md, sections 3,
/// 8 and 10, announces 501.
inline bool IsUnservedVertexField(std::string_view place) {
  static constexpr std::string_view kFields[] = {
      "modelToUpload",          "inputDataConfig",     "trainingTaskDefinition",
      "lustreMounts",           "nfsMounts",           "safetyConfig",
      "decayCurveStoppingSpec", "studyStoppingConfig", "convexAutomatedStoppingSpec",
      "convexStopConfig",       "minGpuDriverVersion", "transferLearningConfig",
      "multihostGpuNodeCount",  "useElapsedDuration"};
  return std::ranges::any_of(
      kFields, [&](std::string_view field) { return place.find(field) != std::string_view::npos; });
}

class VertexApis {
 public:
  static constexpr std::string_view kLocation = "us-central1";

  explicit VertexApis(logging::LogBook& book) : book_(book) {
    storage_.buckets = {"bkt"};
    world_.launcher.images["us-docker.pkg.dev/p/images/train:v1"] = {"/bin/train"};
    world_.more_apis = {&api_};
    world_.Boot();
    jobs_ = std::make_unique<api::VertexJobs>(
        api::KeptOfJobs{*world_.engine, book_, policies_, [](const auto&) {}},
        api::VertexJobs::Options{"123456789012", "demo", false, kSeed});
  }

  std::vector<http::Route> Routes() {
    return front::WithStandardParameters(api::VertexRoutes(
        {*jobs_, operations_, world_.clock, vertex::ValidationOptions{}.RegionNames()}));
  }
  std::vector<http::Route> CheckRoutes() {
    return api::VertexCheckRoutes(*jobs_, vertex::ValidationOptions{}.RegionNames());
  }

  /// The id of the resource of a collection that MakeResources makes.
  static std::string IdIn(std::string_view collection) {
    if (collection == vertex::kTuningJobs) return "9000004711000000000";
    return collection == vertex::kTrainingPipelines ? "2002" : "1001";
  }
  /// The id of the operation that MakeResources makes first.
  static std::string OperationId() {
    api::DeleteOperations operations(kSeed);
    return AddOperation(operations);
  }

  void MakeResources() {
    for (const std::string_view collection :
         {vertex::kCustomJobs, vertex::kTuningJobs, vertex::kTrainingPipelines}) {
      EXPECT_TRUE(Keep(collection, IdIn(collection), ValidVertexBody(collection)));
    }
    AddOperation(operations_);
  }

  /// Stores the job of a create request, of a tuning job with a trial, in place of the one with
  /// that id. False: the request is refused.
  bool Keep(std::string_view collection, const std::string& id, const Json& body) {
    run::JobRequest request{"demo", std::string(kLocation), body, {}, {}};
    request.new_id = id;
    request.collection = collection;
    auto accepted = api_.Accept(request);
    if (!accepted.ok()) return false;
    engine::JobRecord record;
    record.job.key = accepted->key;
    record.job.api = vertex::kApiName;
    record.job.state = run::JobState::kSucceeded;
    record.job.create_time = world_.clock.Now();
    record.job.document = accepted->document;
    if (vertex::IsTuningJob(record.job.document)) {
      record.job.document = vertex::WithTrials(
          record.job.document, {{.id = "1", .values = {{"rate", "0.5"}, {"units", "8"}}}});
    }
    record.note = Json::object();
    (void)store_.Remove("demo", record.job.key.job_id, engine::RemovedId::kFree);
    return store_.Create(record).ok();
  }

 private:
  static constexpr uint64_t kSeed = 7;

  static std::string AddOperation(api::DeleteOperations& operations) {
    const Json made =
        operations.Add("123456789012", std::string(kLocation), "v1", engine::kMorning);
    const std::string name = made["name"].get<std::string>();
    return name.substr(name.rfind('/') + 1);
  }

  logging::LogBook& book_;
  TemporaryDirectory directory_;
  engine::FakeStorage storage_;
  engine::MemoryStore store_;
  ml::TrainingApi first_api_{{}, storage_};
  vertex::TrainingApi api_{
      {.service_account = "robot@example.com", .project_number = "123456789012"}, storage_};
  engine::SmallWorld world_{first_api_, store_, engine::kMorning};
  api::PolicyStore policies_{directory_.path() / "policies"};
  std::unique_ptr<api::VertexJobs> jobs_;
  api::DeleteOperations operations_{kSeed};
};

}  // namespace caip::app
