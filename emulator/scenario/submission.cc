#include "emulator/scenario/submission.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <string_view>
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
#include "run/lifecycle.h"

namespace caip::scenario {
namespace {

using harness::Scenario;

// Sends the job that the words describe. Fills in the flags that they may leave out.
Status SendWords(const Scenario& scenario, const ReadSubmitWords& read,
                 const app::Emulator& emulator, const std::string& job_id) {
  ASSIGN_OR_RETURN(SubmitWords words, ReadWordsOf(scenario, read));
  client::SubmitRequest& request = words.request;
  request.flags.job = job_id;
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

// One machine for each rank or member.
void MakeGroup(int ranks, bool restarts_together, Json& input) {
  input["scaleTier"] = "CUSTOM";
  input["masterType"] = input["workerType"] = "n1-standard-4";
  input["workerCount"] = ranks - 1;
  input["scheduling"]["resilientToWorkerRestart"] = restarts_together;
}

// A directory of this host in place of kJobDirWord, a URI in place of kGcsJobDirWord.
std::vector<std::string> WithJobDir(std::vector<std::string> words, const Path& buckets) {
  const std::string uri = kJobDir;
  const std::string below = uri.substr(std::string_view("gs://").size());
  for (std::string& word : words) {
    word = ReplaceAll(word, std::string(harness::kJobDirWord), (buckets / below).string());
    word = ReplaceAll(word, std::string(harness::kGcsJobDirWord), uri);
  }
  return words;
}

Json JobOf(const Scenario& scenario, const Path& buckets, const std::string& job_id) {
  Json input = scenario.training_input.is_object() ? scenario.training_input : Json::object();
  if (!input.contains("scaleTier")) input["scaleTier"] = "BASIC";
  if (!input.contains("region")) input["region"] = "us-central1";
  if (!input.contains("jobDir") && scenario.appends_job_dir) input["jobDir"] = kJobDir;
  if (scenario.ranks > 1) MakeGroup(scenario.ranks, scenario.restarts_together, input);
  if (!scenario.command.empty()) SetImages(input);
  if (!scenario.arguments.empty()) input["args"] = WithJobDir(scenario.arguments, buckets);
  return {{"jobId", job_id}, {"trainingInput", std::move(input)}};
}

}  // namespace

void AddImages(const Scenario& scenario, const Path& buckets,
               std::map<std::string, std::vector<std::string>>& images) {
  for (const auto& [image, command] : scenario.images) images[image] = command;
  if (scenario.command.empty()) return;
  images[kImage] = CompleteCommand(scenario, scenario.command, buckets);
}

std::vector<std::string> CompleteCommand(const Scenario& scenario,
                                         const std::vector<std::string>& command,
                                         const Path& buckets) {
  const bool is_in_folder = !scenario.working_directory.empty();
  return WithJobDir(is_in_folder ? command : CommandFrom(scenario.trainer_folder, command),
                    buckets);
}

Status SendJob(const Scenario& scenario, const ReadSubmitWords& read, const Path& buckets,
               app::Emulator& emulator, const std::string& job_id) {
  if (!scenario.submit.empty()) {
    const Status sent = SendWords(scenario, read, emulator, job_id);
    return sent.ok() ? sent : Status(errors::JobRejected(sent.error()));
  }
  const Json job = JobOf(scenario, buckets, job_id);
  RETURN_IF_ERROR(ml::ParseJob(job));
  const auto sent = emulator.engine().Submit(kProject, job);
  if (sent.ok()) return Ok{};
  return errors::JobRejected(sent.error());
}

Result<std::string> RunOnceMore(const Scenario& scenario, const ReadSubmitWords& read,
                                const Path& buckets, app::Emulator& emulator,
                                const std::function<bool()>& interrupted) {
  constexpr auto kPause = std::chrono::milliseconds(100);  // between two looks at `interrupted`
  const std::string job_id = std::string(kJobId) + "_again";
  std::promise<std::string> ended;
  std::future<std::string> state = ended.get_future();
  const engine::Subscription watch =
      emulator.engine().Watch([&, is_set = false](const run::Job& job) mutable {
        if (is_set || job.key.job_id != job_id || !run::IsTerminal(job.state)) return;
        is_set = true;
        ended.set_value(std::string(run::Name(job.state)));
      });
  RETURN_IF_ERROR(SendJob(scenario, read, buckets, emulator, job_id));
  const MonotonicTime deadline = MonotonicNow() + scenario.limits.wall;
  while (MonotonicNow() < deadline && !(interrupted && interrupted())) {
    if (state.wait_for(kPause) == std::future_status::ready) return state.get();
  }
  (void)emulator.engine().Cancel(kProject, job_id);
  return std::string();
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
