// `caip check`.

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/clock.h"
#include "base/text.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/check/checked_trainer.h"
#include "emulator/check/checking.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"
#include "emulator/scenario/run_isolation.h"
#include "emulator/scenario/run_scenario.h"
#include "harness/check/check_report.h"

namespace caip::cli {
namespace {

using harness::CheckKind;
using harness::CheckReport;
using harness::CheckVerdict;

// The exit code of an error that prevents the runs.
int CheckExitCode(const Error& error) {
  const bool lacks = error.code == Code::kResourceExhausted || error.code == Code::kUnimplemented;
  if (lacks) return kExitCannot;
  // The files that the user named were found before any run, so kNotFound is about a file of caip.
  const bool ours = error.code == Code::kInternal || error.code == Code::kUnavailable ||
                    error.code == Code::kNotFound;
  return ours ? kExitOurFault : kExitUsage;
}

// Of a command that knows nothing of the service, its rules are not checked. Some rules are those
// of jobs of Vertex AI only.
std::vector<const CheckKind*> ChooseChecks(const CheckCommand& command) {
  std::vector<const CheckKind*> chosen;
  const bool is_of_vertex = scenario::KindOfFlags(command.trainer.words).RestartsFailing();
  int64_t number = 0;
  for (const CheckKind& check : harness::CheckKinds()) {
    const bool is_of_service = check.scope != harness::CheckScope::kAnyTrainer;
    if (is_of_service && !command.trainer.command.empty()) continue;
    const bool is_of_vertex_only = check.scope == harness::CheckScope::kVertexJobs;
    if (is_of_vertex_only && !is_of_vertex && !command.list) continue;
    const bool wanted =
        command.filters.empty() ||
        std::any_of(command.filters.begin(), command.filters.end(),
                    [&](const std::string& glob) { return harness::GlobMatches(glob, check.id); });
    if (wanted && number++ % command.shards == command.shard - 1) chosen.push_back(&check);
  }
  return chosen;
}

// Says why no check was chosen: none has a matching id, or those that have are of other jobs.
std::string DescribeNoCheck(const CheckCommand& command) {
  for (const CheckKind& check : harness::CheckKinds()) {
    if (check.scope == harness::CheckScope::kAnyTrainer || command.shards > 1) continue;
    const bool is_named = std::ranges::any_of(command.filters, [&](const std::string& glob) {
      return harness::GlobMatches(glob, check.id);
    });
    if (!is_named) continue;
    const bool is_of_vertex = check.scope == harness::CheckScope::kVertexJobs;
    return errors::CheckOfOtherJobs(check.id, is_of_vertex).message;
  }
  return "No check has a matching id. --list prints all ids.";
}

check::CheckingOptions OptionsOf(const CheckCommand& command, const Path& workshop) {
  check::CheckingOptions options;
  options.workshop = workshop;
  options.findings = command.out;
  const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  options.jobs = command.jobs > 0 ? command.jobs : cores;
  return options;
}

std::string SubjectOf(const harness::CheckedTrainer& trainer) {
  if (trainer.is_command) return Join(trainer.job.command, " ");
  return trainer.job.kind->SubjectOf(trainer.job.document);
}

Status WriteReports(const CheckCommand& command, const CheckReport& report, const Io& io) {
  RETURN_IF_ERROR(WriteReport(command.junit, JunitReport(report), io));
  RETURN_IF_ERROR(WriteReport(command.json, PrettyJson(JsonReport(report)) + "\n", io));
  return WriteReport(command.tap, TapReport(report), io);
}

// The text for people goes to standard error if a report for programs goes to standard output.
void PrintCheckReport(const CheckCommand& command, const CheckReport& report, const Io& io) {
  const auto printed = [](const std::optional<std::string>& file) { return file == "-"; };
  const bool aside = printed(command.junit) || printed(command.json) || printed(command.tap);
  const bool terminal = aside ? io.err_is_terminal : io.out_is_terminal;
  const bool colours = terminal && !std::getenv("NO_COLOR");
  const std::string text = TextReport(report, {colours, command.verbose});
  aside ? io.err(Coloured(text)) : io.out(Coloured(text));
  if (std::getenv("GITHUB_ACTIONS") && !aside) io.out(GithubReport(report));
}

// Shows a progress line that overwrites itself. Only a terminal gets it.
void ShowProgress(check::CheckingOptions& options, size_t of, const Io& io) {
  if (!io.err_is_terminal) return;
  options.made = [&io, of, made = size_t{0}](const harness::CheckRunKind& kind,
                                             const harness::CheckRun&) mutable {
    ++made;
    io.err(Drawing("\r\033[K[" + std::to_string(made) + "/" + std::to_string(of) + "] " +
                   (made == of ? "\r\033[K" : kind.name)));
  };
}

CheckReport ReportOf(const CheckCommand& command, const std::vector<const CheckKind*>& checks,
                     const harness::CheckSession& session) {
  CheckReport report;
  report.subject = SubjectOf(session.trainer);
  for (const CheckKind* check : checks) {
    report.outcomes.push_back({check, EvaluateCheck(*check, session)});
  }
  for (const harness::CheckRunKind& kind : harness::CheckRunKinds()) {
    const auto run = session.runs.find(kind.name);
    if (run == session.runs.end() || !run->second.skipped.empty()) continue;
    report.runs.emplace_back(kind.name, run->second.took);
  }
  report.replay = command.replay;
  report.replay_args = command.replay_args;
  return report;
}

Result<check::CheckedJob> MakeJob(const CheckCommand& command, const Path& workshop,
                                  const app::InterruptGuard& guard, const Io& io) {
  const check::TrainerRequest& request = command.trainer;
  if (request.command.empty()) {
    auto checked = check::MakeCheckedJob(request, workshop);
    if (checked.ok() && !checked->warning.empty()) io.err(checked->warning);
    return checked;
  }
  const std::string note = scenario::IsolationNote(request.emulator, workshop);
  if (!note.empty()) io.err(note + "\n");
  auto job = check::MakeCheckedCommand(request, workshop, command.out,
                                       [&guard] { return guard.interrupted(); });
  if (!job.ok() || job->other_volumes.empty()) return job;
  std::vector<std::string> names;
  for (const Path& directory : job->other_volumes) names.push_back(directory.string());
  io.err("the command also writes " + Join(names, ", ") + ", which outlives its machines here\n");
  return job;
}

// A command that failed in its first run is not run again.
void UseFailedRun(harness::CheckRun failed, std::vector<const harness::CheckRunKind*>& runs,
                  harness::CheckSession& session) {
  session.runs["plain"] = std::move(failed);
  std::erase(runs, harness::FindCheckRun("plain"));
}

// An error that concerns this host has another code than one of the command line.
int JobExitCode(const Error& error) {
  const bool lacks = error.code == Code::kResourceExhausted || error.code == Code::kUnimplemented;
  return lacks ? kExitCannot : kExitUsage;
}

}  // namespace

int RunCheck(const CheckCommand& command, const Surroundings& world) {
  const std::vector<const CheckKind*> checks = ChooseChecks(command);
  if (checks.empty()) return Fail(world.io, "check", DescribeNoCheck(command), kExitUsage);
  if (command.list) {
    world.io.out(harness::CheckList(checks));
    return kExitSuccess;
  }
  const Status writable =
      CheckReports({{"--junit", command.junit}, {"--json", command.json}, {"--tap", command.tap}});
  if (!writable.ok()) return Fail(world.io, "check", writable.error().message, kExitUsage);
  const Stopwatch stopwatch;
  const auto workshop = scenario::Workshop::Open(app::StateDirectory(command.trainer.emulator));
  if (!workshop.ok())
    return Fail(world.io, "check", workshop.error().message, CheckExitCode(workshop.error()));
  const app::InterruptGuard guard;
  harness::CheckSession session;
  auto job = MakeJob(command, (*workshop)->path(), guard, world.io);
  if (guard.interrupted())
    return Fail(world.io, "check", "Interrupted before the first run.", kExitInterrupted);
  if (!job.ok()) return Fail(world.io, "check", job.error().message, JobExitCode(job.error()));
  session.trainer = std::move(job->trainer);
  auto runs = RunsFor(checks);
  if (job->failed) UseFailedRun(*std::move(job->failed), runs, session);
  check::CheckingOptions options = OptionsOf(command, (*workshop)->path());
  options.settings = std::move(job->settings);
  options.volumes = std::move(job->volumes);
  options.interrupted = [&guard] { return guard.interrupted(); };
  ShowProgress(options, runs.size(), world.io);
  const Status made = MakeRuns(runs, options, session);
  if (!made.ok() && !guard.interrupted()) {
    return Fail(world.io, "check", made.error().message, CheckExitCode(made.error()));
  }
  CheckReport report = ReportOf(command, checks, session);
  report.interrupted = guard.interrupted();
  report.took = stopwatch.Elapsed();
  PrintCheckReport(command, report, world.io);
  const Status written = WriteReports(command, report, world.io);
  if (!written.ok()) return Fail(world.io, "check", written.error().message, kExitUsage);
  if (report.interrupted) return kExitInterrupted;
  return report.Count(CheckVerdict::kFail) > 0 ? kExitFailure : kExitSuccess;
}

}  // namespace caip::cli
