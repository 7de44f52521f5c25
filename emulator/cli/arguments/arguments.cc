#include "emulator/cli/arguments/arguments.h"

#include <algorithm>

#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/arguments/grammar.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/print/format_expression.h"

namespace caip::cli {
namespace {

constexpr const char* kFooter =
    R"(
Commands may be written as in gcloud, with `ai-platform` first.

Examples:
  caip serve
  caip buckets create gs://my-bucket
  caip jobs submit training my_job --stream-logs --region us-central1 \
      --module-name trainer.task --package-path trainer \
      --staging-bucket gs://my-bucket --runtime-version 2.11 -- --epochs 3
  caip jobs list
  caip help jobs submit training)";

// Removes the first word if it is one of these.
bool Drop(std::initializer_list<std::string_view> names, std::vector<std::string>& words) {
  if (words.empty() || std::find(names.begin(), names.end(), words[0]) == names.end()) return false;
  words.erase(words.begin());
  return true;
}

// Only for the list of commands: main starts the judge before it parses any argument.
void AddConformCommand(Grammar& grammar) {
  grammar.Leaf(
      grammar.root(), "conform",
      "Tests whether an endpoint behaves like AI Platform Training or Vertex AI (caip conform "
      "--help).",
      "The judge is a program of its own with flags of its own, which `caip conform --help` "
      "lists.\n\n"
      "Examples:\n  caip conform\n  caip conform --endpoint http://127.0.0.1:2247",
      [](const Words&) -> Result<Command> { return Command(PrintCommand{}); });
}

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

Status ParsesAsFormat(const std::string& format) {
  const auto expression = ParseFormat(format);
  return expression.ok() ? Status(Ok{}) : Status(expression.error());
}

// `table` has no columns of its own for predictions.
Status NamesItsKeys(const std::string& format) {
  ASSIGN_OR_RETURN(const FormatExpression expression, ParseFormat(format));
  const bool is_bare = expression.name == "table" && expression.keys.empty();
  return is_bare ? Status(errors::FormatNeedsKeys("table")) : Status(Ok{});
}

// True if what the words ask for has the flags of commands that the words do not name.
bool ShowsOtherCommands(const std::vector<std::string>& words) {
  constexpr std::string_view kShowing[] = {"help", "completion", "__complete", "--help", "-h"};
  return words.empty() || std::find_first_of(words.begin(), words.end(), std::begin(kShowing),
                                             std::end(kShowing)) != words.end();
}

}  // namespace

std::vector<std::string> DoctorFormats() { return {"json", "text"}; }

Command ParseArguments(const std::vector<std::string>& words) {
  GcloudFlags gcloud;
  Grammar grammar = ShowsOtherCommands(words) ? Grammar() : Grammar(words);
  std::vector<std::string> own = words;  // without those of `gcloud beta ai-platform`
  grammar.SetTrack(Drop({"alpha", "beta"}, own));
  Drop({"ai-platform", "ml-engine"}, own);
  grammar.Footer(kFooter);
  CLI::App& jobs = grammar.Group(grammar.root(), "jobs", "Submits, shows and stops training jobs.");
  AddSubmitCommand(grammar, jobs, gcloud);
  AddJobsCommands(grammar, jobs, gcloud);
  AddAiCommands(grammar, gcloud);
  AddMigrateCommand(grammar, gcloud);
  AddLocalCommands(grammar, gcloud);
  AddServerCommands(grammar, gcloud);
  AddStorageCommands(grammar, gcloud);
  AddImagesCommands(grammar, gcloud);
  AddRuntimesCommands(grammar, gcloud);
  AddStateCommands(grammar, gcloud);
  AddVersionCommand(grammar);
  AddScenarioCommands(grammar);
  AddCheckCommand(grammar, gcloud);
  AddSimulateCommand(grammar);
  AddConformCommand(grammar);
  AddHelpCommands(grammar);
  AddGcloudFlags(grammar, &gcloud);
  if (!own.empty() && own.front() == "__complete") {
    return CompleteCommand{grammar.Shape(), {own.begin() + 1, own.end()}};
  }
  grammar.Check([&gcloud](const Command& command) { return CheckFormat(command, gcloud); });
  return grammar.Parse(own);
}

Result<scenario::JobWords> ReadJobWords(const harness::JobKind& kind,
                                        const std::vector<std::string>& words) {
  const bool is_training = &kind == &harness::TrainingJobs();
  const bool is_custom = &kind == &harness::CustomJobs();
  const std::string group = is_custom ? "custom-jobs" : "hp-tuning-jobs";
  std::vector<std::string> line = {"ai", group, "create", "--display-name=scenario"};
  if (is_training) line = {"beta", "jobs", "submit", "training", "job"};
  line.insert(line.end(), words.begin(), words.end());
  Command command = ParseArguments(line);
  if (auto* submit = std::get_if<SubmitCommand>(&command)) {
    submit->request.gcloud = submit->gcloud;
    submit->request.package_cache = app::StateDirectory(submit->emulator) / "sdists";
    return scenario::JobWords{std::move(submit->request), std::move(submit->emulator)};
  }
  if (auto* create = std::get_if<CustomJobCreateCommand>(&command)) {
    create->request.gcloud = create->gcloud;
    return scenario::JobWords{std::move(create->request), std::move(create->emulator)};
  }
  if (auto* create = std::get_if<TuningJobCreateCommand>(&command)) {
    create->request.gcloud = create->gcloud;
    return scenario::JobWords{std::move(create->request), std::move(create->emulator)};
  }
  const auto* print = std::get_if<PrintCommand>(&command);
  return errors::JobWordsRefused(print ? print->err : "",
                                 is_training ? "jobs.submit.training" : "ai." + group + ".create");
}

Result<SubmitCommand> ReadSubmitLine(std::vector<std::string> words) {
  Drop({"gcloud", "caip"}, words);
  Command command = ParseArguments(words);
  if (auto* submit = std::get_if<SubmitCommand>(&command)) return std::move(*submit);
  const auto* print = std::get_if<PrintCommand>(&command);
  const bool is_refused = print != nullptr && !print->err.empty();
  return is_refused ? errors::JobWordsRefused(print->err, "jobs.submit.training")
                    : errors::NoSubmitLine();
}

Status CheckFormat(const Command& command, const GcloudFlags& gcloud) {
  if (!gcloud.format) return Ok{};
  const std::string& format = *gcloud.format;
  const auto resource = [&](const auto&) { return ParsesAsFormat(format); };
  return std::visit(
      Overloaded{[&](const SubmitCommand& submit) { return resource(submit); },
                 [&](const DescribeCommand& describe) { return resource(describe); },
                 [&](const ListCommand& list) { return resource(list); },
                 [&](const CancelCommand& cancel) { return resource(cancel); },
                 [&](const UpdateCommand& update) { return resource(update); },
                 [&](const TrialsCommand& trials) { return resource(trials); },
                 [&](const CustomJobCreateCommand& create) { return resource(create); },
                 [&](const TuningJobCreateCommand& create) { return resource(create); },
                 [&](const AiDescribeCommand& describe) { return resource(describe); },
                 [&](const AiListCommand& list) { return resource(list); },
                 [&](const AiCancelCommand& cancel) { return resource(cancel); },
                 [&](const ImagesListCommand& list) { return resource(list); },
                 [&](const RuntimesListCommand& list) { return resource(list); },
                 [&](const PsCommand& ps) { return resource(ps); },
                 [&](const LocalPredictCommand&) { return NamesItsKeys(format); },
                 [&](const DoctorCommand&) -> Status {
                   const std::vector<std::string> known = DoctorFormats();
                   if (std::find(known.begin(), known.end(), format) != known.end()) return Ok{};
                   return errors::Argument("--format", errors::NoSuchChoice(format, known));
                 },
                 [](const EnvCommand&) -> Status { return Ok{}; },  // has its own formats
                 [](const HelpCommand&) -> Status { return Ok{}; },
                 [](const CompleteCommand&) -> Status { return Ok{}; },
                 [](const PrintCommand&) -> Status { return Ok{}; },
                 [](const auto&) -> Status { return errors::FormatNotTaken(); }},
      command);
}

}  // namespace caip::cli
