// The flags of `scenario run|validate|schema|show`.

#include <algorithm>
#include <utility>

#include "base/time_text.h"
#include "client/errors.h"
#include "client/flag_values.h"
#include "emulator/cli/arguments/command_words.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"
#include "emulator/explore/explored_command.h"
#include "emulator/scenario/run_settings.h"
#include "harness/events/step_reader.h"
#include "harness/faults/machine_lifetime.h"

namespace caip::cli {
namespace {

void AddPreemptionFlags(Grammar& grammar, CLI::App& app, ScenarioRunCommand& run) {
  grammar.Flag(app, "--preempt", "MODEL",
               "Take machines away as a cloud takes Spot machines, and print what that costs: "
               "constant:20m, or exponential:2h, whose mean is two hours. The seed decides.",
               [&run](const std::string& value) -> Status {
                 run.preempt = value;
                 const auto lifetime = harness::ParseMachineLifetime(value);
                 return lifetime.ok() ? Status(Ok{}) : Status(lifetime.error());
               });
  grammar.Flag(app, "--step-time", "DURATION",
               "How much older machines become with each step of the first replica, for example 1m "
               "(default: they age in emulated time). Needs --preempt.",
               [&run](const std::string& value) -> Status {
                 run.step_time = value;
                 const auto time = ParseDuration(value);
                 return time && *time > Duration(0) ? Status(Ok{})
                                                    : Status(errors::NotADuration(value));
               });
}

Status CheckAreScenarios(const std::vector<std::string>& files) {
  const auto program = std::ranges::find_if(files, [](const std::string& file) {
    return file.ends_with(".py") || file.ends_with(".sh");
  });
  return program == files.end() ? Status(Ok{}) : Status(errors::ProgramIsNotAScenario(*program));
}

void AddRun(Grammar& grammar, CLI::App& scenario) {
  const auto run = std::make_shared<ScenarioRunCommand>();
  CLI::App& app = grammar.Leaf(
      scenario, "run", "Runs scenarios and checks their expectations.",
      "Exit codes: 0 all passed, 1 one failed, 2 wrong usage or an invalid file, 3 "
      "this host cannot run it, 4 caip itself failed.\n\nExamples:\n  caip scenario run "
      "scenarios/restarts/r01_half_a_checkpoint_fixed.yaml\n"
      "  caip scenario run scenarios/restarts --jobs 2 --junit report.xml\n"
      "  caip scenario run mine.yaml --seed 7 --events events.jsonl --verbose\n"
      "  caip scenario run mine.yaml --preempt exponential:2h --step-time 1m",
      [run](const Words&) -> Result<Command> {
        RETURN_IF_ERROR(CheckAreScenarios(run->files));
        if (run->step_time && !run->preempt) return errors::StepTimeWithoutPreempt();
        return Command(*run);
      });
  grammar.TakesNothingAfterBar(app, errors::CommandOfScenario());
  grammar.Positional(app, "FILE", "A scenario, or a folder with scenarios.", Append(&run->files),
                     true);
  grammar.Flag(app, "--seed", "N", "Seed; overrides the scenario's own.",
               [run](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const int64_t seed, client::ParseInteger(value));
                 if (seed < 0) return client::errors::IntegerTooSmall(value, 0);
                 run->seed = static_cast<uint64_t>(seed);
                 return Ok{};
               });
  grammar.Flag(app, "--junit", "FILE", "Write a JUnit report; `-` prints it.", To(&run->junit));
  grammar.Flag(app, "--json", "FILE", "Write a JSON report; `-` prints it.", To(&run->json));
  grammar.Flag(
      app, "--events", "FILE",
      "Write the event list, one JSON object per line. With several scenarios, or if FILE is a "
      "folder, each list is a file in it.",
      To(&run->events));
  grammar.Flag(app, "--jobs", "N",
               "Number of scenarios at the same time (default: one for each core).",
               [run](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto jobs, client::ParseCount(value));
                 run->jobs = jobs.value_or(0);
                 return Ok{};
               });
  AddPreemptionFlags(grammar, app, *run);
  grammar.Switch(app, "--keep", "Keep the state directories of the runs, and print their folder.",
                 &run->keep);
  grammar.Switch(app, "--verbose", "Show every assertion, also of passed scenarios.",
                 &run->verbose);
  AddSettingFlags(grammar, app, &run->emulator, scenario::IsFlagOfScenarios);
  AddRunFlags(grammar, app, &run->emulator);
}

void AddShow(Grammar& grammar, CLI::App& scenario) {
  const auto show = std::make_shared<ScenarioShowCommand>();
  CLI::App& app = grammar.Leaf(
      scenario, "show", "Draws the event list of a run as a timeline.",
      "EVENTS is a file that `scenario run --events` wrote; `-` reads the standard input.\n\n"
      "Examples:\n  caip scenario run mine.yaml --events events.jsonl\n"
      "  caip scenario show events.jsonl\n"
      "  caip scenario show events.jsonl --html run.html",
      [show](const Words&) -> Result<Command> { return Command(*show); });
  grammar.Positional(app, "EVENTS", "An event list.", [show](const std::string& value) -> Status {
    show->events = value;
    return Ok{};
  });
  grammar.Flag(app, "--html", "FILE", "Write an HTML page instead; `-` prints it.",
               To(&show->html));
  grammar.Flag(app, "--width", "COLUMNS",
               "Width of the timeline (default: the terminal's, else 100).",
               [show](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto width, client::ParseCount(value));
                 show->width = width;
                 return Ok{};
               });
}

std::vector<std::string> PointKinds() { return {"storage", "disk", "steps", "logs", "states"}; }

std::vector<std::string> ExploreFaults() {
  return {"notice",    "second-notice", "storage-errors", "slow-storage", "hangs",
          "full-disk", "power-loss",    "network-cuts",   "network"};
}

// The values of a list. Each is one of `known`.
Result<std::vector<std::string>> ReadKnown(const std::string& value,
                                           const std::vector<std::string>& known) {
  ASSIGN_OR_RETURN(auto words, client::ParseList(value));
  for (const std::string& word : words) {
    if (std::ranges::find(known, word) == known.end()) return errors::NotOneOf(word, known);
  }
  return words;
}

Status SetPoints(const std::string& value, std::vector<std::string>& into) {
  ASSIGN_OR_RETURN(into, ReadKnown(value, PointKinds()));
  return Ok{};
}

Status SetLimit(const std::string& value, std::optional<Duration>& limit) {
  limit = ParseDuration(value);
  return limit && *limit > Duration(0) ? Status(Ok{}) : Status(errors::NotADuration(value));
}

Status SetFaults(const std::string& value, std::set<std::string>& into) {
  ASSIGN_OR_RETURN(const auto faults, ReadKnown(value, ExploreFaults()));
  into.insert(faults.begin(), faults.end());
  return Ok{};
}

Status SetDisks(const std::string& value, ExploreCommand& explore) {
  if (value != "new" && value != "kept" && value != "both") {
    return errors::NotOneOf(value, {"new", "kept", "both"});
  }
  explore.disks = value;
  return Ok{};
}

std::vector<std::string> LossSignals() { return {"SIGKILL", "SIGTERM"}; }

void AddFlagsOfCommands(Grammar& grammar, CLI::App& app, ExploreCommand& explore) {
  AddCommandFlags(grammar, app, &explore.out_directories, &explore.ranks);
  grammar.Flag(app, "--step-regex", "REGEX",
               "Of a command: matches a line that reports a step (RE2). Its group `step` is the "
               "number, further named groups are compared. Default: usual lines are recognized.",
               [&explore](const std::string& value) -> Status {
                 if (const auto problem = harness::StepPatternProblem(value)) {
                   return errors::StepPatternIllegal(value, *problem);
                 }
                 explore.step_regex = value;
                 return Ok{};
               });
}

void AddLimitFlags(Grammar& grammar, CLI::App& app, ExploreCommand& explore) {
  grammar.Flag(
      app, "--run-timeout", "DURATION",
      "Time limit of one run of a job in words, without the installation of packages "
      "(default: 10m).",
      [&explore](const std::string& value) { return SetLimit(value, explore.limits.wall); });
  grammar.Flag(
      app, "--stall", "DURATION",
      "Longest time of a job in words without a step, a change in storage or a boot "
      "(default: 1m).",
      [&explore](const std::string& value) { return SetLimit(value, explore.limits.stall); });
  grammar.Flag(
      app, "--grace", "DURATION",
      "Time of a job in words from SIGTERM to the loss of its machine (default: 5s). Implies "
      "--signal SIGTERM.",
      [&explore](const std::string& value) {
        explore.faults.insert("notice");
        return SetLimit(value, explore.limits.grace);
      });
}

void AddExploreReports(Grammar& grammar, CLI::App& app, ExploreCommand& explore) {
  grammar.Flag(app, "--junit", "FILE", "Write a JUnit report; `-` prints it.", To(&explore.junit));
  grammar.Flag(app, "--json", "FILE", "Write a JSON report; `-` prints it.", To(&explore.json));
  grammar.Flag(app, "--sarif", "FILE", "Write a SARIF report for code scanning; `-` prints it.",
               To(&explore.sarif));
}

void AddFaultFlags(Grammar& grammar, CLI::App& app, ExploreCommand& explore) {
  grammar.Switch(app, "--pairs",
                 "Restart a second time at each crash point of each recovery (default: at a few).",
                 [&explore](bool on) { explore.pairs = on; });
  grammar.Flag(
      app, "--faults", "LIST",
      "Further faults at the crash points: notice (SIGTERM announces the loss of the "
      "machine), storage-errors (storage answers 503 instead of an operation, and after "
      "it). At a few of them: second-notice (SIGTERM comes again after the next change), "
      "slow-storage (an answer is 3 seconds late), hangs (all processes of a replica stop for 3 "
      "seconds), full-disk (no space is left for files, in volumes or on the disk of a replica, "
      "until the trainer ends), power-loss (what was not synced is lost), network-cuts (storage is "
      "out of reach for 3 seconds), network (packets between replicas and towards storage are cut "
      "off, lost, late or refused).",
      [&explore](const std::string& value) { return SetFaults(value, explore.faults); });
  grammar.Suggest(app, "--faults",
                  {.kind = Values::Kind::kWords, .words = ExploreFaults, .is_list = true});
  grammar.Flag(app, "--signal", "SIGKILL|SIGTERM",
               "SIGTERM: machines are also lost with a notice, as spot machines are (as --faults "
               "notice). SIGKILL (default): without one.",
               [&explore](const std::string& value) -> Status {
                 if (value != "SIGTERM" && value != "SIGKILL") {
                   return errors::NotOneOf(value, LossSignals());
                 }
                 if (value == "SIGTERM") explore.faults.insert("notice");
                 return Ok{};
               });
  grammar.Suggest(app, "--signal", {.kind = Values::Kind::kWords, .words = LossSignals});
}

void AddExploreSwitches(Grammar& grammar, CLI::App& app, ExploreCommand& explore) {
  grammar.Switch(app, "--resume", "Continue an earlier exploration into the same folder.",
                 &explore.resume);
  AddExploreReports(grammar, app, explore);
  grammar.Heading("Further flags");
  grammar.Switch(
      app, "--all-points",
      "Try every point. By default, a replica's points of one kind are left out after five of "
      "them at which only a limit ended the job.",
      &explore.all_points);
  grammar.Switch(app, "--full-runs",
                 "Run each crash point from the beginning, not from recorded buckets.",
                 &explore.full_runs);
  grammar.Flag(
      app, "--disks", "new|kept|both",
      "The disk after a restart: that of a new machine (new, the default), the same disk "
      "(kept: the process ends, its machine stays), or each of them once (both). Default: new, but "
      "a few restarts keep it.",
      [&explore](const std::string& value) { return SetDisks(value, explore); });
  grammar.Switch(app, "--crash", "The same as --disks kept.", &explore.crash);
  grammar.Switch(app, "--drift-fails",
                 "Count numbers that differ by less than a hundred thousandth after a restart.",
                 &explore.drift_fails);
}

bool IsScenarioName(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml");
}

// A command may also stand where files stand, if no flags follow: trainers often have --out, too.
Status CheckCommandBeforeBar(const Words& words, const std::string& first) {
  const auto begin = std::find(words.own.rbegin(), words.own.rend(), first).base();
  const auto flag = std::find_if(begin, words.own.end(), LooksLikeFlag);
  if (begin == words.own.begin() || flag == words.own.end()) return Ok{};
  return errors::FlagsAfterCommand(*flag, {begin - 1, words.own.end()});
}

Status TakeWords(const Words& words, ExploreCommand& explore) {
  const bool are_files = std::ranges::all_of(explore.files, IsScenarioName);
  if (!are_files && words.user_args) return errors::WordsBesideCommand(explore.files);
  if (!are_files) {
    RETURN_IF_ERROR(CheckCommandBeforeBar(words, explore.files.front()));
    explore.command = explore::CommandOfWords(std::exchange(explore.files, {}));
  }
  if (words.user_args && explore::IsCommand(*words.user_args)) {
    explore.command = *words.user_args;
  } else {
    explore.submit = words.user_args;
  }
  const int jobs =
      int{!explore.files.empty()} + int{!explore.command.empty()} + int{explore.submit.has_value()};
  if (jobs != 1) return errors::ScenarioOrCommand();
  const bool is_in_words = explore.files.empty();
  if (!is_in_words && (explore.limits.wall || explore.limits.stall || explore.limits.grace)) {
    return errors::ScenarioHasLimits();
  }
  const bool is_of_command =
      !explore.out_directories.empty() || !explore.step_regex.empty() || explore.ranks > 1;
  if (is_of_command && explore.command.empty()) return errors::OnlyOfCommand();
  const bool has_report = explore.json || explore.junit || explore.sarif;
  if (has_report && explore.files.size() > 1) return errors::OneReportForFiles();
  return Ok{};
}

void AddExploreWords(Grammar& grammar, CLI::App& app, ExploreCommand& explore) {
  grammar.Usages(app, {"[flags] -- COMMAND ...", "FILE... [flags]",
                       "[flags] -- JOB_FLAGS ... [-- TRAINER_ARGS ...]"});
  grammar.OptionalWords(app, "FILE",
                        "Scenarios, explored one after the other. Their faults and expectations "
                        "are ignored.",
                        Append(&explore.files));
}

void AddExplore(Grammar& grammar) {
  const auto explore = std::make_shared<ExploreCommand>();
  CLI::App& app = grammar.Leaf(
      grammar.root(), "explore", "Finds restart bugs of a trainer.",
      "Runs the job without faults, takes its machine away at every crash point of that baseline "
      "run, and compares each recovery with the baseline.\n\nCOMMAND is a program with its "
      "arguments, as you type it in a shell. JOB_FLAGS are those of `jobs submit training`, `ai "
      "custom-jobs create` or `ai hp-tuning-jobs create`, without a job id; TRAINER_ARGS go to "
      "that job's trainer.\n\nExit codes: 0 nothing found (or only "
      "possibly harmless ones), 1 findings, 2 wrong usage, or nothing could be compared, 3 this "
      "host cannot explore it (its disk is full, ...), 4 caip itself failed, 130 interrupted.\n\n"
      "Examples:\n  caip explore -- python3 train.py --out {job_dir}\n"
      "  caip explore --out-dir /data/run -- ./train.sh --epochs 3\n"
      "  caip explore scenarios/restarts/r01_half_a_checkpoint_broken.yaml\n"
      "  caip explore my.yaml --budget 60s --points storage,steps --pairs\n"
      "  caip explore -- --package-path trainer --module-name trainer.task \\\n"
      "      -- --steps 40\n"
      "  caip explore -- --config spec.yaml \\\n"
      "      --map-image gcr.io/p/digits='python3 src/task.py'",
      [explore](const Words& words) -> Result<Command> {
        RETURN_IF_ERROR(TakeWords(words, *explore));
        return Command(*explore);
      });
  AddExploreWords(grammar, app, *explore);
  grammar.Flag(app, "--out", "DIR", "Folder for findings (default: caip-findings).",
               To(&explore->out));
  grammar.Flag(app, "--budget", "DURATION",
               "Stop after this time, which includes the baseline runs: 60s.",
               [explore](const std::string& value) -> Status {
                 explore->budget = ParseDuration(value);
                 if (explore->budget && *explore->budget > Duration(0)) return Ok{};
                 return errors::NotADuration(value);
               });
  grammar.Flag(app, "--points", "KINDS",
               "The kinds of crash points: storage,disk,steps,logs,states.",
               [explore](const std::string& value) { return SetPoints(value, explore->points); });
  grammar.Suggest(app, "--points",
                  {.kind = Values::Kind::kWords, .words = PointKinds, .is_list = true});
  grammar.Flag(app, "--replicas", "NAMES", "Restart only these replicas: master-0,worker-1.",
               [explore](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(explore->replicas, client::ParseList(value));
                 return Ok{};
               });
  grammar.Flag(app, "--max-points", "N",
               "Of more crash points, try the most different ones (default: 400).",
               [explore](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto most, client::ParseCount(value));
                 explore->points_max = most.value_or(400);
                 return Ok{};
               });
  grammar.Flag(app, "--jobs", "N", "Number of runs at the same time (default: one for each core).",
               [explore](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto jobs, client::ParseCount(value));
                 explore->jobs = jobs.value_or(0);
                 return Ok{};
               });
  grammar.Flag(app, "--seed", "N", "Seed; overrides the scenario's own.",
               [explore](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const int64_t seed, client::ParseInteger(value));
                 if (seed < 0) return client::errors::IntegerTooSmall(value, 0);
                 explore->seed = static_cast<uint64_t>(seed);
                 return Ok{};
               });
  AddFlagsOfCommands(grammar, app, *explore);
  AddFaultFlags(grammar, app, *explore);
  AddExploreSwitches(grammar, app, *explore);
  AddLimitFlags(grammar, app, *explore);
  AddRunFlags(grammar, app, &explore->emulator);
  grammar.TakesUserArgs(app, errors::WholeCommandAfterBar());
}

}  // namespace

void AddScenarioCommands(Grammar& grammar) {
  AddExplore(grammar);
  CLI::App& scenario = grammar.Group(grammar.root(), "scenario",
                                     "Runs a job under the service's restarts, delays and faults.");
  AddRun(grammar, scenario);
  AddShow(grammar, scenario);
  const auto validate = std::make_shared<ScenarioValidateCommand>();
  CLI::App& app = grammar.Leaf(
      scenario, "validate", "Reports mistakes in scenario files; runs nothing.",
      "Examples:\n  caip scenario validate scenarios", [validate](const Words&) -> Result<Command> {
        RETURN_IF_ERROR(CheckAreScenarios(validate->files));
        return Command(*validate);
      });
  grammar.Positional(app, "FILE", "A scenario, or a folder with scenarios.",
                     Append(&validate->files), true);
  grammar.Leaf(scenario, "schema", "Prints the scenario format as a JSON schema, for editors.",
               "Examples:\n  caip scenario schema > scenario.schema.json",
               [](const Words&) -> Result<Command> { return Command(ScenarioSchemaCommand{}); });
}

}  // namespace caip::cli
