#include "emulator/scenario/submission.h"

#include <set>
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

// Turns "trainers/r01/broken.py" into its path, if a file of that name is beside the scenario.
std::string FileBeside(const Scenario& scenario, const std::string& word) {
  if (word.empty() || word.starts_with('/')) return word;
  std::error_code error;
  const Path path = std::filesystem::weakly_canonical(scenario.trainer_folder / word, error);
  if (error) return word;
  const bool is_path = word.find('/') != std::string::npos;
  const bool there = is_path ? std::filesystem::exists(path, error)
                             : std::filesystem::is_regular_file(path, error);
  return there ? path.string() : word;
}

// Returns the command with the paths of files. A program without a slash is looked up in PATH, as
// in shells. The word after `-m` is the name of a module.
std::vector<std::string> CommandOf(const Scenario& scenario) {
  std::vector<std::string> command;
  for (const std::string& word : scenario.command) {
    const bool is_program = command.empty() && word.find('/') == std::string::npos;
    const bool is_module = !command.empty() && command.back() == "-m";
    command.push_back(is_program || is_module ? word : FileBeside(scenario, word));
  }
  return command;
}

// Resolves the flags whose value is a file or folder relative to the scenario.
std::vector<std::string> WithPaths(const Scenario& scenario) {
  const std::set<std::string> flags = {"--package-path", "--config", "--packages", "--flags-file"};
  std::vector<std::string> words;
  bool user_args = false;
  for (const std::string& word : scenario.submit) {
    user_args = user_args || word == "--";
    const size_t equals = word.find('=');
    if (!user_args && !words.empty() && flags.contains(words.back())) {
      words.push_back((scenario.job_folder / word).string());
    } else if (!user_args && equals != word.npos && flags.contains(word.substr(0, equals))) {
      words.push_back(word.substr(0, equals + 1) +
                      (scenario.job_folder / word.substr(equals + 1)).string());
    } else {
      words.push_back(word);
    }
  }
  return words;
}

// Sends the job that the words describe. Fills in the flags that they may leave out.
Status SendWords(const Scenario& scenario, const client::ReadSubmitWords& read,
                 const app::Emulator& emulator) {
  ASSIGN_OR_RETURN(client::SubmitRequest request, read(WithPaths(scenario)));
  request.flags.job = kJobId;
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
  std::vector<std::string> command = CommandOf(scenario);
  if (!command.empty()) images[kImage] = std::move(command);
  return images;
}

Status SendJob(const Scenario& scenario, const client::ReadSubmitWords& read,
               app::Emulator& emulator) {
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
