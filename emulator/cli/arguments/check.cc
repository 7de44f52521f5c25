// The flags of `check`.

#include "harness/check/check.h"

#include <set>

#include "base/quoting.h"
#include "base/time_text.h"
#include "client/flag_values.h"
#include "emulator/app/settings/settings_table.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"
#include "emulator/explore/explored_command.h"
#include "harness/events/step_reader.h"

namespace caip::cli {
namespace {

constexpr const char* kCheckFooter =
    R"(COMMAND is any program with its arguments, as you type it in a shell. It need not know the
service. JOB_FLAGS describe a job instead. They are gcloud's, of `jobs submit training`, `ai
custom-jobs create` or `ai hp-tuning-jobs create`; --region and --job-dir are optional.
TRAINER_ARGS go to the job's trainer.

The check runs the command, the job, or one trial of it, a few times, each time on its own emulator.
It does not touch your state directory.

Exit codes: 0 no check failed, 1 a check failed, 2 wrong usage or a rejected job, 3 this host cannot
run the checks, 4 caip itself failed, 130 interrupted (the finished checks are reported).

Examples:
  caip check -- python3 train.py --out {job_dir}
  caip check --package-path trainer --module-name trainer.task -- --epochs 2
  caip check --package-path trainer --module-name trainer.task \
      --bucket data=fixtures --junit check.xml \
      -- --data gs://data/train.csv --epochs 2
  caip check --master-image-uri gcr.io/p/t:v1 \
      --map-image gcr.io/p/t:v1='python3 src/task.py'
  caip check --config spec.yaml \
      --map-image gcr.io/p/digits='python3 src/task.py'
  caip check --list)";

using Shared = std::shared_ptr<CheckCommand>;

Result<Duration> ReadDuration(const std::string& value) {
  const auto duration = ParseDuration(value);
  if (duration && *duration > Duration(0)) return *duration;
  return errors::NotADuration(value);
}

template <typename T>
Grammar::Setter ToDuration(T* into) {
  return [into](const std::string& value) -> Status {
    ASSIGN_OR_RETURN(*into, ReadDuration(value));
    return Ok{};
  };
}

Status SetShard(const std::string& value, CheckCommand& check) {
  const size_t slash = value.find('/');
  if (slash != std::string::npos) {
    const auto index = client::ParseInteger(value.substr(0, slash));
    const auto count = client::ParseInteger(value.substr(slash + 1));
    if (index.ok() && count.ok() && *index >= 1 && *index <= *count) {
      check.shard = *index;
      check.shards = *count;
      return Ok{};
    }
  }
  return errors::NotAShard(value);
}

std::vector<std::string> CheckIds() {
  std::vector<std::string> ids;
  for (const harness::CheckKind& kind : harness::CheckKinds()) ids.push_back(kind.id);
  return ids;
}

void AddReportFlags(Grammar& grammar, CLI::App& app, const Shared& check) {
  grammar.Switch(app, "--list", "Print the checks, and run nothing.", &check->list);
  grammar.Flag(app, "--filter", "GLOB", "Run only the checks whose id matches. Repeatable.",
               Append(&check->filters));
  grammar.Suggest(app, "--filter", {.kind = Values::Kind::kWords, .words = CheckIds});
  grammar.Flag(app, "--shard", "I/N", "Run only every N-th check, starting with the I-th.",
               [check](const std::string& value) { return SetShard(value, *check); });
  grammar.Switch(app, "--deep", "Run the whole explorer instead of trying a few restarts.",
                 &check->trainer.deep);
  grammar.Switch(app, "--verbose", "Show the evidence of passed checks, too.", &check->verbose);
  grammar.Flag(app, "--junit", "FILE", "Write a JUnit report; `-` prints it.", To(&check->junit));
  grammar.Flag(app, "--json", "FILE", "Write a JSON report; `-` prints it.", To(&check->json));
  grammar.Flag(app, "--tap", "FILE", "Write a TAP report; `-` prints it.", To(&check->tap));
}

void AddCourseFlags(Grammar& grammar, CLI::App& app, const Shared& check) {
  grammar.Flag(app, "--bucket", "NAME=FOLDER",
               "A bucket that the trainer reads. The files of FOLDER are its objects. Repeatable.",
               Append(&check->trainer.buckets));
  grammar.Flag(app, "--out", "DIR",
               "Folder for scenarios of restart bugs (default: caip-findings).", To(&check->out));
  grammar.Heading("Flags of the checks");
  grammar.Flag(app, "--step-regex", "REGEX",
               "Finds finished steps in the output of trainers that do not print JSON. The group "
               "(?P<step>...) is the step's number.",
               [check](const std::string& value) -> Status {
                 check->trainer.step_regex = value;
                 const auto problem = harness::StepPatternProblem(value);
                 return problem ? Status(errors::StepPatternIllegal(value, *problem))
                                : Status(Ok{});
               });
  grammar.Flag(
      app, "--metric", "TAG",
      "The trainer reports this metric to a tuning job. It is run like a trial, but without "
      "hyperparameter flags.",
      [check](const std::string& value) -> Status {
        check->trainer.metric = value;
        if (!value.empty()) return Ok{};
        return errors::MetricTagEmpty();
      });
  grammar.Flag(app, "--jobs", "N", "Number of runs at the same time (default: one for each core).",
               [check](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto jobs, client::ParseCount(value));
                 check->jobs = jobs.value_or(0);
                 return Ok{};
               });
  grammar.Flag(app, "--run-timeout", "DURATION", "Time limit of one run (default: 10m).",
               ToDuration(&check->trainer.run_timeout));
  grammar.Flag(
      app, "--stall", "DURATION",
      "Longest time without a step, a change in storage or a boot (default: 1m, or twice the "
      "longest such time of the first run).",
      ToDuration(&check->trainer.stall));
  grammar.Flag(
      app, "--vm-lifetime", "DURATION",
      "Expected lifetime of a machine; the interval between checkpoints is compared with it "
      "(default: 4h).",
      ToDuration(&check->trainer.vm_lifetime));
  grammar.Flag(app, "--real-duration", "DURATION",
               "Running time of the real job, if the checked job is a smaller one (default: "
               "maxRunningTime).",
               ToDuration(&check->trainer.real_duration));
}

// Flags that only jobs of Vertex AI have. The check passes them on to the command that creates
// them.
void AddFlagsOfVertexJobs(Grammar& grammar, CLI::App& app, const Shared& check) {
  const auto passed_on = [check](const std::string&) -> Status {
    check->has_vertex_flags = true;
    return Ok{};
  };
  grammar.Heading("Flags of a job of Vertex AI");
  grammar.Flag(app, "--worker-pool-spec", "KEY=VALUE,...",
               "A worker pool, as for `caip ai custom-jobs create`; repeatable. --config may also "
               "be a CustomJobSpec, or a HyperparameterTuningJob.",
               passed_on);
  grammar.Flag(app, "--args", "ARG,...", "Arguments of the trainer, in each pool.", passed_on);
  grammar.Flag(app, "--command", "WORD,...", "Replaces the entry point of each container.",
               passed_on);
  grammar.Flag(app, "--display-name", "NAME", "Name of the job, for people.", passed_on);
  grammar.Flag(app, "--python-package-uris", "URI,...",
               "Packages (gs://) of each pool of --worker-pool-spec with an executor image.",
               passed_on);
  grammar.Flag(app, "--persistent-resource-id", "ID", "Persistent resource the job runs on.",
               passed_on);
  grammar.Flag(app, "--max-trial-count", "N", "Accepted for a tuning job. A check runs one trial.",
               passed_on);
  grammar.Flag(app, "--parallel-trial-count", "N",
               "Accepted for a tuning job. A check runs one trial.", passed_on);
  grammar.Flag(app, "--algorithm", "ALGORITHM", "How a tuning job chooses the values of the trial.",
               passed_on);
  grammar.Heading(std::string(kMainFlags));
}

std::string ShellWords(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " " + ShellQuoted(word);
  return text;
}

// Leaves out the flags that choose checks and write reports: a replay runs one check and prints.
std::string ReplayOf(const std::vector<std::string>& own) {
  const std::set<std::string> flags = {"--filter", "--shard", "--junit", "--json", "--tap"};
  std::vector<std::string> words;
  for (size_t i = 0; i < own.size(); ++i) {
    if (flags.contains(own[i].substr(0, own[i].find('=')))) {
      i += own[i].find('=') == std::string::npos ? 1 : 0;
    } else if (own[i] != "--list") {
      words.push_back(own[i]);
    }
  }
  return "caip" + ShellWords(words);
}

// A job is given by flags. Without them, the words after `--` are a command.
bool TakeCommand(const Words& words, CheckCommand& check) {
  check::TrainerRequest& trainer = check.trainer;
  const client::SubmitRequest& job = trainer.job;
  const bool has_job = check.has_vertex_flags || job.config || job.package_path ||
                       !job.packages.empty() || job.flags.module_name || job.flags.master.image_uri;
  if (has_job || !words.user_args || !explore::IsCommand(*words.user_args)) return false;
  trainer.command = *words.user_args;
  return true;
}

bool IsOfCommand(const check::TrainerRequest& trainer) {
  return !trainer.out_directories.empty() || trainer.ranks > 1;
}

}  // namespace

void AddCheckCommand(Grammar& grammar, const GcloudFlags& gcloud) {
  const auto check = std::make_shared<CheckCommand>();
  const auto finish_job = std::make_shared<FinishJob>();
  CLI::App& app = grammar.Leaf(grammar.root(), "check",
                               "Checks whether a trainer survives the service.", kCheckFooter,
                               [check, finish_job, &gcloud](const Words& words) -> Result<Command> {
                                 const bool is_command = TakeCommand(words, *check);
                                 if (!is_command && IsOfCommand(check->trainer)) {
                                   return errors::OnlyOfCommand();
                                 }
                                 if (!is_command) RETURN_IF_ERROR((*finish_job)(words));
                                 check->trainer.job.gcloud = gcloud;
                                 check->trainer.words = words.own;
                                 check->trainer.read_words = ReadJobWords;
                                 check->replay = ReplayOf(words.own);
                                 if (words.user_args)
                                   check->replay_args = " --" + ShellWords(*words.user_args);
                                 return Command(*check);
                               });
  grammar.Usages(app, {"[flags] -- COMMAND ...", "JOB_FLAGS ... [flags] [-- TRAINER_ARGS ...]"});
  grammar.TakesUserArgs(app);
  const bool has_track = grammar.has_track();
  grammar.SetTrack(true);  // gcloud has no such command, on any track
  *finish_job = AddJobFlags(grammar, app, &check->trainer.job);
  grammar.SetTrack(has_track);
  AddFlagsOfVertexJobs(grammar, app, check);
  AddReportFlags(grammar, app, check);
  AddCourseFlags(grammar, app, check);
  AddCommandFlags(grammar, app, &check->trainer.out_directories, &check->trainer.ranks);
  AddSettingFlags(grammar, app, &check->trainer.emulator, [](const app::Setting& setting) {
    return setting.in_runs != app::InRuns::kUnused;
  });
  AddRunFlags(grammar, app, &check->trainer.emulator);
}

}  // namespace caip::cli
