#include "emulator/cli/arguments/arguments.h"

#include <algorithm>

#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/arguments/grammar.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

constexpr const char* kFooter =
    R"(
Commands may be written as for gcloud, with `ai-platform` in front.

Examples:
  caip serve
  caip buckets create gs://my-bucket
  caip jobs submit training my_job --region us-central1 --module-name trainer.task \
      --package-path trainer --staging-bucket gs://my-bucket --stream-logs -- --epochs 3
  caip jobs list
  caip COMMAND --help)";

// `gcloud beta ai-platform jobs ...`: the release track and the product say nothing here.
std::vector<std::string> WithoutProduct(std::vector<std::string> words) {
  const auto drop = [&](std::initializer_list<std::string_view> names) {
    if (!words.empty() && std::find(names.begin(), names.end(), words[0]) != names.end()) {
      words.erase(words.begin());
    }
  };
  drop({"alpha", "beta"});
  drop({"ai-platform", "ml-engine"});
  return words;
}

// Only for the list of commands: main hands `conform` on before any word is read.
void AddConformCommand(Grammar& grammar) {
  grammar.Leaf(grammar.root(), "conform",
               "Judges whether an endpoint is AI Platform Training (caip conform --help).",
               "Examples:\n  caip conform\n  caip conform --endpoint http://127.0.0.1:2247",
               [](const Words&) -> Result<Command> { return Command(PrintCommand{}); });
}

}  // namespace

Command ParseArguments(const std::vector<std::string>& words) {
  GcloudFlags gcloud;
  Grammar grammar;
  grammar.Footer(kFooter);
  CLI::App& jobs = grammar.Group(grammar.root(), "jobs", "Submits, shows and stops training jobs.");
  AddSubmitCommand(grammar, jobs, gcloud);
  AddJobsCommands(grammar, jobs, gcloud);
  AddLocalCommands(grammar, gcloud);
  AddServerCommands(grammar, gcloud);
  AddScenarioCommands(grammar);
  AddCheckCommand(grammar, gcloud);
  AddSimulateCommand(grammar);
  AddConformCommand(grammar);
  AddHelpCommands(grammar);
  AddGcloudFlags(grammar, &gcloud);
  grammar.Check([&gcloud](const Command& command) { return CheckFormat(command, gcloud); });
  return grammar.Parse(WithoutProduct(words));
}

Result<client::SubmitRequest> ReadSubmitWords(const std::vector<std::string>& words) {
  std::vector<std::string> line = {"jobs", "submit", "training", "job"};
  line.insert(line.end(), words.begin(), words.end());
  Command command = ParseArguments(line);
  auto* submit = std::get_if<SubmitCommand>(&command);
  if (!submit) {
    const auto* print = std::get_if<PrintCommand>(&command);
    return errors::SubmitWordsRefused(print ? print->err : "");
  }
  submit->request.gcloud = submit->gcloud;
  submit->request.package_cache = app::StateDirectory(submit->emulator) / "sdists";
  return std::move(submit->request);
}

}  // namespace caip::cli
