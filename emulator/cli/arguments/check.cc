// The flags of `check`.

#include <set>

#include "base/quoting.h"
#include "base/time_text.h"
#include "client/flag_values.h"
#include "emulator/cli/arguments/definitions.h"
#include "harness/events/step_reader.h"

namespace caip::cli {
namespace {

constexpr const char* kCheckFooter =
    R"(The job is said in gcloud's words; --region and --job-dir may be left out. It is run a
handful of times, each on an emulator of its own, and nothing of your state directory is touched.

Exit codes: 0 nothing failed, 1 a check failed, 2 usage, or the job was not taken, 3 this host
cannot, 4 our fault, 130 interrupted: what ran is reported.

Examples:
  caip check --package-path trainer --module-name trainer.task -- --epochs 2
  caip check --package-path trainer --module-name trainer.task --bucket data=fixtures \
      --junit check.xml -- --data gs://data/train.csv --epochs 2
  caip check --master-image-uri gcr.io/p/t:v1 --map-image gcr.io/p/t:v1='python3 src/task.py'
  caip check --list)";

using Shared = std::shared_ptr<CheckCommand>;

Result<Duration> ReadDuration(const std::string& value) {
  const auto duration = ParseDuration(value);
  if (duration && *duration > Duration(0)) return *duration;
  return Error{Code::kInvalidArgument, "'" + value + "' is no time like 90s, 10m or 4h"};
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
  return Error{Code::kInvalidArgument, "'" + value + "' is no part like 1/4"};
}

void AddReportFlags(Grammar& grammar, CLI::App& app, const Shared& check) {
  grammar.Heading("Flags of the checks");
  grammar.Switch(app, "--list", "Print the checks, and run nothing.", &check->list);
  grammar.Flag(app, "--filter", "GLOB", "Only checks whose id matches; may be given again.",
               Append(&check->filters));
  grammar.Flag(app, "--shard", "I/N", "Only every N-th check, beginning with the I-th.",
               [check](const std::string& value) { return SetShard(value, *check); });
  grammar.Switch(app, "--deep", "The whole explorer, instead of a few restarts.",
                 &check->trainer.deep);
  grammar.Switch(app, "--verbose", "Show the evidence of what passed, too.", &check->verbose);
  grammar.Flag(app, "--junit", "FILE", "Write a report as JUnit does; `-` prints it.",
               To(&check->junit));
  grammar.Flag(app, "--json", "FILE", "Write a report for programs; `-` prints it.",
               To(&check->json));
  grammar.Flag(app, "--tap", "FILE", "Write a report in TAP; `-` prints it.", To(&check->tap));
}

void AddCourseFlags(Grammar& grammar, CLI::App& app, const Shared& check) {
  grammar.Flag(app, "--bucket", "NAME=FOLDER",
               "A bucket that the trainer reads: the files of FOLDER are its objects; may be given "
               "again.",
               Append(&check->trainer.buckets));
  grammar.Flag(app, "--step-regex", "REGEX",
               "How a line tells of a step that is done, of trainers that print no JSON: the group "
               "(?P<step>...) is its number.",
               [check](const std::string& value) -> Status {
                 check->trainer.step_regex = value;
                 const auto problem = harness::StepPatternProblem(value);
                 return problem ? Status(Error{Code::kInvalidArgument, *problem}) : Status(Ok{});
               });
  grammar.Flag(app, "--metric", "TAG",
               "The trainer reports this metric to a tuning job: it is run as a trial is, with no "
               "flag of a hyperparameter.",
               [check](const std::string& value) -> Status {
                 check->trainer.metric = value;
                 if (!value.empty()) return Ok{};
                 return Error{Code::kInvalidArgument, "a tag has at least a letter"};
               });
  grammar.Flag(app, "--out", "DIR", "Where scenarios of restart bugs go; caip-findings by default.",
               To(&check->out));
  grammar.Flag(app, "--jobs", "N", "Make so many runs at once; one a core unless given.",
               [check](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto jobs, client::ParseCount(value));
                 check->jobs = jobs.value_or(0);
                 return Ok{};
               });
  grammar.Flag(app, "--run-timeout", "DURATION", "How long one run may last; 10m by default.",
               ToDuration(&check->trainer.run_timeout));
  grammar.Flag(
      app, "--stall", "DURATION",
      "How long a run may show no step, no change in storage and no boot; 1m by default, or "
      "twice as long as the first run did.",
      ToDuration(&check->trainer.stall));
  grammar.Flag(app, "--vm-lifetime", "DURATION",
               "How long a machine stays, for the distance of checkpoints; 4h by default.",
               ToDuration(&check->trainer.vm_lifetime));
  grammar.Flag(app, "--real-duration", "DURATION",
               "How long the real job will run, when this one is made small; else maxRunningTime.",
               ToDuration(&check->trainer.real_duration));
}

// Those of the emulator's flags that mean something here.
void AddHostFlags(Grammar& grammar, CLI::App& app, app::EmulatorFlags& flags) {
  grammar.Heading("Flags that gcloud does not have");
  for (const char* key : {"images", "storage_view", "addressing", "seed"}) {
    AddSettingFlag(grammar, app, key, &flags);
  }
  AddStateFlag(grammar, app, &flags);
}

std::string ShellWords(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " " + ShellQuoted(word);
  return text;
}

// What chooses and reports is left out: a replay chooses one check, and prints.
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

}  // namespace

void AddCheckCommand(Grammar& grammar, const GcloudFlags& gcloud) {
  const auto check = std::make_shared<CheckCommand>();
  const auto finish_job = std::make_shared<FinishJob>();
  CLI::App& app = grammar.Leaf(grammar.root(), "check",
                               "Tells whether a trainer will survive the service.", kCheckFooter,
                               [check, finish_job, &gcloud](const Words& words) -> Result<Command> {
                                 RETURN_IF_ERROR((*finish_job)(words));
                                 check->trainer.job.gcloud = gcloud;
                                 check->replay = ReplayOf(words.own);
                                 if (words.user_args)
                                   check->replay_args = " --" + ShellWords(*words.user_args);
                                 return Command(*check);
                               });
  grammar.TakesUserArgs(app);
  AddReportFlags(grammar, app, check);
  AddCourseFlags(grammar, app, check);
  grammar.Heading("Flags of the job");
  *finish_job = AddJobFlags(grammar, app, &check->trainer.job);
  AddHostFlags(grammar, app, check->trainer.emulator);
}

}  // namespace caip::cli
