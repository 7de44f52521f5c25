// `local predict`: runs the model of a built-in algorithm, as gcloud's command of that name does.

#include <cstdlib>
#include <filesystem>

#include "emulator/app/attach/connect.h"
#include "emulator/app/built_in_images.h"
#include "emulator/app/settings/options.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/local_train/process.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

bool IsRemote(const std::string& path) { return path.starts_with("gs://"); }

Result<LocalProcess> Predictor(const LocalPredictCommand& command) {
  const Path state = app::StateDirectory(command.emulator);
  ASSIGN_OR_RETURN(const app::EmulatorOptions options, app::ReadOptions(command.emulator, state));
  const app::BuiltInImages images{state, options.python, options.runtimes, host::OwnEnvironment()};
  LocalProcess process;
  ASSIGN_OR_RETURN(process.argv, images.Command("predict"));
  process.argv.push_back("--model-dir=" + command.model_dir);
  if (command.json_instances) process.argv.push_back("--json-instances=" + *command.json_instances);
  if (command.text_instances) process.argv.push_back("--text-instances=" + *command.text_instances);
  std::error_code error;
  process.directory = std::filesystem::current_path(error).string();
  return process;
}

Result<int> Predict(const LocalPredictCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(LocalProcess process, Predictor(command));
  std::unique_ptr<client::Connection> connection;
  if (IsRemote(command.model_dir)) {
    ASSIGN_OR_RETURN(connection, world.connect(command.emulator, app::Lifetime::kBriefly));
    process.variable = {"STORAGE_EMULATOR_HOST", connection->base_url()};
  }
  ASSIGN_OR_RETURN(const int pid, StartLocalProcess(process));
  return WaitForLocalProcess(pid);
}

}  // namespace

int RunLocalPredict(const LocalPredictCommand& command, const Surroundings& world) {
  const Result<int> code = Predict(command, world);
  return code.ok() ? *code : Fail(world.io, "local.predict", code.error());
}

}  // namespace caip::cli
