// The flags of `local train`.

#include "client/flag_values.h"
#include "emulator/cli/arguments/definitions.h"

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

Grammar::Setter ToInteger(std::optional<int64_t>* into) {
  return [into](const std::string& value) -> Status {
    ASSIGN_OR_RETURN(*into, client::ParseInteger(value));
    return Ok{};
  };
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
}

}  // namespace caip::cli
