// `caip explore FILE...`, `caip explore -- COMMAND` and `caip explore -- SUBMIT WORDS`.

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/text.h"
#include "base/time_text.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/app/version.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/explore_text.h"
#include "emulator/explore/errors.h"
#include "emulator/explore/explore_report.h"
#include "emulator/explore/explored_command.h"
#include "emulator/explore/explored_job.h"
#include "emulator/explore/exploring.h"
#include "emulator/scenario/abilities.h"
#include "emulator/scenario/run_isolation.h"
#include "emulator/scenario/run_scenario.h"
#include "harness/scenario/report.h"

namespace caip::cli {
namespace {

Result<Path> WriteCommand(const ExploreCommand& command, std::vector<Path> volumes) {
  return explore::WriteExploredCommand(
      {command.command, std::move(volumes), command.step_regex, command.ranks, command.limits},
      command.out);
}

// The scenarios of the command line. What stands there in words becomes one.
Result<std::vector<Path>> FilesOf(const ExploreCommand& command) {
  std::vector<Path> files(command.files.begin(), command.files.end());
  if (!files.empty()) return files;
  if (!command.command.empty()) {
    ASSIGN_OR_RETURN(Path file, WriteCommand(command, command.out_directories));
    return std::vector<Path>{std::move(file)};
  }
  ASSIGN_OR_RETURN(Path file,
                   explore::WriteExploredJob(*command.submit, command.out, command.limits,
                                             command.emulator, ReadJobWords));
  return std::vector<Path>{std::move(file)};
}

explore::ExploreOptions OptionsOf(const ExploreCommand& command, const Path& workshop) {
  explore::ExploreOptions options;
  options.workshop = workshop;
  options.out = command.out;
  const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  options.jobs = command.jobs > 0 ? command.jobs : cores;
  options.budget = command.budget;
  options.points_are_default = command.points.empty();
  if (!command.points.empty()) {
    options.points.kinds = {command.points.begin(), command.points.end()};
  }
  options.points.replicas = {command.replicas.begin(), command.replicas.end()};
  options.points_max = command.points_max;
  if (command.pairs) options.pairs = *command.pairs ? explore::Pairs::kAll : explore::Pairs::kNone;
  options.kept_sample = command.disks.empty();
  options.all_points = command.all_points;
  options.full_runs = command.full_runs;
  if (command.disks == "kept" || command.crash) options.disks = explore::Disks::kKept;
  if (command.disks == "both") options.disks = explore::Disks::kBoth;
  options.notice = command.faults.contains("notice");
  options.second_notice = command.faults.contains("second-notice");
  options.hangs = command.faults.contains("hangs");
  options.slow_storage = command.faults.contains("slow-storage");
  options.storage_errors = command.faults.contains("storage-errors");
  options.network_cuts = command.faults.contains("network-cuts");
  options.network = command.faults.contains("network");
  options.full_disks = command.faults.contains("full-disk");
  options.power_loss = command.faults.contains("power-loss");
  options.drift_is_sure = command.drift_fails;
  options.resume = command.resume;
  return options;
}

// The text for people goes to standard error if a report for programs goes to standard output.
bool PrintsAside(const ExploreCommand& command) {
  return command.json == "-" || command.junit == "-" || command.sarif == "-";
}

void PrintReport(const ExploreCommand& command, const explore::ExploreReport& report,
                 const explore::ReportHead& head, const Io& io) {
  const bool aside = PrintsAside(command);
  const bool terminal = aside ? io.err_is_terminal : io.out_is_terminal;
  const bool colours = terminal && !std::getenv("NO_COLOR");
  const std::string text = ExploreText(report, head, colours);
  aside ? io.err(Coloured(text)) : io.out(Coloured(text));
}

// Before anything is done, so that a path that cannot be written is reported at once.
Status CheckExplorePaths(const ExploreCommand& command) {
  RETURN_IF_ERROR(CheckReports(
      {{"--junit", command.junit}, {"--json", command.json}, {"--sarif", command.sarif}}));
  return CheckFolder("--out", command.out);
}

Status WriteReports(const ExploreCommand& command, const explore::ExploreReport& report,
                    const explore::ReportHead& head, const Io& io) {
  RETURN_IF_ERROR(WriteReport(command.junit, JunitReport(report, head), io));
  RETURN_IF_ERROR(WriteReport(command.json, PrettyJson(JsonReport(report, head)) + "\n", io));
  return WriteReport(command.sarif, PrettyJson(SarifReport(report, head)) + "\n", io);
}

// Reports a scenario whose needs this host does not meet. `scenario run` skips it, too.
int PrintNotRun(const ExploreCommand& command, const std::string& missing, const Path& file,
                const Io& io) {
  harness::ScenarioResult result;
  result.file = file.string();
  result.not_run = missing;
  const std::string text = harness::TextReport(result, false);
  PrintsAside(command) ? io.err(text) : io.out(text);
  explore::ExploreReport report;
  report.ended = missing;
  const Status written = WriteReports(command, report, {file.string(), app::kVersion, ""}, io);
  if (!written.ok()) return Fail(io, "explore", written.error().message, kExitUsage);
  return kExitSuccess;
}

// The exit code of an error that prevents or ends an exploration.
int ExploreExitCode(const Error& error) {
  const bool lacks = error.code == Code::kResourceExhausted || error.code == Code::kUnimplemented;
  if (lacks) return kExitCannot;
  const bool ours = error.code == Code::kInternal || error.code == Code::kUnavailable;
  return ours ? kExitOurFault : kExitUsage;
}

int FailExplore(const Error& error, const Io& io) {
  return Fail(io, "explore", error.message, ExploreExitCode(error));
}

// The same before the first restart. Ctrl-C makes runs and builds fail, whose errors say nothing
// about the job.
int FailBefore(const Error& error, const app::InterruptGuard& guard, const Io& io) {
  if (!guard.interrupted()) return FailExplore(error, io);
  return Fail(io, "explore", explore::errors::Interrupted().message, kExitInterrupted);
}

/// What one scenario is explored with.
struct Exploration {
  Path file;
  harness::Scenario as_written;
  explore::ExploreOptions options;
};

// A command is explored with the directories that a trial run writes, unless its user named them.
Status AddOtherVolumes(const ExploreCommand& command, Exploration& exploration, const Io& io) {
  if (command.command.empty() || !command.out_directories.empty()) return Ok{};
  ASSIGN_OR_RETURN(const explore::TrialRun trial,
                   explore::TryCommand(exploration.as_written, exploration.options));
  const std::vector<Path>& found = trial.other_volumes;
  if (found.empty()) return Ok{};
  std::vector<Path> volumes = exploration.as_written.volumes;
  volumes.insert(volumes.end(), found.begin(), found.end());
  ASSIGN_OR_RETURN(const Path file, WriteCommand(command, volumes));
  if (file != exploration.file) std::filesystem::remove(exploration.file);
  exploration.file = file;
  ASSIGN_OR_RETURN(exploration.as_written, harness::ReadScenario(file));
  std::vector<std::string> names;
  for (const Path& directory : found) names.push_back(explore::OneLine(directory.string()));
  io.err("the command also writes " + Join(names, ", ") + ", which outlives its machines here\n");
  return Ok{};
}

// What the user can do if the steps of the job are not recognized, or other lines are; "" for
// scenarios, which have `steps`.
std::string StepRemedyOf(const ExploreCommand& command) {
  if (!command.files.empty()) return "";
  if (command.command.empty()) return "let the trainer print `{\"step\": 20, \"loss\": 0.3}`";
  return command.step_regex.empty() ? "describe the lines of steps with --step-regex"
                                    : "--step-regex matches no line";
}

int PrintExploration(const ExploreCommand& command, const explore::ExploreReport& report,
                     const Path& file, const Io& io) {
  const explore::ReportHead head{file.string(), app::kVersion,
                                 scenario::RepeatedFlags(command.emulator), StepRemedyOf(command)};
  PrintReport(command, report, head, io);
  const Status written = WriteReports(command, report, head, io);
  if (!written.ok()) return Fail(io, "explore", written.error().message, kExitUsage);
  if (HadNoTime(report)) {
    return Fail(io, "explore",
                "No crash point was tried: the baseline runs took " +
                    HumanDuration(report.before_restarts) + ". Set --budget to more than that.",
                kExitUsage);
  }
  if (report.broke) {
    return Fail(io, "explore",
                report.broke->message + "\nFindings so far are listed above; --resume continues.",
                std::max<int>(ExploreExitCode(*report.broke), kExitCannot));
  }
  const auto& findings = report.findings;
  return std::any_of(findings.begin(), findings.end(), explore::IsSure) ? kExitFailure
                                                                        : kExitSuccess;
}

int ExploreFile(const ExploreCommand& command, const Path& file, const scenario::Workshop& workshop,
                const app::InterruptGuard& guard, const Io& io) {
  auto read = scenario::ReadScenarioFile(file);
  if (!read.ok()) return Fail(io, "explore", read.error().message, kExitUsage);
  Exploration exploration{file, *std::move(read), OptionsOf(command, workshop.path())};
  harness::Scenario& scenario = exploration.as_written;
  auto settings = scenario::ReadSettingsOfScenario(command.emulator, ReadJobWords, scenario);
  if (!settings.ok()) return Fail(io, "explore", settings.error().message, kExitUsage);
  const std::string needs = scenario::DescribeMissingNeeds(scenario, *settings, ReadJobWords);
  if (!needs.empty()) return PrintNotRun(command, needs, file, io);
  scenario.faults.clear();
  if (const std::string missing = scenario::DescribeMissingAbility(scenario); !missing.empty()) {
    return Fail(io, "explore", "This host cannot explore the scenario: " + missing, kExitCannot);
  }
  explore::ExploreOptions& options = exploration.options;
  options.interrupted = [&guard] { return guard.interrupted(); };
  options.read_words = ReadJobWords;
  options.settings = *std::move(settings);
  options.progress = ProgressLine(io);
  const Status complete = AddOtherVolumes(command, exploration, io);
  if (!complete.ok()) return FailBefore(complete.error(), guard, io);
  const Status kept = explore::KeepVolumes(scenario, options);
  if (!kept.ok()) return FailBefore(kept.error(), guard, io);
  if (command.seed) scenario.seed = *command.seed;
  options.as_written = &scenario;
  Result<harness::Scenario> explored = scenario;
  if (command.submit) {
    explored = explore::WithPackagesBuilt(scenario, workshop.path(), ReadJobWords,
                                          [&io](const std::string& text) { io.err(text); });
  }
  if (!explored.ok() && !guard.interrupted()) {
    return Fail(io, "explore", explored.error().message, kExitUsage);
  }
  if (!explored.ok()) return FailBefore(explored.error(), guard, io);
  const auto report = explore::Explore(*explored, options);
  if (!report.ok()) return FailBefore(report.error(), guard, io);
  const int code = PrintExploration(command, *report, exploration.file, io);
  return guard.interrupted() ? kExitInterrupted : code;
}

}  // namespace

int RunExplore(const ExploreCommand& command, const Surroundings& world) {
  const Io& io = world.io;
  const Status writable = CheckExplorePaths(command);
  if (!writable.ok()) return Fail(io, "explore", writable.error().message, kExitUsage);
  const auto files = FilesOf(command);
  if (!files.ok()) return Fail(io, "explore", files.error().message, kExitUsage);
  const auto workshop = scenario::Workshop::Open(app::StateDirectory(command.emulator));
  if (!workshop.ok()) return FailExplore(workshop.error(), io);
  const std::string note = scenario::IsolationNote(command.emulator, (*workshop)->path());
  if (!note.empty()) io.err(note + "\n");
  const app::InterruptGuard guard;
  int worst = kExitSuccess;
  for (const Path& file : *files) {
    if (files->size() > 1) io.out(file.string() + "\n");
    worst = std::max(worst, ExploreFile(command, file, **workshop, guard, io));
    if (guard.interrupted()) break;
  }
  return worst;
}

}  // namespace caip::cli
