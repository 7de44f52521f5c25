// The flags of `ai custom-jobs local-run`.

#include "client/flag_values.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

using LocalRunRequest = client::vertex::LocalRunRequest;

constexpr const char* kLocalRunFooter =
    R"(The run is a custom job of one replica: it has the variables of the service, which gcloud's
run does not have. Arguments of the trainer follow `--`.

Examples:
  caip ai custom-jobs local-run --executor-image-uri E --script train.py
  caip ai custom-jobs local-run --executor-image-uri E \
      --local-package-path src --python-module trainer.task -- --epochs 3)";

Grammar::Setter ToLocalRunList(std::vector<std::string>* into) {
  return [into](const std::string& value) -> Status {
    ASSIGN_OR_RETURN(*into, client::ParseList(value));
    return Ok{};
  };
}

void AddProgramFlags(Grammar& grammar, CLI::App& app, LocalRunRequest* request) {
  grammar.RequiredFlag(app, "--executor-image-uri", "URI",
                       "Image that runs the program, or that runs itself without one.",
                       To(&request->executor_image));
  grammar.Flag(app, "--python-module", "MODULE", "Python module to run: trainer.task.",
               To(&request->python_module));
  grammar.Flag(app, "--script", "FILE", "Python file or bash script to run, below the package.",
               To(&request->script));
  grammar.Flag(app, "--local-package-path", "DIR",
               "Directory of the program (default: the current directory).",
               To(&request->package_path));
}

void AddImageFlags(Grammar& grammar, CLI::App& app, LocalRunRequest* request) {
  static std::string unused;  // gcloud has the flag and ignores it, too
  grammar.Flag(app, "--extra-dirs", "DIR,...",
               "More directories of the package. caip shows all of them.",
               ToLocalRunList(&request->extra_dirs));
  grammar.Flag(app, "--extra-packages", "FILE,...",
               "Archives that the program needs. caip does not install them.",
               ToLocalRunList(&request->extra_packages));
  grammar.Flag(app, "--requirements", "PACKAGE,...",
               "Packages of PyPI that the program needs. caip does not install them.",
               ToLocalRunList(&request->requirements));
  grammar.Flag(app, "--output-image-uri", "URI", "Name of the program's image.",
               To(&request->output_image));
  grammar.Switch(app, "--gpu", "Lend a GPU to the run.", &request->gpu);
  grammar.Flag(app, "--service-account-key-file", "FILE",
               "Key file of the run: GOOGLE_APPLICATION_CREDENTIALS.", To(&request->key_file));
  grammar.Flag(app, "--docker-run-options", "OPTION,...", "Ignored: no docker runs.", To(&unused));
}

}  // namespace

void AddAiLocalRun(Grammar& grammar, CLI::App& custom_jobs, const GcloudFlags& gcloud) {
  const auto run = std::make_shared<AiLocalRunCommand>();
  const auto finish = [run, &gcloud](const Words& words) -> Result<Command> {
    if (run->request.python_module && run->request.script) {
      return errors::Argument("--python-module",
                              errors::AtMostOneOf({"--python-module", "--script"}));
    }
    run->request.args = words.user_args.value_or(std::vector<std::string>());
    run->gcloud = gcloud;
    return Command(*run);
  };
  CLI::App& app = grammar.Leaf(custom_jobs, "local-run", "Runs a trainer on this machine.",
                               kLocalRunFooter, finish);
  AddProgramFlags(grammar, app, &run->request);
  AddImageFlags(grammar, app, &run->request);
  grammar.TakesUserArgs(app);
  AddEmulatorFlags(grammar, app, &run->emulator);
}

}  // namespace caip::cli
