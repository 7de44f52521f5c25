// `local predict`: runs the model of a built-in algorithm, as gcloud's command of that name does.

#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "base/text.h"
#include "emulator/app/attach/connect.h"
#include "emulator/app/built_in_images.h"
#include "emulator/app/settings/options.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/local_train/process.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/resource_text.h"
#include "emulator/cli/storage/bucket_files.h"
#include "emulator/cli/storage/copy_plan.h"
#include "emulator/cli/storage/local_files.h"

namespace caip::cli {
namespace {

using google::GcsUri;

// gcloud prints it whatever the framework is.
constexpr const char* kSignatureNote =
    "If the signature defined in the model is not serving_default then you must specify it via "
    "--signature-name flag, otherwise the command may fail.\n";
constexpr const char* kMetadataFile = "artifacts/metadata.json";  // beside the model's directory

Status CopyToFile(BucketFiles& files, const GcsUri& from, const Path& to) {
  return FillFile(to, [&](const auto& take) { return files.Read(from, take); });
}

/// Copies the model and its description below `directory`, and returns the copy of the model. The
/// program that predicts needs no access to the emulator then, which may want a token.
Result<Path> FetchModel(BucketFiles& files, GcsUri model, const Path& directory) {
  while (model.object.ends_with('/')) model.object.pop_back();
  const size_t slash = model.object.rfind('/');
  const std::string parent = slash == std::string::npos ? "" : model.object.substr(0, slash + 1);
  const Path copy = directory / Path(model.object.substr(parent.size())).filename();
  ASSIGN_OR_RETURN(const std::vector<Copy> copies, PlanCopies(files, {model}, directory, true));
  for (const Copy& one : copies) {
    RETURN_IF_ERROR(CopyToFile(files, std::get<GcsUri>(one.from), std::get<Path>(one.to)));
  }
  const GcsUri metadata{model.bucket, parent + kMetadataFile};
  ASSIGN_OR_RETURN(const auto found, files.Find(metadata));
  if (found) RETURN_IF_ERROR(CopyToFile(files, metadata, directory / kMetadataFile));
  return copy;
}

void AddFlag(std::vector<std::string>& argv, const char* name,
             const std::optional<std::string>& value) {
  if (value) argv.push_back(std::string(name) + "=" + *value);
}

Result<LocalProcess> Predictor(const LocalPredictCommand& command, const std::string& model_dir) {
  const Path state = app::StateDirectory(command.emulator);
  ASSIGN_OR_RETURN(const app::EmulatorOptions options, app::ReadOptions(command.emulator, state));
  const app::BuiltInImages images{state, options.python, options.runtimes, host::OwnEnvironment()};
  LocalProcess process;
  ASSIGN_OR_RETURN(process.argv, images.Command("predict"));
  AddFlag(process.argv, "--model-dir", model_dir);
  AddFlag(process.argv, "--shown-as", command.model_dir);
  AddFlag(process.argv, "--framework", command.framework);
  AddFlag(process.argv, "--signature-name", command.signature_name);
  AddFlag(process.argv, "--json-request", command.json_request);
  AddFlag(process.argv, "--json-instances", command.json_instances);
  AddFlag(process.argv, "--text-instances", command.text_instances);
  process.variable = {"TF_CPP_MIN_LOG_LEVEL", "2"};  // TensorFlow's notes about the processor
  std::error_code error;
  process.directory = std::filesystem::current_path(error).string();
  return process;
}

/// What the process wrote to its standard output, and its exit code.
struct Predicted {
  int exit_code = 0;
  std::string text;
};

Result<Predicted> RunPredictor(LocalProcess process) {
  ASSIGN_OR_RETURN(Pipe pipe, MakeLocalPipe());
  process.output = pipe.writes.get();
  ASSIGN_OR_RETURN(const int pid, StartLocalProcess(process));
  pipe.writes.Close();
  Predicted predicted;
  predicted.text = ReadLocalPipe(pipe.reads.get());
  predicted.exit_code = WaitForLocalProcess(pid);
  return predicted;
}

/// gcloud's format where the command line has none (command_lib/ml_engine/predict_utilities.py).
Result<std::string> PredictionTable(const Json& predictions) {
  if (!predictions.front().is_object()) return FormatPlainResources(predictions, "yaml");
  std::vector<std::string> names;
  for (const auto& [name, value] : predictions.front().items()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return FormatPlainResources(predictions, "table(" + Join(names, ", ") + ")");
}

Result<std::string> PredictionText(const Json& results, const std::optional<std::string>& format) {
  if (format) return FormatResource(results, *format);
  const Json* predictions = Member(results, "predictions");
  if (!predictions || predictions->empty()) return FormatResource(results, "json");
  return PredictionTable(*predictions);
}

Result<int> Predict(const LocalPredictCommand& command, const Surroundings& world) {
  std::string model_dir = command.model_dir;
  ASSIGN_OR_RETURN(const TemporaryDirectory directory, TemporaryDirectory::Make("caip-model-"));
  if (const auto model = google::SplitGcsUri(model_dir)) {
    ASSIGN_OR_RETURN(const auto connection,
                     world.connect(command.emulator, app::Lifetime::kBriefly));
    BucketFiles files(*connection);
    ASSIGN_OR_RETURN(const Path copy, FetchModel(files, *model, directory.path()));
    model_dir = copy.string();
  }
  ASSIGN_OR_RETURN(LocalProcess process, Predictor(command, model_dir));
  ASSIGN_OR_RETURN(const Predicted predicted, RunPredictor(std::move(process)));
  if (predicted.exit_code != 0) return predicted.exit_code;
  ASSIGN_OR_RETURN(const Json results, ParseJson(predicted.text));
  ASSIGN_OR_RETURN(const std::string text, PredictionText(results, command.gcloud.format));
  world.io.out(text);
  return kExitSuccess;
}

}  // namespace

int RunLocalPredict(const LocalPredictCommand& command, const Surroundings& world) {
  if (!command.signature_name) world.io.err(kSignatureNote);
  const Result<int> code = Predict(command, world);
  return code.ok() ? *code : Fail(world.io, "local.predict", code.error());
}

}  // namespace caip::cli
