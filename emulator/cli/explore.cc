// `caip explore FILE` and `caip explore -- SUBMIT WORDS`.

#include <algorithm>
#include <thread>

#include "base/text.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/gcloud_properties.h"
#include "emulator/cli/interrupt.h"
#include "emulator/play/exploring.h"
#include "emulator/play/playing.h"

namespace caip::cli {
namespace {

int Fail(const Io& io, const std::string& message, int code) {
  io.err("ERROR: (caip.explore) " + message + "\n");
  return code;
}

// The words become a scenario of their own, which the findings extend.
Result<Path> FileOf(const ExploreCommand& command) {
  if (command.file) return Path(*command.file);
  RETURN_IF_ERROR(MakeDirectories(command.out));
  std::error_code error;
  const Path here = std::filesystem::current_path(error);
  Json words = Json::array();
  for (const std::string& word : *command.submit) {
    const Path path = here / word;  // files are named from where the command was given
    const bool is_file = word.find('/') != std::string::npos && !word.starts_with("gs://") &&
                         std::filesystem::exists(path, error);
    words.push_back(is_file ? path.string() : word);
  }
  const std::string text =
      "description: The job that was given to caip explore.\njob: {submit: " + CompactJson(words) +
      "}\n";
  const Path file = Path(command.out) / "job.yaml";
  RETURN_IF_ERROR(WriteFile(file, text));
  return file;
}

play::ExploreOptions OptionsOf(const ExploreCommand& command, const Path& workshop) {
  play::ExploreOptions options;
  options.workshop = workshop;
  options.out = command.out;
  const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  options.jobs = command.jobs > 0 ? command.jobs : cores;
  if (command.budget) options.budget = ParseDuration(*command.budget);
  options.points_are_default = command.points.empty();
  if (!command.points.empty()) {
    options.points.kinds = {command.points.begin(), command.points.end()};
  }
  options.points.replicas = {command.replicas.begin(), command.replicas.end()};
  options.points_max = command.points_max;
  options.pairs = command.pairs;
  options.full_runs = command.full_runs;
  options.crash = command.crash;
  options.resume = command.resume;
  return options;
}

void Tell(const play::ExploreReport& report, const Io& io) {
  io.out("in peace " + HumanDuration(report.peace) + "; " + std::to_string(report.moments) +
         " moments, " + std::to_string(report.points) +
         (report.recorded ? " distinct states of the buckets" : " restarts to be tried") + "; " +
         std::to_string(report.tried) + " tried in " + HumanDuration(report.took) +
         (report.known > 0 ? " (" + std::to_string(report.known) + " known before)" : "") + "\n");
  if (!report.ended.empty()) io.out("not all were tried: " + report.ended + "\n");
  if (!report.not_compared.empty()) {
    io.out("not compared, for it differs between two runs in peace: " +
           Join(report.not_compared, ", ") + "\n");
  }
  int number = 0;
  for (const play::ExploreFinding& finding : report.findings) {
    io.out("\n" + std::to_string(++number) + ". " + finding.flaw.cause + "  (" +
           std::to_string(finding.points) + (finding.points == 1 ? " point)" : " points)") +
           "\n   the machine goes " + Describe(finding.point) +
           (finding.second ? ",\n   then " + Describe(*finding.second) : "") + "\n   expected " +
           finding.flaw.expected + "\n   found    " + finding.flaw.found +
           "\n   again: caip scenario run " + ShellQuoted(finding.scenario.string()) + "\n");
  }
  io.out("\n" + (report.findings.empty()
                     ? std::string("nothing found\n")
                     : std::to_string(report.findings.size()) +
                           (report.findings.size() == 1 ? " cause\n" : " causes\n")));
}

// A line that writes over itself, on a terminal only.
std::function<void(size_t, size_t, size_t)> ProgressOn(const Io& io) {
  if (!io.err_is_terminal) return nullptr;
  return [&io](size_t tried, size_t of, size_t causes) {
    const size_t width = 30;
    const size_t full = of == 0 ? width : tried * width / of;
    io.err("\r[" + std::string(full, '#') + std::string(width - full, '.') + "] " +
           std::to_string(tried) + "/" + std::to_string(of) + " restarts, " +
           std::to_string(causes) + " findings " + (tried == of ? "\n" : ""));
  };
}

}  // namespace

int RunExplore(const ExploreCommand& command, const Surroundings& world) {
  const auto file = FileOf(command);
  if (!file.ok()) return Fail(world.io, file.error().message, kExitUsage);
  auto scenario = harness::ReadScenario(*file);
  if (!scenario.ok()) return Fail(world.io, scenario.error().message, kExitUsage);
  if (command.seed) scenario->seed = *command.seed;
  const auto workshop = play::Workshop::Open(StateDirectory(command.emulator));
  if (!workshop.ok()) return Fail(world.io, workshop.error().message, kExitOurFault);
  const InterruptGuard guard;
  play::ExploreOptions options = OptionsOf(command, (*workshop)->path());
  options.interrupted = [&guard] { return guard.interrupted(); };
  options.progress = ProgressOn(world.io);
  const auto report = play::Explore(*scenario, options);
  if (!report.ok()) return Fail(world.io, report.error().message, kExitUsage);
  Tell(*report, world.io);
  if (guard.interrupted()) return kExitInterrupted;
  return report->findings.empty() ? kExitSuccess : kExitFailure;
}

}  // namespace caip::cli
