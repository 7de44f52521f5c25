// The flags of `migrate`, which gcloud does not have.

#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

constexpr const char* kMigrateFooter =
    R"(Prints the job as `ai custom-jobs create --config` or `ai hp-tuning-jobs create --config`
takes it. The standard error lists what differs for the trainer, and the command that creates
the job. A job without a counterpart is refused with all reasons.

FILE is a whole Job, as `jobs describe` and `jobs submit training --dry-run` print it.

Examples:
  A Job in a file:
    caip migrate training.yaml > spec.yaml
  The words of the command that submitted a job:
    caip migrate -- caip jobs submit training my_job --region us-central1 \
        --packages gs://my-bucket/trainer-0.1.tar.gz \
        --module-name trainer.task --runtime-version 2.11 -- --epochs 3
  The command that creates the job:
    caip migrate training.yaml --as-command)";

}  // namespace

void AddMigrateCommand(Grammar& grammar, const GcloudFlags& gcloud) {
  const auto migrate = std::make_shared<MigrateCommand>();
  const auto files = std::make_shared<std::vector<std::string>>();
  const auto finish = [migrate, files, &gcloud](const Words& words) -> Result<Command> {
    if (words.user_args) migrate->words = *words.user_args;
    const size_t sources = files->size() + (migrate->words.empty() ? 0 : 1);
    if (sources != 1) return errors::OneJobToMigrate();
    if (!files->empty()) migrate->file = files->front();
    if (migrate->stage && migrate->file) return errors::StageNeedsWords();
    migrate->gcloud = gcloud;
    return Command(*migrate);
  };
  CLI::App& app = grammar.Leaf(grammar.root(), "migrate",
                               "Prints the job of Vertex AI that means the same as a training job.",
                               kMigrateFooter, finish);
  grammar.TakesUserArgs(app, errors::SubmitLineAfterBar());
  grammar.OptionalWords(app, "FILE", "A Job in YAML or JSON. `-` is the standard input.",
                        Append(files.get()));
  grammar.Suggest(app, "FILE", {.kind = Values::Kind::kFiles});
  grammar.Flag(app, "--executor-image-uri", "URI",
               "Image that runs the packages (default: the pre-built container of the runtime "
               "version).",
               To(&migrate->executor_image));
  grammar.Switch(app, "--as-command", "Print a shell command that creates the job.",
                 &migrate->as_command);
  grammar.Switch(app, "--stage",
                 "Upload the packages of the words to their bucket, as `jobs submit` does.",
                 &migrate->stage);
}

}  // namespace caip::cli
