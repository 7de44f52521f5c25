#include "emulator/scenario/submission.h"

#include <utility>

#include "base/text.h"
#include "client/job_preparation.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/scenario/errors.h"
#include "harness/events/replica_name.h"
#include "harness/faults/fault_reader.h"
#include "harness/scenario/scenario_replicas.h"
#include "ml/cluster.h"
#include "ml/schema/job_json.h"

namespace caip::scenario {
namespace {

using harness::Scenario;

// Sends the job that the words describe. Fills in the flags that they may leave out.
Status SendWords(const Scenario& scenario, const ReadSubmitWords& read,
                 const app::Emulator& emulator) {
  ASSIGN_OR_RETURN(SubmitWords words, ReadWordsOf(scenario, read));
  client::SubmitRequest& request = words.request;
  request.flags.job = kJobId;
  if (!scenario.arguments.empty()) {
    std::vector<std::string> args = request.flags.user_args.value_or(std::vector<std::string>{});
    args.insert(args.end(), scenario.arguments.begin(), scenario.arguments.end());
    request.flags.user_args = std::move(args);
  }
  request.gcloud.project = request.gcloud.project.value_or(kProject);
  request.flags.region = request.flags.region.value_or("us-central1");
  request.flags.job_dir = request.flags.job_dir.value_or(kJobDir);
  if (request.package_path && !request.staging_bucket) request.staging_bucket = "job";
  const app::StopOnInterrupt interrupt;
  client::PreparationOptions options;
  options.stop = interrupt.token();
  ASSIGN_OR_RETURN(const client::PreparedJob prepared, client::PrepareJob(request, options));
  client::FixedConnection connection(emulator.base_url());
  RETURN_IF_ERROR(client::StageFiles(connection, prepared, false));
  const auto created = client::CreateJob(connection, prepared);
  return created.ok() ? Status(Ok{}) : Status(created.error());
}

void SetImages(Json& input) {
  const auto set = [&input](const char* config) {
    if (!input.contains(config)) input[config] = Json::object();
    if (!input[config].contains("imageUri")) input[config]["imageUri"] = kImage;
  };
  set("masterConfig");
  for (const char* role : {"worker", "parameterServer", "evaluator"}) {
    if (input.contains(std::string(role) + "Count")) set((std::string(role) + "Config").c_str());
  }
}

Json JobOf(const Scenario& scenario) {
  Json input = scenario.training_input.is_object() ? scenario.training_input : Json::object();
  if (!input.contains("scaleTier")) input["scaleTier"] = "BASIC";
  if (!input.contains("region")) input["region"] = "us-central1";
  if (!input.contains("jobDir")) input["jobDir"] = kJobDir;
  if (!scenario.command.empty()) SetImages(input);
  if (!scenario.arguments.empty()) input["args"] = scenario.arguments;
  return {{"jobId", kJobId}, {"trainingInput", std::move(input)}};
}

}  // namespace

std::map<std::string, std::vector<std::string>> ImagesOf(const Scenario& scenario) {
  auto images = scenario.images;
  std::vector<std::string> command = CommandFrom(scenario.trainer_folder, scenario.command);
  if (!command.empty()) images[kImage] = std::move(command);
  return images;
}

Status SendJob(const Scenario& scenario, const ReadSubmitWords& read, app::Emulator& emulator) {
  if (!scenario.submit.empty()) {
    const Status sent = SendWords(scenario, read, emulator);
    return sent.ok() ? sent : Status(errors::JobRejected(sent.error()));
  }
  const Json job = JobOf(scenario);
  RETURN_IF_ERROR(ml::ParseJob(job));
  const auto sent = emulator.engine().Submit(kProject, job);
  if (sent.ok()) return Ok{};
  return errors::JobRejected(sent.error());
}

Status CheckReplicas(const Scenario& scenario, const ml::Job& job) {
  if (!job.training_input) return Ok{};
  std::vector<std::string> replicas;
  for (const ml::ReplicaPlan& plan : ml::PlanCluster(*job.training_input).replicas) {
    replicas.push_back(harness::ReplicaName(ml::TaskName(plan.id)));
  }
  if (const auto& tuning = job.training_input->hyperparameters) {
    replicas = harness::NamesInTrials(replicas, tuning->max_trials.value_or(1));
  }
  for (const harness::Fault& fault : scenario.faults) {
    const std::string unknown = harness::FindUnknownReplica(fault, replicas);
    if (unknown.empty()) continue;
    return errors::FaultWithoutReplica(fault.name, unknown, replicas);
  }
  return Ok{};
}

}  // namespace caip::scenario
