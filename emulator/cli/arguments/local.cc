// The flags of `local train` and `local predict`.

#include <algorithm>

#include "base/text.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

constexpr const char* kLocalFooter =
    R"(Runs `python -m MODULE` in the parent folder of --package-path, with TF_CONFIG set. The
Python is $CLOUDSDK_ML_ENGINE_LOCAL_PYTHON, gcloud's ml_engine/local_python, or the first one on
PATH. The command needs no server and no packages. Its exit code is the program's.

Examples:
  caip local train --module-name trainer.task --package-path ./trainer \
      -- --epochs 1
  caip local train --module-name trainer.task --package-path ./trainer \
      --distributed --worker-count 4 --parameter-server-count 1 --job-dir out)";

constexpr const char* kPredictFooter =
    R"(Prints the predictions of a model that a built-in algorithm has written, as a table or by
--format. Exactly one file of instances is needed. An instance is a line:
{"csv_row": "FEATURES", "key": "TEXT"}, or the text of the row alone. The features are those of
the training data without the target, separated by commas. An instance of an image model is
{"image_bytes": {"b64": "BYTES"}, "key": "TEXT"}.

Examples:
  caip local predict --model-dir gs://my-bucket/census/model \
      --json-instances instances.json)";

const std::vector<std::string>& PredictionFrameworks() {
  static const std::vector<std::string> names = {"scikit-learn", "tensorflow", "xgboost"};
  return names;
}

Status CheckOneFile(const LocalPredictCommand& command) {
  std::vector<std::string> given;
  if (command.json_instances) given.push_back("--json-instances");
  if (command.json_request) given.push_back("--json-request");
  if (command.text_instances) given.push_back("--text-instances");
  if (given.size() == 1) return Ok{};
  const Error error =
      errors::ExactlyOneOf({"--json-instances", "--json-request", "--text-instances"});
  return given.empty() ? error : errors::Argument(given.front(), error);
}

void AddInstanceFlags(Grammar& grammar, CLI::App& app, LocalPredictCommand* predict) {
  grammar.Flag(app, "--json-request", "FILE",
               "The body of a request, {\"instances\": [...]}; - is the input.",
               To(&predict->json_request));
  grammar.Flag(app, "--json-instances", "FILE", "Instances as JSON, one a line; - is the input.",
               To(&predict->json_instances));
  grammar.Flag(app, "--text-instances", "FILE", "Instances as rows, one a line; - is the input.",
               To(&predict->text_instances));
}

void AddLocalPredict(Grammar& grammar, CLI::App& local, const GcloudFlags& gcloud) {
  const auto predict = std::make_shared<LocalPredictCommand>();
  const auto finish = [=, &gcloud](const Words&) -> Result<Command> {
    RETURN_IF_ERROR(CheckOneFile(*predict));
    predict->gcloud = gcloud;
    return Command(*predict);
  };
  CLI::App& app = grammar.Leaf(local, "predict", "Runs the model of a built-in algorithm.",
                               kPredictFooter, finish);
  grammar.RequiredFlag(app, "--model-dir", "DIR",
                       "Directory of the model: a path, or gs://bucket/job/model.",
                       To(&predict->model_dir));
  AddInstanceFlags(grammar, app, predict.get());
  grammar.Flag(app, "--framework", Join(PredictionFrameworks(), "|"),
               "Framework of the model (default: that of its files).",
               [predict](const std::string& value) -> Status {
                 const auto& all = PredictionFrameworks();
                 if (std::find(all.begin(), all.end(), value) == all.end()) {
                   return errors::NoSuchChoice(value, all);
                 }
                 predict->framework = value;
                 return Ok{};
               });
  grammar.Flag(app, "--signature-name", "NAME",
               "Signature of a SavedModel (default: serving_default).",
               To(&predict->signature_name));
  AddEmulatorFlags(grammar, app, &predict->emulator);
}

}  // namespace

void AddLocalCommands(Grammar& grammar, const GcloudFlags& gcloud) {
  const auto train = std::make_shared<LocalTrainCommand>();
  const auto port = std::make_shared<std::optional<int64_t>>();  // held by finish
  const auto finish = [=, &gcloud](const Words& words) -> Result<Command> {
    train->user_args = words.user_args.value_or(std::vector<std::string>());
    train->start_port = port->value_or(train->start_port);
    train->gcloud = gcloud;
    return Command(*train);
  };
  CLI::App& local = grammar.Group(grammar.root(), "local", "Runs trainers without a server.");
  CLI::App& app = grammar.Leaf(
      local, "train", "Runs a training module on this host, without a job.", kLocalFooter, finish);
  grammar.TakesUserArgs(app);
  grammar.RequiredFlag(app, "--module-name", "MODULE", "Python module to run: trainer.task.",
                       To(&train->module_name));
  grammar.Flag(
      app, "--package-path", "DIR",
      "Directory of the package; its parent is the working directory (default: the current "
      "directory).",
      To(&train->package_path));
  grammar.Flag(app, "--job-dir", "DIR", "Passed to the module as --job-dir, after USER_ARGS.",
               To(&train->job_dir));
  grammar.Switch(app, "--distributed", "Run a cluster of processes on localhost.",
                 &train->distributed);
  grammar.Flag(app, "--parameter-server-count", "N", "With --distributed (default: 2).",
               ToInteger(&train->parameter_server_count));
  grammar.Flag(app, "--worker-count", "N", "With --distributed (default: 2).",
               ToInteger(&train->worker_count));
  grammar.Flag(app, "--evaluator-count", "N", "With --distributed (default: 0).",
               ToInteger(&train->evaluator_count));
  grammar.Flag(app, "--start-port", "PORT", "First port of the cluster (default: 27182).",
               ToInteger(port.get()));
  AddLocalPredict(grammar, local, gcloud);
}

}  // namespace caip::cli
