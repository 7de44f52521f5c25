#include "emulator/check/checking.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "base/clock.h"
#include "client/packaging_build.h"
#include "emulator/check/errors.h"
#include "emulator/check/launch_edits.h"
#include "emulator/check/trace_recorder.h"
#include "emulator/explore/exploring.h"
#include "emulator/explore/fingerprint.h"
#include "emulator/scenario/abilities.h"
#include "emulator/scenario/run_isolation.h"
#include "emulator/scenario/scenario_run.h"
#include "harness/check/run_evidence.h"
#include "host/process/child_process.h"
#include "ml/catalog/catalog.h"

namespace caip::check {
namespace {

using harness::CheckRun;
using harness::CheckRunKind;
using harness::CheckSession;
using harness::RunPlan;
using harness::Scenario;

// Writes the objects to a folder beside the file of the job, with the name of that file.
Result<Json> BucketJson(const std::string& name, const harness::BucketContents& bucket,
                        const Path& file) {
  if (bucket.from)
    return Json{{"from", explore::RelativeTo(file.parent_path(), *bucket.from).string()}};
  if (bucket.objects.empty()) return Json::object();
  const Path here = Path(file).replace_extension() / name;
  for (const auto& [object, bytes] : bucket.objects) {
    RETURN_IF_ERROR(MakeDirectories((here / object).parent_path()));
    RETURN_IF_ERROR(WriteFile(here / object, bytes));
  }
  return Json{{"from", explore::RelativeTo(file.parent_path(), here).string()}};
}

std::string Milliseconds(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + "ms";
}

// The scenario without its buckets. JSON is YAML.
Json JobJson(const Scenario& scenario) {
  Json job = {{"description", "The job that was given to caip check."}, {"seed", scenario.seed}};
  Json document = scenario.document;
  if (!scenario.images.empty()) {  // it names one command for all, which a job without images runs
    scenario.kind->RemoveImages(document);
    const std::vector<std::string> images = scenario.kind->ImagesOf(scenario.document);
    const auto image = scenario.images.find(images.empty() ? "" : images.front());
    const auto& command =
        image == scenario.images.end() ? scenario.images.begin()->second : image->second;
    job["trainer"] = {{"command", command}};
  }
  job["job"] = {{std::string(scenario.kind->document_key()), std::move(document)}};
  if (!scenario.steps.regex.empty()) job["steps"] = {{"regex", scenario.steps.regex}};
  if (scenario.semantics == harness::Semantics::kPosix) job["semantics"] = "posix";
  if (scenario.own_ports) job["addressing"] = "ports";
  job["limits"] = {{"wall", Milliseconds(scenario.limits.wall)},
                   {"no_progress", Milliseconds(scenario.limits.no_progress)}};
  return job;
}

// One name for each job. It stays the same when the package was fixed or the limits changed.
std::string FileNameOf(Json job) {
  if (job["job"].contains("config")) job["job"]["config"].erase("packageUris");
  job.erase("limits");
  return "job-" + explore::ShortHash(CompactJson(job)) + ".yaml";
}

Status WriteJob(const Scenario& scenario) {
  Json job = JobJson(scenario);
  for (const auto& [name, bucket] : scenario.buckets) {
    ASSIGN_OR_RETURN(Json contents, BucketJson(name, bucket, scenario.file));
    if (!contents.empty()) job["buckets"][name] = std::move(contents);
  }
  return WriteFile(scenario.file, PrettyJson(job) + "\n");
}

// Removes the files of an earlier check of this job.
void RemoveJob(const Path& file) {
  std::error_code error;
  std::filesystem::remove(file, error);
  RemoveTree(Path(file).replace_extension());
}

// Whether the plan, not the user, makes the replicas processes of this host.
bool ChoosesProcesses(const RunPlan& plan, const CheckingOptions& options) {
  return !plan.on_machines && options.settings.options.isolation == app::Isolation::kByHost;
}

// Replicas are processes of this host unless the plan or a setting asks for machines.
scenario::RunSettings SettingsOf(const RunPlan& plan, const CheckingOptions& options) {
  scenario::RunSettings settings = options.settings;
  if (ChoosesProcesses(plan, options)) settings.options.isolation = app::Isolation::kProcess;
  return settings;
}

// Whether a run can have machines that no flag asks for.
bool MayChooseMachines(const RunPlan& plan, const CheckingOptions& options) {
  const app::EmulatorOptions& settings = options.settings.options;
  return settings.isolation == app::Isolation::kByHost && !plan.scenario.own_ports &&
         scenario::IsolationOf(settings, options.workshop) == app::Isolation::kMachine;
}

// Whether other runs at the same time may use the ports of the replicas of this run. Replicas of a
// command have no TF_CONFIG.
bool SharesPorts(const CheckRunKind& kind, const RunPlan& plan, const CheckingOptions& options) {
  const app::Isolation isolation =
      scenario::IsolationOf(SettingsOf(plan, options).options, options.workshop);
  const bool is_command = !plan.scenario.working_directory.empty();
  return !kind.after.empty() && !is_command && isolation == app::Isolation::kProcess;
}

explore::ExploreOptions OptionsOf(const harness::RunPlan& plan, const CheckingOptions& options) {
  explore::ExploreOptions exploring;
  exploring.workshop = options.workshop;
  exploring.out = options.workshop / "findings";
  exploring.findings = options.findings;
  exploring.jobs = options.jobs;
  exploring.budget = plan.budget;
  exploring.points_max = plan.points_max;
  exploring.interrupted = options.interrupted;
  exploring.settings = SettingsOf(plan, options);
  exploring.volumes = options.volumes;
  exploring.pairs = explore::Pairs::kNone;
  exploring.kept_sample = false;
  if (!plan.budget) exploring.disks = explore::Disks::kBoth;
  return exploring;
}

// Writes the file that findings extend, with the buckets that it needs beside it. That of a command
// is there already.
Status KeepJob(const Scenario& scenario, bool has_findings) {
  const bool is_command = !scenario.working_directory.empty();
  if (!is_command || !has_findings) RemoveJob(scenario.file);
  if (is_command || !has_findings) return Ok{};
  RETURN_IF_ERROR(MakeDirectories(scenario.file.parent_path()));
  return WriteJob(scenario);
}

// Explores the plan's job and fills in flaws. If there are any, it writes their scenarios to
// `options.findings`, with the job and the buckets that they need beside them. A job that cannot be
// explored becomes a run that was skipped.
Status ExploreRestarts(const harness::RunPlan& plan, const CheckingOptions& options,
                       harness::CheckRun& run) {
  std::error_code error;
  Scenario scenario = plan.scenario;
  const Path folder = std::filesystem::absolute(options.findings, error);
  const bool is_command = !scenario.working_directory.empty();
  if (!is_command) scenario.file = folder / FileNameOf(JobJson(scenario));  // findings extend it
  const auto report = explore::Explore(scenario, OptionsOf(plan, options));
  if (!report.ok() && report.error().code == Code::kFailedPrecondition) {
    run.skipped = report.error().message;
    return Ok{};
  }
  if (!report.ok()) return report.error();
  if (ChoosesProcesses(plan, options)) run.repeated_flags = " --isolation process";
  run.restarts_tried = report->tried;
  run.failures_tried = report->failures;
  run.not_all = report->ended;
  run.not_compared = report->not_compared;
  run.not_compared.insert(run.not_compared.end(), report->counting.begin(), report->counting.end());
  RETURN_IF_ERROR(KeepJob(scenario, !report->findings.empty()));
  for (const explore::ExploreFinding& finding : report->findings) {
    std::string found = finding.flaw.found;
    if (!finding.flaw.doubt.empty()) found += " (" + finding.flaw.doubt + ")";
    run.flaws.push_back({finding.flaw.cause, harness::Describe(finding.point),
                         finding.flaw.expected, std::move(found), finding.scenario.string(),
                         !finding.flaw.doubt.empty(),
                         finding.flaw.kind == harness::Flaw::Kind::kSpoiledOutput});
  }
  return Ok{};
}

// Runs look_at_packages.py with a Python of this host. Does not run anything of the trainer.
Result<Json> LookAtPackages(const Json& question) {
  const std::vector<std::string> pythons = client::BuildPythons();
  if (pythons.empty()) {
    return errors::PythonNotFound();
  }
  host::Tool tool;
  tool.argv = {pythons.front(), "-c", std::string(LookAtPackagesText()), CompactJson(question)};
  tool.environment = host::OwnEnvironment();
  std::string output;
  std::string error_output;
  tool.on_line = [&](host::ToolStream stream, std::string_view line) {
    (stream == host::ToolStream::kOut ? output : error_output).append(line).append("\n");
  };
  ASSIGN_OR_RETURN(const host::ToolResult result, host::RunTool(tool));
  if (result.ok()) return ParseJson(output);
  return errors::PackageInspectionFailed(error_output);
}

// Whether the Python of a virtual environment finds the module. False if that is not known.
bool HasModule(const Path& environment, const std::string& module) {
  const auto look = LookAtPackages({{"archives", Json::array()},
                                    {"source", ""},
                                    {"environment", environment.string()},
                                    {"runtime", Json::array()},
                                    {"modules", {module}}});
  const Json* places = look.ok() ? Member(*look, "places") : nullptr;
  const std::string place = places ? StringOr(*places, module) : "";
  return !place.empty() && place != "nowhere";
}

Error ModuleMissing(const std::string& module, const Scenario& job) {
  const auto program = job.kind->PythonModuleOf(job.document);
  const std::string version = program ? program->software_version : "";
  if (ml::DefaultCatalog().FindRuntime(version)) {
    return errors::RuntimeModuleMissing(module, "Runtime version " + version, version);
  }
  return errors::RuntimeModuleMissing(
      module, version.empty() ? "The service" : "The image '" + version + "'", "");
}

/// Makes runs on several threads. Each begins as soon as the runs that its plan needs are made.
class Maker {
 public:
  Maker(const std::vector<const CheckRunKind*>& kinds, const CheckingOptions& options,
        CheckSession& session)
      : kinds_(kinds), options_(options), session_(session) {}

  Status Run() {
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < std::max<int64_t>(1, options_.jobs); ++i) {
      threads.emplace_back([this] { Work(); });
    }
    for (std::thread& thread : threads) thread.join();
    return outcome_;
  }

 private:
  bool Interrupted() const { return options_.interrupted && options_.interrupted(); }

  void Work() {
    std::unique_lock lock(mutex_);
    while (outcome_.ok() && !Interrupted() && begun_.size() < kinds_.size()) {
      const CheckRunKind* kind = Next();
      if (!kind) {
        changed_.wait(lock);
        continue;
      }
      begun_.insert(kind->name);
      const RunPlan plan = kind->plan(session_);
      lock.unlock();
      const auto begin = MonotonicNow();
      auto run = Make(*kind, plan);
      lock.lock();
      if (!run.ok() && outcome_.ok()) outcome_ = run.error();
      if (run.ok() && !Interrupted()) {
        run->took = MonotonicNow() - begin;
        if (options_.made) options_.made(*kind, *run);
        session_.runs[kind->name] = *std::move(run);
        if (kind->after.empty() && outcome_.ok()) outcome_ = CheckSoftwareOfHost();
      }
      changed_.notify_all();
    }
    changed_.notify_all();
  }

  const CheckRunKind* Next() const {
    for (const CheckRunKind* kind : kinds_) {
      const bool ready = std::all_of(kind->after.begin(), kind->after.end(), [&](const auto& name) {
        return session_.runs.contains(name);
      });
      if (ready && !begun_.contains(kind->name)) return kind;
    }
    return nullptr;
  }

  Result<CheckRun> Make(const CheckRunKind& kind, RunPlan plan) {
    CheckRun run;
    run.skipped = plan.skip;
    if (!run.skipped.empty()) return run;
    if (plan.how == RunPlan::How::kLook) {
      plan.look["environment"] = EnvironmentAfter(StringOr(plan.look, "environment")).string();
      ASSIGN_OR_RETURN(run.look, LookAtPackages(plan.look));
      return run;
    }
    run.skipped = scenario::DescribeMissingAbility(plan.scenario);
    if (!run.skipped.empty()) return run;
    const bool explores = plan.how == RunPlan::How::kExplore;
    if (needs_ports_ || SharesPorts(kind, plan, options_)) plan.scenario.own_ports = true;
    if (plan.needs_machines && !MayChooseMachines(plan, options_)) {
      run.skipped = "its replicas would be what those of the plain run are";
      return run;
    }
    RETURN_IF_ERROR(explores ? ExploreRestarts(plan, options_, run) : RunScenario(kind, plan, run));
    return run;
  }

  // The place of a run's environment after the run. The run had a link to it in its own folder.
  Path EnvironmentAfter(const Path& environment) const {
    if (environment.empty()) return {};
    return options_.workshop / "caches" / "environments" / environment.filename();
  }

  // Fails if the plain run failed because the Python of this host lacks a module of the job's
  // software.
  Status CheckSoftwareOfHost() {
    if (session_.trainer.is_command) return Ok{};
    const harness::MissingModule module = harness::MissingModuleOf(session_);
    if (module.origin != harness::MissingModule::Origin::kRuntime) return Ok{};
    CheckRun& plain = session_.runs.at("plain");
    const std::string environment =
        plain.launched.empty() ? "" : plain.launched.front().Variable("VIRTUAL_ENV");
    plain.has_module =
        HasModule(EnvironmentAfter(environment), harness::ModuleOfDistribution(module.name));
    if (plain.has_module) return Ok{};
    return ModuleMissing(module.name, session_.trainer.job);
  }

  // A plain run that fails as a process of this host is made again on a machine. If it succeeds
  // there, this host has prevented it: another program may listen on a port of the trainer.
  Status RunScenario(const CheckRunKind& kind, const RunPlan& plan, CheckRun& run) {
    RETURN_IF_ERROR(RunWithPorts(kind, plan, run));
    const bool is_process = kind.after.empty() && ChoosesProcesses(plan, options_);
    const bool has_failed = run.evidence.state == "FAILED" && run.evidence.broke_off.empty();
    if (!is_process || !has_failed || !MayChooseMachines(plan, options_)) return Ok{};
    RunPlan again = plan;
    again.on_machines = true;
    CheckRun on_machine;
    ASSIGN_OR_RETURN(const bool lacked_port, TryScenario(kind, again, on_machine));
    if (lacked_port || !on_machine.succeeded()) return Ok{};
    run = std::move(on_machine);
    needs_ports_ = false;
    return Ok{};
  }

  // If replicas that are processes of this host could not listen on port 2222, the run is made
  // again with a port for each of them. Runs after such a plain run get their own ports at once.
  Status RunWithPorts(const CheckRunKind& kind, RunPlan plan, CheckRun& run) {
    ASSIGN_OR_RETURN(const bool lacked_port, TryScenario(kind, plan, run));
    if (!lacked_port) return Ok{};
    if (kind.after.empty()) needs_ports_ = true;
    plan.scenario.own_ports = true;
    RETURN_IF_ERROR(TryScenario(kind, plan, run));
    return Ok{};
  }

  // Returns whether the run shows nothing, because its replicas could not listen on port 2222.
  Result<bool> TryScenario(const CheckRunKind& kind, const RunPlan& plan, CheckRun& run) {
    scenario::RunOptions run_options;
    run_options.state = options_.workshop / ("check-" + kind.name);
    run_options.caches = options_.workshop / "caches";
    run_options.seed = plan.scenario.seed;
    run_options.interrupted = options_.interrupted;
    run_options.settings = SettingsOf(plan, options_);
    run_options.volumes = options_.volumes;
    run_options.alter_launch = LaunchEditorOf(plan);
    const Path state = run_options.state;
    RETURN_IF_ERROR(MakeDirectories(state));
    std::error_code error;
    TraceRecorder traces(std::filesystem::canonical(state, error) / "buckets", plan.watches_files);
    run_options.observer = &traces;
    auto attempt = std::make_unique<scenario::ScenarioRun>(plan.scenario, std::move(run_options));
    auto evidence = attempt->Run();
    const bool lacked_port = !evidence.ok() && attempt->lacked_task_port();
    attempt.reset();
    RemoveTree(state);
    if (lacked_port) return true;
    if (!evidence.ok()) return evidence.error();
    run.evidence = *std::move(evidence);
    traces.HandOver(run);
    return false;
  }

  const std::vector<const CheckRunKind*>& kinds_;
  const CheckingOptions& options_;
  CheckSession& session_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> begun_;
  std::atomic<bool> needs_ports_{false};
  Status outcome_ = Ok{};
};

}  // namespace

Status MakeRuns(const std::vector<const CheckRunKind*>& kinds, const CheckingOptions& options,
                CheckSession& session) {
  return Maker(kinds, options, session).Run();
}

}  // namespace caip::check
