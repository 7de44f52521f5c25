// The flags of `ai custom-jobs` and `ai hp-tuning-jobs`: gcloud's, and those of `jobs submit` that
// gcloud does not have.

#include "base/text.h"
#include "client/flag_values.h"
#include "client/vertex/gcloud_messages.h"
#include "client/vertex/job_name.h"
#include "client/vertex/vertex_errors.h"
#include "client/vertex/worker_pools.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

namespace vertex = client::vertex;
using AiKind = Values::Kind;
using vertex::JobKind;

constexpr const char* kCustomJobFooter =
    R"(The file of --config is a CustomJobSpec. Flags override it, and --worker-pool-spec replaces
all of its pools. --strict reports what gcloud ignores silently.

Examples:
  Run a container on one machine:
    caip ai custom-jobs create --region us-central1 --display-name digits \
        --worker-pool-spec machine-type=n1-standard-4,container-image-uri=I \
        --args=--epochs=3
  Only print the CustomJob, of a file and a label:
    caip ai custom-jobs create --region us-central1 --display-name digits \
        --config spec.yaml --labels team=vision --dry-run)";

constexpr const char* kTuningJobFooter =
    R"(The file of --config is a HyperparameterTuningJob. Flags override it. A count is that of its
flag, else that of the file, else 1.

Examples:
  caip ai hp-tuning-jobs create --region us-central1 --display-name study \
      --config tuning.yaml
  caip ai hp-tuning-jobs create --region us-central1 --display-name study \
      --config tuning.yaml --max-trial-count 8 --dry-run)";

void AddRegion(Grammar& grammar, CLI::App& app, std::optional<std::string>* into) {
  grammar.Flag(app, "--region", "REGION",
               "Region of the job (default: $CLOUDSDK_AI_REGION, else gcloud's ai/region).",
               To(into));
  grammar.Suggest(app, "--region", {.kind = AiKind::kWords, .words = vertex::TrainingRegions});
}

Grammar::Setter ToWords(std::vector<std::string>* into) {
  return [into](const std::string& value) -> Status {
    ASSIGN_OR_RETURN(const auto words, client::ParseList(value));
    return vertex::AddWords(words, *into);
  };
}

// A label that two flags give is an error, as in gcloud.
Grammar::Setter ToLabels(std::optional<std::map<std::string, std::string>>* into) {
  return [into](const std::string& value) -> Status {
    ASSIGN_OR_RETURN(const auto labels, client::ParseLabels(value));
    if (!*into) into->emplace();
    for (const auto& [key, label] : labels) {
      if ((*into)->contains(key)) return errors::GivenTwice(key, (**into)[key], label);
      (**into)[key] = label;
    }
    return Ok{};
  };
}

Grammar::Setter ToAtLeastOne(std::optional<int64_t>* into) {
  return [into](const std::string& value) -> Status {
    ASSIGN_OR_RETURN(*into, client::ParseCount(value));
    return Ok{};
  };
}

void AddAccessSwitches(Grammar& grammar, CLI::App& app, vertex::JobFlags* flags) {
  grammar.Switch(app, "--enable-web-access", "Offer shells on the replicas (webAccessUris).",
                 [flags](bool on) { flags->enable_web_access = on; });
  grammar.Switch(app, "--enable-dashboard-access", "Offer dashboards on the replicas.",
                 [flags](bool on) { flags->enable_dashboard_access = on; });
}

// The flags that both kinds of jobs have.
void AddCommonFlags(Grammar& grammar, CLI::App& app, vertex::JobFlags* flags,
                    vertex::CreateRequest* request) {
  AddRegion(grammar, app, &request->region);
  grammar.Flag(app, "--labels", "KEY=VALUE,...", "Labels of the job.", ToLabels(&flags->labels));
  grammar.Heading("Flags of account, network and key");
  grammar.Flag(app, "--service-account", "ACCOUNT", "Account the trainer runs as.",
               [flags](const std::string& value) -> Status {
                 RETURN_IF_ERROR(client::CheckServiceAccount(value));
                 flags->service_account = value;
                 return Ok{};
               });
  grammar.Flag(app, "--network", "NETWORK", "VPC network the job is peered with.",
               To(&flags->network));
  AddAccessSwitches(grammar, app, flags);
  AddKmsFlags(grammar, app, &request->kms);
  grammar.Heading(std::string(kMainFlags));
}

void AddCreateOptions(Grammar& grammar, CLI::App& app, AiCreateOptions* options, bool* strict) {
  grammar.Heading("Flags that gcloud does not have");
  grammar.Switch(app, "--dry-run", "Print the job that would be sent, as JSON; do nothing else.",
                 &options->dry_run);
  grammar.Switch(app, "--validate-only",
                 "Like --dry-run, and also check the job by the service's rules.",
                 &options->validate_only);
  grammar.Switch(app, "--strict",
                 "Reject what gcloud ignores silently: dropped flags and fields, and unknown keys "
                 "of the file.",
                 strict);
  grammar.Heading(std::string(kMainFlags));
  AddEmulatorFlags(grammar, app, &options->emulator);
}

void AddCustomJobFlags(Grammar& grammar, CLI::App& app, vertex::CustomJobRequest* request) {
  vertex::CustomJobFlags& flags = request->flags;
  grammar.RequiredFlag(app, "--display-name", "NAME", "Name of the job, for people.",
                       To(&flags.display_name));
  grammar.Flag(app, "--worker-pool-spec", "KEY=VALUE,...",
               "A worker pool; repeatable. Keys: " + Join(vertex::PoolKeys(), ", ") +
                   ". An empty value keeps the place of a pool.",
               [pools = &flags.pools](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(vertex::PoolFlag pool, vertex::ParsePoolFlag(value));
                 pools->push_back(std::move(pool));
                 return Ok{};
               });
  grammar.Flag(app, "--config", "FILE", "A CustomJobSpec in YAML or JSON; flags override it.",
               To(&request->config));
  grammar.Flag(app, "--python-package-uris", "URI,...",
               "Packages (gs://) of each pool of --worker-pool-spec with an executor image.",
               [uris = &flags.python_package_uris](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(*uris, client::ParseList(value));
                 return Ok{};
               });
  grammar.Suggest(app, "--python-package-uris", {.kind = AiKind::kObjects, .is_list = true});
  grammar.Flag(app, "--args", "ARG,...", "Arguments of the trainer, in each pool.",
               ToWords(&flags.args));
  grammar.Flag(app, "--command", "WORD,...", "Replaces the entry point of each container.",
               ToWords(&flags.command));
  grammar.Flag(app, "--persistent-resource-id", "ID", "Persistent resource the job runs on.",
               To(&flags.persistent_resource_id));
  AddCommonFlags(grammar, app, &flags, request);
}

void AddTuningJobFlags(Grammar& grammar, CLI::App& app, vertex::TuningJobRequest* request) {
  vertex::TuningJobFlags& flags = request->flags;
  grammar.RequiredFlag(app, "--display-name", "NAME", "Name of the job, for people.",
                       To(&flags.display_name));
  grammar.RequiredFlag(app, "--config", "FILE",
                       "A HyperparameterTuningJob in YAML or JSON; flags override it.",
                       To(&request->config));
  grammar.Flag(app, "--max-trial-count", "N", "Number of trials (default: the file's, else 1).",
               ToInteger(&flags.max_trial_count));
  grammar.Flag(app, "--parallel-trial-count", "N",
               "Number of trials at the same time (default: the file's, else 1).",
               ToInteger(&flags.parallel_trial_count));
  grammar.Flag(app, "--algorithm", "ALGORITHM", Join(vertex::AlgorithmChoices(), ", ") + ".",
               [&flags](const std::string& value) -> Status {
                 flags.algorithm = vertex::AlgorithmOfChoice(value);
                 if (!flags.algorithm->empty()) return Ok{};
                 return errors::NoSuchChoice(value, vertex::AlgorithmChoices());
               });
  grammar.Suggest(app, "--algorithm", {.kind = AiKind::kWords, .words = vertex::AlgorithmChoices});
  AddCommonFlags(grammar, app, &flags, request);
}

void AddCustomJobCreate(Grammar& grammar, CLI::App& group, const GcloudFlags& gcloud) {
  const auto create = std::make_shared<CustomJobCreateCommand>();
  const auto finish = [create, &gcloud](const Words&) -> Result<Command> {
    if (!create->request.config && create->request.flags.pools.empty()) {
      return errors::Argument("(--config --worker-pool-spec)", errors::MustBeSpecified());
    }
    RETURN_IF_ERROR(CheckKmsFlags(create->request.kms));
    create->gcloud = gcloud;
    return Command(*create);
  };
  CLI::App& app = grammar.Leaf(group, "create", "Creates a custom job.", kCustomJobFooter, finish);
  AddCustomJobFlags(grammar, app, &create->request);
  AddCreateOptions(grammar, app, create.get(), &create->request.strict);
}

void AddTuningJobCreate(Grammar& grammar, CLI::App& group, const GcloudFlags& gcloud) {
  const auto create = std::make_shared<TuningJobCreateCommand>();
  const auto finish = [create, &gcloud](const Words&) -> Result<Command> {
    RETURN_IF_ERROR(CheckKmsFlags(create->request.kms));
    create->gcloud = gcloud;
    return Command(*create);
  };
  CLI::App& app = grammar.Leaf(group, "create", "Creates a hyperparameter tuning job.",
                               kTuningJobFooter, finish);
  AddTuningJobFlags(grammar, app, &create->request);
  AddCreateOptions(grammar, app, create.get(), &create->request.strict);
}

constexpr size_t kExampleColumns = 80;

// "Examples:" and each command line after the name of the command, broken before its last flag if
// it is too long.
std::string AiExamples(JobKind kind, std::initializer_list<const char*> lines) {
  std::string text = "Examples:";
  for (const char* line : lines) {
    std::string example = "  caip ai " + std::string(vertex::WordsOf(kind).command) + " " + line;
    if (example.size() > kExampleColumns) example.insert(example.rfind(" --") + 1, "\\\n      ");
    text += "\n" + example;
  }
  return text;
}

// Adds a command on one job. The caller adds the flags of its own.
template <typename T>
CLI::App& AddJobCommand(Grammar& grammar, CLI::App& group, JobKind kind, const char* name,
                        const std::string& description, std::initializer_list<const char*> examples,
                        const std::shared_ptr<T>& command, const GcloudFlags& gcloud) {
  command->kind = kind;
  CLI::App& app = grammar.Leaf(group, name, description, AiExamples(kind, examples),
                               FinishWith(command, gcloud));
  grammar.Positional(app, UpperCase(vertex::WordsOf(kind).argument),
                     "ID of the job, or its full name: projects/P/locations/R/" +
                         std::string(vertex::WordsOf(kind).collection) + "/ID.",
                     To(&command->job));
  grammar.Suggest(
      app, UpperCase(vertex::WordsOf(kind).argument),
      {.kind = kind == JobKind::kCustomJob ? AiKind::kCustomJobs : AiKind::kTuningJobs});
  AddRegion(grammar, app, &command->region);
  return app;
}

void AddAiDescribe(Grammar& grammar, CLI::App& group, JobKind kind, const GcloudFlags& gcloud) {
  const auto describe = std::make_shared<AiDescribeCommand>();
  const std::string noun(vertex::WordsOf(kind).noun);
  CLI::App& app = AddJobCommand(grammar, group, kind, "describe", "Shows a " + noun + ".",
                                {"describe 123 --region us-central1",
                                 "describe 123 --region us-central1 --format 'value(state)'"},
                                describe, gcloud);
  AddEmulatorFlags(grammar, app, &describe->emulator);
}

void AddAiCancel(Grammar& grammar, CLI::App& group, JobKind kind, const GcloudFlags& gcloud) {
  const auto cancel = std::make_shared<AiCancelCommand>();
  const std::string noun(vertex::WordsOf(kind).noun);
  CLI::App& app = AddJobCommand(grammar, group, kind, "cancel",
                                "Cancels a " + noun + ". A job that has ended stays unchanged.",
                                {"cancel 123 --region us-central1"}, cancel, gcloud);
  AddEmulatorFlags(grammar, app, &cancel->emulator);
}

void AddAiStreamLogs(Grammar& grammar, CLI::App& group, JobKind kind, const GcloudFlags& gcloud) {
  const auto stream = std::make_shared<AiStreamLogsCommand>();
  const std::string noun(vertex::WordsOf(kind).noun);
  CLI::App& app =
      AddJobCommand(grammar, group, kind, "stream-logs",
                    "Shows the log of a " + noun + " from its start until the job ends.",
                    {"stream-logs 123 --region us-central1",
                     "stream-logs 123 --region us-central1 --task-name workerpool0-0"},
                    stream, gcloud);
  grammar.Flag(app, "--polling-interval", "SECONDS",
               "Accepted as in gcloud. caip always shows lines at once.",
               [stream](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const std::optional<int64_t> seconds, client::ParseCount(value));
                 if (seconds) stream->polling_interval = *seconds;
                 return Ok{};
               });
  grammar.Flag(app, "--task-name", "TASK", "Show only the lines of this replica.",
               To(&stream->task_name));
  grammar.Switch(app, "--allow-multiline-logs", "Keep messages of several lines in one row.",
                 &stream->allow_multiline_logs);
  AddEmulatorFlags(grammar, app, &stream->emulator);
}

void AddAiList(Grammar& grammar, CLI::App& group, JobKind kind, const GcloudFlags& gcloud) {
  const auto list = std::make_shared<AiListCommand>();
  list->kind = kind;
  CLI::App& app = grammar.Leaf(
      group, "list", "Lists the " + std::string(vertex::WordsOf(kind).noun) + "s of a region.",
      AiExamples(kind, {"list --region us-central1",
                        "list --region us-central1 --limit 5 --format 'table(name,state)'",
                        "list --region us-central1 --filter 'state=\"JOB_STATE_FAILED\"'"}),
      FinishWith(list, gcloud));
  AddRegion(grammar, app, &list->region);
  grammar.Flag(app, "--filter", "EXPRESSION", "List only the jobs that match.", To(&list->filter));
  grammar.Flag(app, "--limit", "N", "Maximum number of jobs.", ToAtLeastOne(&list->limit));
  grammar.Flag(app, "--page-size", "N", "Number of jobs on a page of a table.",
               ToAtLeastOne(&list->page_size));
  grammar.Flag(app, "--sort-by", "FIELD,...",
               "Sort by these fields; ~FIELD sorts in descending order.",
               [list](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(list->sort_by, client::ParseList(value));
                 return Ok{};
               });
  grammar.Switch(app, "--uri", "Print the URIs of the jobs instead.", &list->uri);
  AddEmulatorFlags(grammar, app, &list->emulator);
}

void AddKindCommands(Grammar& grammar, CLI::App& group, JobKind kind, const GcloudFlags& gcloud) {
  AddAiDescribe(grammar, group, kind, gcloud);
  AddAiList(grammar, group, kind, gcloud);
  AddAiCancel(grammar, group, kind, gcloud);
  AddAiStreamLogs(grammar, group, kind, gcloud);
}

}  // namespace

void AddAiCommands(Grammar& grammar, const GcloudFlags& gcloud) {
  CLI::App& ai = grammar.Group(grammar.root(), "ai", "Creates, shows and stops jobs of Vertex AI.");
  CLI::App& custom =
      grammar.Group(ai, "custom-jobs", "Creates, shows and stops custom jobs of Vertex AI.");
  AddCustomJobCreate(grammar, custom, gcloud);
  AddKindCommands(grammar, custom, JobKind::kCustomJob, gcloud);
  AddAiLocalRun(grammar, custom, gcloud);
  CLI::App& tuning = grammar.Group(
      ai, "hp-tuning-jobs", "Creates, shows and stops hyperparameter tuning jobs of Vertex AI.");
  AddTuningJobCreate(grammar, tuning, gcloud);
  AddKindCommands(grammar, tuning, JobKind::kTuningJob, gcloud);
}

}  // namespace caip::cli
