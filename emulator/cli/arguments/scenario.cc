// The flags of `scenario run|validate|schema|show`.

#include "base/time_text.h"
#include "client/errors.h"
#include "client/flag_values.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

void AddRun(Grammar& grammar, CLI::App& scenario) {
  const auto run = std::make_shared<ScenarioRunCommand>();
  CLI::App& app = grammar.Leaf(
      scenario, "run", "Plays scenarios and judges what came of them.",
      "Exit codes: 0 all passed, 1 one failed, 2 usage or a broken file, 3 this host cannot, 4 our "
      "fault.\n\nExamples:\n  caip scenario run scenarios/restarts/r01_fixed.yaml\n"
      "  caip scenario run scenarios/restarts --jobs 2 --junit report.xml\n"
      "  caip scenario run mine.yaml --seed 7 --events events.jsonl --verbose",
      [run](const Words&) -> Result<Command> { return Command(*run); });
  grammar.Positional(app, "FILE", "A scenario, or a folder with scenarios.", Append(&run->files),
                     true);
  grammar.Flag(app, "--seed", "N", "The seed, over the scenario's own.",
               [run](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const int64_t seed, client::ParseInteger(value));
                 if (seed < 0) return client::errors::IntegerTooSmall(value, 0);
                 run->seed = static_cast<uint64_t>(seed);
                 return Ok{};
               });
  grammar.Flag(app, "--junit", "FILE", "Write a report as JUnit does; - is standard output.",
               To(&run->junit));
  grammar.Flag(app, "--json", "FILE", "Write a report for programs; - is standard output.",
               To(&run->json));
  grammar.Flag(app, "--events", "FILE",
               "Write the event list, one JSON object a line; of several scenarios, a folder.",
               To(&run->events));
  grammar.Flag(app, "--jobs", "N", "Play so many at once; one a core unless given.",
               [run](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto jobs, client::ParseCount(value));
                 run->jobs = jobs.value_or(0);
                 return Ok{};
               });
  grammar.Switch(app, "--keep", "Keep the state directories of the runs, and say where.",
                 &run->keep);
  grammar.Switch(app, "--verbose", "Show every assertion, also of what passed.", &run->verbose);
  AddStateFlag(grammar, app, &run->emulator);
}

void AddShow(Grammar& grammar, CLI::App& scenario) {
  const auto show = std::make_shared<ScenarioShowCommand>();
  CLI::App& app = grammar.Leaf(
      scenario, "show", "Draws the event list of a run as a timeline.",
      "EVENTS is what `scenario run --events` wrote; `-` reads it from the standard input.\n\n"
      "Examples:\n  caip scenario run mine.yaml --events events.jsonl\n"
      "  caip scenario show events.jsonl\n"
      "  caip scenario show events.jsonl --html run.html",
      [show](const Words&) -> Result<Command> { return Command(*show); });
  grammar.Positional(app, "EVENTS", "An event list.", [show](const std::string& value) -> Status {
    show->events = value;
    return Ok{};
  });
  grammar.Flag(app, "--html", "FILE", "Write one page with the drawing instead; `-`: print it.",
               To(&show->html));
  grammar.Flag(app, "--width", "COLUMNS", "How wide; as the terminal unless given, else 100.",
               [show](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto width, client::ParseCount(value));
                 show->width = width;
                 return Ok{};
               });
}

Status SetPoints(const std::string& value, std::vector<std::string>& into) {
  ASSIGN_OR_RETURN(into, client::ParseList(value));
  for (const std::string& kind : into) {
    const bool known = kind == "storage" || kind == "steps" || kind == "logs" || kind == "states";
    if (!known) {
      return Error{Code::kInvalidArgument,
                   "'" + kind + "' is none of storage, steps, logs, states"};
    }
  }
  return Ok{};
}

Status SetDisks(const std::string& value, ExploreCommand& explore) {
  if (value != "new" && value != "kept" && value != "both") {
    return Error{Code::kInvalidArgument, "'" + value + "' is none of new, kept, both"};
  }
  explore.disks = value;
  return Ok{};
}

void AddExploreSwitches(Grammar& grammar, CLI::App& app, ExploreCommand& explore) {
  grammar.Switch(app, "--pairs", "Restart a second time within each recovery.", &explore.pairs);
  grammar.Switch(app, "--full-runs",
                 "Run each point from the beginning, not from the buckets as they were.",
                 &explore.full_runs);
  grammar.Flag(app, "--disks", "new|kept|both",
               "What a restart finds: a new machine's disk (new, unless given), its own (kept: the "
               "process dies, its machine stays), or each once.",
               [&explore](const std::string& value) { return SetDisks(value, explore); });
  grammar.Switch(app, "--crash", "The same as --disks kept.", &explore.crash);
  grammar.Switch(app, "--resume", "Continue an earlier exploration into the same folder.",
                 &explore.resume);
  AddStateFlag(grammar, app, &explore.emulator);
}

void AddExplore(Grammar& grammar) {
  const auto explore = std::make_shared<ExploreCommand>();
  CLI::App& app = grammar.Leaf(
      grammar.root(), "explore", "Finds restart bugs of a trainer.",
      "Runs the job without faults, takes its machine away at every crash point of that baseline "
      "run, and compares each recovery with the baseline.\nExit codes: 0 nothing found (or only "
      "what may be harmless), 1 findings, 2 usage, 3 this host cannot (its disk is full, ...), 4 "
      "our fault, 130 interrupted.\n\nExamples:\n  caip "
      "explore scenarios/restarts/r01_half_a_checkpoint_broken.yaml\n"
      "  caip explore my.yaml --budget 60s --points storage,steps --pairs\n"
      "  caip explore -- --package-path trainer --module-name trainer.task -- --steps 40",
      [explore](const Words& words) -> Result<Command> {
        explore->submit = words.user_args;
        if (explore->file.has_value() == explore->submit.has_value()) {
          return Error{Code::kInvalidArgument,
                       "name a scenario FILE, or give the words of a submit after `--`"};
        }
        return Command(*explore);
      });
  grammar.OptionalWords(app, "FILE", "A scenario; its faults and expectations are ignored.",
                        To(&explore->file));
  grammar.Flag(app, "--out", "DIR", "Where findings go; caip-findings unless given.",
               To(&explore->out));
  grammar.Flag(app, "--budget", "DURATION", "Stop after this time, baseline runs included: 60s.",
               [explore](const std::string& value) -> Status {
                 explore->budget = ParseDuration(value);
                 if (explore->budget && *explore->budget > Duration(0)) return Ok{};
                 return Error{Code::kInvalidArgument, "'" + value + "' is no time like 60s or 5m"};
               });
  grammar.Flag(app, "--points", "KINDS", "The kinds of crash points: storage,steps,logs,states.",
               [explore](const std::string& value) { return SetPoints(value, explore->points); });
  grammar.Flag(app, "--replicas", "NAMES", "Only these: master-0,worker-1.",
               [explore](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(explore->replicas, client::ParseList(value));
                 return Ok{};
               });
  grammar.Flag(app, "--max-points", "N", "Thin out evenly above so many; 400 unless given.",
               [explore](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto most, client::ParseCount(value));
                 explore->points_max = most.value_or(400);
                 return Ok{};
               });
  grammar.Flag(app, "--jobs", "N", "Run so many at once; one a core unless given.",
               [explore](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto jobs, client::ParseCount(value));
                 explore->jobs = jobs.value_or(0);
                 return Ok{};
               });
  grammar.Flag(app, "--seed", "N", "The seed, over the scenario's own.",
               [explore](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const int64_t seed, client::ParseInteger(value));
                 if (seed < 0) return client::errors::IntegerTooSmall(value, 0);
                 explore->seed = static_cast<uint64_t>(seed);
                 return Ok{};
               });
  AddExploreSwitches(grammar, app, *explore);
  grammar.TakesUserArgs(app);
}

}  // namespace

void AddScenarioCommands(Grammar& grammar) {
  AddExplore(grammar);
  CLI::App& scenario =
      grammar.Group(grammar.root(), "scenario",
                    "Plays what the service does to a job: restarts, delays, faults.");
  AddRun(grammar, scenario);
  AddShow(grammar, scenario);
  const auto validate = std::make_shared<ScenarioValidateCommand>();
  CLI::App& app =
      grammar.Leaf(scenario, "validate", "Says what is wrong with scenario files; runs nothing.",
                   "Examples:\n  caip scenario validate scenarios",
                   [validate](const Words&) -> Result<Command> { return Command(*validate); });
  grammar.Positional(app, "FILE", "A scenario, or a folder with scenarios.",
                     Append(&validate->files), true);
  grammar.Leaf(scenario, "schema", "Prints the format of scenarios as a JSON schema, for editors.",
               "Examples:\n  caip scenario schema > scenario.schema.json",
               [](const Words&) -> Result<Command> { return Command(ScenarioSchemaCommand{}); });
}

}  // namespace caip::cli
