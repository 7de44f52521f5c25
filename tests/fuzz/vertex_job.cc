// The first byte of an input selects a collection of Vertex AI and a version, the rest is a body of
// its method create. The body is refused with reasons, or its job can be stored, opened and shown.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "run/storage_probe.h"
#include "vertex/beta_fields.h"
#include "vertex/document.h"
#include "vertex/render.h"
#include "vertex/resource_names.h"
#include "vertex/training_api.h"
#include "vertex/trials.h"

namespace {

using namespace caip;
using namespace caip::vertex;

constexpr size_t kReplicasMax = 20;  // of jobs whose environments are made

void Require(bool holds) {
  if (!holds) std::abort();
}

/// A storage in which everything exists.
class FullStorage final : public run::StorageProbe {
 public:
  bool BucketExists(const std::string&) const override { return true; }
  bool ObjectReadable(const std::string&, const std::string&) const override { return true; }
  bool Writable(const std::string&, const std::string&) override { return true; }
};

void CheckRefusal(const Error& error) {
  Require(error.code == Code::kInvalidArgument || error.code == Code::kUnimplemented ||
          error.code == Code::kNotFound);
  Require(!error.message.empty());
  for (const FieldViolation& violation : error.violations) Require(!violation.description.empty());
}

void CheckEnvironments(const run::AcceptedJob& accepted, const run::ApiJob& job) {
  run::RunFacts facts;
  facts.key = accepted.key;
  if (job.spec().tuning) facts.key.trial = "1";
  facts.plan = run::PlanReplicas(job.spec());
  if (facts.plan.size() > kReplicasMax) return;
  const auto run = job.Begin(facts);
  for (const run::PlannedReplica& replica : facts.plan) {
    Require(!run->SetUp({replica.id, "/disk", "/bin"}).environment.empty());
  }
}

void CheckShown(const run::AcceptedJob& accepted, std::string_view collection) {
  run::Job job;
  job.key = accepted.key;
  job.document = accepted.document;
  const bool is_tuning = IsTuningJob(job.document);
  if (is_tuning) job.document = WithTrials(job.document, {{.id = "1", .values = {{"x", "0.5"}}}});
  const auto render = collection == kTrainingPipelines ? RenderTrainingPipeline
                      : is_tuning                      ? RenderTuningJob
                                                       : RenderCustomJob;
  const auto shown = render(job, {.enum_numbers = true});
  Require(shown.ok() && ParseJson(CompactJson(*shown)).ok());
  if (is_tuning) Require(RenderCustomJob(TrialsAsJobs(job)->at(0), {}).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static FullStorage storage;
  static const TrainingApi api({.project_number = "123"}, storage);
  constexpr std::string_view kCollections[] = {kCustomJobs, kTuningJobs, kTrainingPipelines};
  const std::string_view collection = kCollections[data[0] % 3];
  const bool is_beta = data[0] / 3 % 2 == 1;
  auto body = ParseJson({reinterpret_cast<const char*>(data) + 1, size - 1});
  if (!body.ok() || !body->is_object()) return 0;
  if (is_beta && !TakeBetaFields(*body).empty()) return 0;
  run::JobRequest request{"p", "us-central1", *body, {}, {}};
  request.new_id = collection == kTuningJobs ? "9000004711000000000" : "1001";
  request.collection = collection;
  const auto accepted = api.Accept(request);
  if (!accepted.ok()) {
    CheckRefusal(accepted.error());
    return 0;
  }
  Require(api.Probe(*accepted, request, {}).ok());
  const auto opened = api.Open(accepted->document);
  Require(opened.ok() && !(*opened)->spec().groups.empty());
  CheckEnvironments(*accepted, **opened);
  CheckShown(*accepted, collection);
  return 0;
}
