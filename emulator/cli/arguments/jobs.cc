// The flags of `jobs describe|list|cancel|update|stream-logs|trials|shell`.

#include <algorithm>

#include "base/text.h"
#include "client/flag_values.h"
#include "client/submit_typing.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

void AddJob(Grammar& grammar, CLI::App& app, std::string* job) {
  grammar.Positional(app, "JOB", "Name of the job.", To(job));
}

Grammar::Setter ToPositive(std::optional<int64_t>* into) {
  return [into](const std::string& value) -> Status {
    ASSIGN_OR_RETURN(*into, client::ParseCount(value));
    return Ok{};
  };
}

void AddDescribe(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud) {
  const auto describe = std::make_shared<DescribeCommand>();
  CLI::App& app = grammar.Leaf(jobs, "describe", "Shows a job.",
                               "Examples:\n  caip jobs describe my_job\n"
                               "  caip jobs describe my_job --format json\n"
                               "  caip jobs describe my_job --summarize",
                               FinishWith(describe, gcloud));
  AddJob(grammar, app, &describe->job);
  grammar.Switch(app, "--summarize", "Print tables for people instead of YAML.",
                 &describe->summarize);
  AddEmulatorFlags(grammar, app, &describe->emulator);
}

void AddList(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud) {
  const auto list = std::make_shared<ListCommand>();
  CLI::App& app = grammar.Leaf(jobs, "list", "Lists the jobs of the project, newest first.",
                               "Examples:\n  caip jobs list --limit 5\n"
                               "  caip jobs list --filter 'state=FAILED AND labels.team:vision'\n"
                               "  caip jobs list --sort-by ~endTime --format json",
                               FinishWith(list, gcloud));
  grammar.Flag(app, "--filter", "EXPRESSION", "List only the jobs that match.", To(&list->filter));
  grammar.Flag(app, "--limit", "N", "Maximum number of jobs.", ToPositive(&list->limit));
  grammar.Flag(app, "--page-size", "N", "Number of jobs on a page of output.",
               ToPositive(&list->page_size));
  grammar.Flag(app, "--sort-by", "FIELD,...",
               "Sort by these fields; ~FIELD sorts in descending order.",
               [list](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(list->sort_by, client::ParseList(value));
                 for (const std::string& key : list->sort_by) {
                   const bool descends = key.starts_with('~');
                   RETURN_IF_ERROR(client::CheckJobField(key.substr(descends ? 1 : 0)));
                 }
                 return Ok{};
               });
  grammar.Switch(app, "--uri", "Print the URIs of the jobs instead of a table.", &list->uri);
  AddEmulatorFlags(grammar, app, &list->emulator);
}

void AddCancel(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud) {
  const auto cancel = std::make_shared<CancelCommand>();
  CLI::App& app =
      grammar.Leaf(jobs, "cancel", "Cancels a job. A job that has ended stays unchanged.",
                   "Examples:\n  caip jobs cancel my_job", FinishWith(cancel, gcloud));
  AddJob(grammar, app, &cancel->job);
  grammar.Suggest(app, "JOB", {.kind = Values::Kind::kUnendedJobs});
  AddEmulatorFlags(grammar, app, &cancel->emulator);
}

void AddDelete(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud) {
  const auto remove = std::make_shared<DeleteCommand>();
  CLI::App& app = grammar.Leaf(
      jobs, "delete", "Removes jobs that have ended, with their logs. Their names are free then.",
      "Examples:\n  caip jobs delete my_job other_job\n  caip jobs delete census_1 --strict",
      FinishWith(remove, gcloud));
  grammar.Positional(app, "JOB", "Name of a job.", Append(&remove->jobs), true);
  grammar.Suggest(app, "JOB", {.kind = Values::Kind::kEndedJobs});
  grammar.Switch(app, "--strict", std::string(kKeepIds), &remove->strict);
  AddEmulatorFlags(grammar, app, &remove->emulator);
}

void AddUpdate(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud) {
  const auto update = std::make_shared<UpdateCommand>();
  const auto finish = [update, &gcloud](const Words&) -> Result<Command> {
    if (update->clear_labels && update->remove_labels) {
      return errors::Argument("--clear-labels",
                              errors::AtMostOneOf({"--clear-labels", "--remove-labels"}));
    }
    update->gcloud = gcloud;
    return Command(*update);
  };
  CLI::App& app = grammar.Leaf(jobs, "update", "Changes the labels of a job.",
                               "Examples:\n  caip jobs update my_job --update-labels team=vision\n"
                               "  caip jobs update my_job --remove-labels team,owner\n"
                               "  caip jobs update my_job --clear-labels",
                               finish);
  AddJob(grammar, app, &update->job);
  grammar.Flag(app, "--update-labels", "KEY=VALUE,...", "Labels to add or to change.",
               [update](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto labels, client::ParseLabels(value));
                 if (!update->update_labels) update->update_labels.emplace();
                 for (const auto& [key, label] : labels) (*update->update_labels)[key] = label;
                 return Ok{};
               });
  grammar.Flag(app, "--remove-labels", "KEY,...", "Labels to remove.",
               [update](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto keys, client::ParseList(value));
                 auto& all = update->remove_labels;
                 if (!all) all.emplace();
                 all->insert(all->end(), keys.begin(), keys.end());
                 return Ok{};
               });
  grammar.Switch(app, "--clear-labels", "Remove all labels first.", &update->clear_labels);
  AddEmulatorFlags(grammar, app, &update->emulator);
}

void AddStreamLogs(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud) {
  const auto stream = std::make_shared<StreamLogsCommand>();
  CLI::App& app = grammar.Leaf(jobs, "stream-logs", "Shows a job's log from its start to its end.",
                               "Examples:\n  caip jobs stream-logs my_job\n"
                               "  caip jobs stream-logs my_job --task-name worker-replica-0",
                               FinishWith(stream, gcloud));
  AddJob(grammar, app, &stream->job);
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

void AddLogs(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud) {
  const auto logs = std::make_shared<LogsCommand>();
  CLI::App& app = grammar.Leaf(jobs, "logs", "Prints a job's log so far, or a part of it.",
                               "Examples:\n  caip jobs logs my_job --tail 20\n"
                               "  caip jobs logs my_job --replica worker-0 --severity ERROR\n"
                               "  caip jobs logs my_job --follow",
                               FinishWith(logs, gcloud));
  AddJob(grammar, app, &logs->job);
  grammar.Flag(app, "--replica", "REPLICA", "Only lines of this replica: worker-0, or service.",
               To(&logs->replica));
  grammar.Flag(app, "--trial", "N", "Only lines of this trial of a tuning job.", To(&logs->trial));
  grammar.Flag(app, "--severity", "SEVERITY", "Only entries of this severity or a higher one.",
               [logs](const std::string& value) -> Status {
                 const auto& all = LogSeverities();
                 logs->severity = UpperCase(value);
                 if (std::find(all.begin(), all.end(), *logs->severity) != all.end()) return Ok{};
                 return errors::NoSuchChoice(value, all);
               });
  grammar.Suggest(app, "--severity", {.kind = Values::Kind::kWords, .words = LogSeverities});
  grammar.Flag(app, "--tail", "N", "Only the last N entries.", ToPositive(&logs->tail));
  grammar.Switch(app, "-f,--follow", "Go on until the job has ended.", &logs->follow);
  AddEmulatorFlags(grammar, app, &logs->emulator);
}

void AddTrials(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud) {
  const auto trials = std::make_shared<TrialsCommand>();
  CLI::App& app = grammar.Leaf(jobs, "trials", "Shows the trials of a tuning job.",
                               "Examples:\n  caip jobs trials my_study\n"
                               "  caip jobs trials my_study --watch\n"
                               "  caip jobs trials my_study --plot study.html",
                               FinishWith(trials, gcloud));
  AddJob(grammar, app, &trials->job);
  grammar.Switch(app, "--watch", "Show the trials until the job has ended.", &trials->watch);
  grammar.Flag(app, "--plot", "FILE", "Write a plot of the study: FILE.html or FILE.svg.",
               [trials](const std::string& value) -> Status {
                 if (!value.ends_with(".html") && !value.ends_with(".svg")) {
                   return errors::PlotFileKind(value);
                 }
                 trials->plot = value;
                 return Ok{};
               });
  AddEmulatorFlags(grammar, app, &trials->emulator);
}

void AddShell(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud) {
  const auto shell = std::make_shared<ShellCommand>();
  const auto finish = [shell, &gcloud](const Words& words) -> Result<Command> {
    shell->gcloud = gcloud;
    shell->command = words.user_args.value_or(std::vector<std::string>());
    return Command(*shell);
  };
  CLI::App& app = grammar.Leaf(
      jobs, "shell",
      "Opens a shell in a replica of a running job, with its files, network and environment.",
      "Examples:\n  caip jobs shell my_job --replica worker-0\n"
      "  caip jobs shell my_job --replica master-0 -- nvidia-smi\n"
      "  caip jobs shell my_study --trial 3",
      finish);
  AddJob(grammar, app, &shell->job);
  grammar.Suggest(app, "JOB", {.kind = Values::Kind::kUnendedJobs});
  grammar.Flag(app, "--replica", "REPLICA",
               "The replica: worker-0, or its name in the log. Default: the only one.",
               To(&shell->replica));
  grammar.Flag(app, "--trial", "N", "The trial of a tuning job.", To(&shell->trial));
  grammar.TakesUserArgs(app, errors::ShellCommandAfterBar());
  AddStateFlag(grammar, app, &shell->emulator);
}

}  // namespace

void AddJobsCommands(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud) {
  AddDescribe(grammar, jobs, gcloud);
  AddList(grammar, jobs, gcloud);
  AddCancel(grammar, jobs, gcloud);
  AddDelete(grammar, jobs, gcloud);
  AddUpdate(grammar, jobs, gcloud);
  AddStreamLogs(grammar, jobs, gcloud);
  AddLogs(grammar, jobs, gcloud);
  AddTrials(grammar, jobs, gcloud);
  AddShell(grammar, jobs, gcloud);
}

}  // namespace caip::cli
