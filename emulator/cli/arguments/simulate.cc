// The flags of `simulate`.

#include "client/errors.h"
#include "client/flag_values.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

Result<int64_t> AtLeast(int64_t least, std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t number, client::ParseInteger(text));
  if (number < least) return client::errors::IntegerTooSmall(text, least);
  return number;
}

Grammar::Setter ToAtLeast(std::optional<int64_t>* into, int64_t least) {
  return [into, least](const std::string& value) -> Status {
    ASSIGN_OR_RETURN(*into, AtLeast(least, value));
    return Ok{};
  };
}

// "3..20": both ends are included.
Status ReadRange(const std::string& text, SimulateCommand& command) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos) return errors::NotARange(text);
  ASSIGN_OR_RETURN(const int64_t first, AtLeast(0, text.substr(0, dots)));
  ASSIGN_OR_RETURN(const int64_t last, AtLeast(first, text.substr(dots + 2)));
  command.seeds = {first, last};
  return Ok{};
}

Result<Command> Checked(const SimulateCommand& command) {
  const int ways = command.seed.has_value() + command.seeds.has_value() + command.jobs.has_value();
  if (ways > 1) return errors::AtMostOneOf({"--jobs", "--seed", "--seeds"});
  if (command.journal && !command.seed) {
    return errors::Argument("--seed", errors::MustBeSpecified());
  }
  return Command(command);
}

}  // namespace

void AddSimulateCommand(Grammar& grammar) {
  const auto simulate = std::make_shared<SimulateCommand>();
  CLI::App& app = grammar.Leaf(
      grammar.root(), "simulate",
      "Runs random jobs and faults against the engine, and checks its invariants.",
      "The simulation starts no process and does not wait: the seeds decide everything. Without "
      "--seed, --seeds or --jobs it runs the seeds 1 to 2000.\n\nExit codes: 0 all invariants "
      "held, "
      "1 an invariant failed, 2 wrong usage, 130 interrupted.\n\nExamples:\n  caip simulate --jobs "
      "1000000\n"
      "  caip simulate --seeds 1..20000 --threads 1\n  caip simulate --seed 7 --journal",
      [simulate](const Words&) -> Result<Command> { return Checked(*simulate); });
  grammar.Flag(app, "--seed", "N", "Run only this seed.", ToAtLeast(&simulate->seed, 0));
  grammar.Flag(app, "--seeds", "A..B", "Run the seeds from A to B.",
               [simulate](const std::string& value) { return ReadRange(value, *simulate); });
  grammar.Flag(app, "--jobs", "N", "Run seeds from 1 on until they had N jobs in all.",
               ToAtLeast(&simulate->jobs, 1));
  grammar.Flag(app, "--threads", "N",
               "Number of seeds at the same time (default: one for each core).",
               ToAtLeast(&simulate->threads, 1));
  grammar.Switch(app, "--journal", "Print every event; needs --seed.", &simulate->journal);
}

}  // namespace caip::cli
