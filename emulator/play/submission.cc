#include "emulator/play/submission.h"

#include <set>
#include <utility>

#include "base/text.h"
#include "emulator/cli/arguments.h"
#include "emulator/cli/commands.h"
#include "harness/events/replica_name.h"
#include "harness/faults/fault_checks.h"
#include "harness/scenario/scenario_replicas.h"
#include "http/client.h"
#include "ml/cluster.h"
#include "ml/schema/job_json.h"

namespace caip::play {
namespace {

using harness::Scenario;

// "trainers/r01/broken.py" -> its path, where there is such a file beside the scenario.
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

// A program without a slash is looked up in PATH, as shells do it; `-m trainer` is a module's name.
std::vector<std::string> CommandOf(const Scenario& scenario) {
  std::vector<std::string> command;
  for (const std::string& word : scenario.command) {
    const bool is_program = command.empty() && word.find('/') == std::string::npos;
    const bool is_module = !command.empty() && command.back() == "-m";
    command.push_back(is_program || is_module ? word : FileBeside(scenario, word));
  }
  return command;
}

class ToEmulator final : public cli::Connection {
 public:
  explicit ToEmulator(const std::string& url) : client_(url) {}
  Result<http::ClientResponse> Send(const http::ClientRequest& request) override {
    return client_.Send(request);
  }
  std::string base_url() const override { return client_.base(); }

 private:
  http::Client client_;
};

// Flags whose value is a file or folder, relative to the scenario.
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

bool Says(const std::vector<std::string>& words, const std::string& flag) {
  for (const std::string& word : words) {
    if (word == "--") return false;
    if (word == flag || word.starts_with(flag + "=")) return true;
  }
  return false;
}

Status SendWords(const Scenario& scenario, const app::Emulator& emulator) {
  std::vector<std::string> words = {"jobs", "submit", "training", kJobId, "--project", kProject};
  const std::vector<std::string> own = WithPaths(scenario);
  if (!Says(own, "--region")) words.insert(words.end(), {"--region", "us-central1"});
  if (!Says(own, "--job-dir")) words.insert(words.end(), {"--job-dir", kJobDir});
  if (Says(own, "--package-path") && !Says(own, "--staging-bucket")) {
    words.insert(words.end(), {"--staging-bucket", "gs://job"});
  }
  words.insert(words.end(), own.begin(), own.end());
  std::string said;
  const cli::Io io{[](std::string_view) {}, [&said](std::string_view text) { said += text; }, false,
                   false};
  const auto connect = [&emulator](const cli::EmulatorFlags&, cli::Lifetime) {
    return Result<std::unique_ptr<cli::Connection>>(
        std::make_unique<ToEmulator>(emulator.base_url()));
  };
  const cli::Command command = cli::ParseArguments(words);
  int code = 2;
  if (const auto* submit = std::get_if<cli::SubmitCommand>(&command)) {
    code = cli::RunSubmit(*submit, {io, connect, nullptr});
  } else if (const auto* print = std::get_if<cli::PrintCommand>(&command)) {
    said = print->err;
  }
  if (code == 0) return Ok{};
  return Error{Code::kInvalidArgument, "the job was not taken: " + std::string(Trim(said))};
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

std::string Words(const Error& error) {
  std::string words = error.message;
  for (const FieldViolation& violation : error.violations) {
    words += "\n  " + violation.field + ": " + violation.description;
  }
  return words;
}

}  // namespace

std::map<std::string, std::vector<std::string>> ImagesOf(const Scenario& scenario) {
  auto images = scenario.images;
  std::vector<std::string> command = CommandOf(scenario);
  if (!command.empty()) images[kImage] = std::move(command);
  return images;
}

Status SendJob(const Scenario& scenario, app::Emulator& emulator) {
  if (!scenario.submit.empty()) return SendWords(scenario, emulator);
  const Json job = JobOf(scenario);
  RETURN_IF_ERROR(ml::ParseJob(job));
  const auto sent = emulator.engine().Submit(kProject, job);
  if (sent.ok()) return Ok{};
  return Error{sent.error().code, "the job was not taken: " + Words(sent.error())};
}

Status CheckReplicas(const Scenario& scenario, const ml::Job& job) {
  if (!job.training_input) return Ok{};
  std::vector<std::string> replicas;
  for (const ml::ReplicaPlan& plan : ml::PlanCluster(*job.training_input).replicas) {
    replicas.push_back(harness::ReplicaName(ml::TaskName(plan.id)));
  }
  if (const auto& tuning = job.training_input->hyperparameters) {
    replicas = harness::InTrials(replicas, tuning->max_trials.value_or(1));
  }
  for (const harness::Fault& fault : scenario.faults) {
    const std::string strange = harness::StrangeReplica(fault, replicas);
    if (strange.empty()) continue;
    return Error{Code::kInvalidArgument, "fault '" + fault.name +
                                             "' can never come: the job has no " + strange +
                                             "; it has " + Join(replicas, ", ")};
  }
  return Ok{};
}

}  // namespace caip::play
