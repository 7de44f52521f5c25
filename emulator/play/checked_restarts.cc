#include "emulator/play/checked_restarts.h"

#include "emulator/play/exploring.h"

namespace caip::play {
namespace {

using harness::Scenario;

// A scenario names one command for all roles; without an image of its own the job gets it.
Json WithoutImages(Json input) {
  for (const char* role : {"master", "worker", "parameterServer", "evaluator"}) {
    const std::string config = std::string(role) + "Config";
    if (!input.contains(config)) continue;
    input[config].erase("imageUri");
    if (input[config].empty()) input.erase(config);
  }
  return input;
}

Result<Json> BucketJson(const std::string& name, const harness::BucketContents& bucket,
                        const Path& folder) {
  if (bucket.from) return Json{{"from", bucket.from->string()}};
  if (bucket.objects.empty()) return Json::object();
  const Path here = folder / "buckets" / name;
  for (const auto& [object, bytes] : bucket.objects) {
    RETURN_IF_ERROR(MakeDirectories((here / object).parent_path()));
    RETURN_IF_ERROR(WriteFile(here / object, bytes));
  }
  return Json{{"from", here.string()}};
}

std::string Milliseconds(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + "ms";
}

// JSON is YAML.
Status WriteJob(const Scenario& scenario, const Path& folder) {
  Json job = {{"description", "The job that was given to caip check."}, {"seed", scenario.seed}};
  job["job"] = {{"config", scenario.images.empty() ? scenario.training_input
                                                   : WithoutImages(scenario.training_input)}};
  if (!scenario.images.empty()) {
    job["trainer"] = {{"command", scenario.images.begin()->second}};
  }
  if (!scenario.step_regex.empty()) job["steps"] = {{"regex", scenario.step_regex}};
  if (scenario.semantics == harness::Semantics::kPosix) job["semantics"] = "posix";
  if (scenario.own_ports) job["addressing"] = "ports";
  job["limits"] = {{"wall", Milliseconds(scenario.limits.wall)},
                   {"no_progress", Milliseconds(scenario.limits.no_progress)}};
  for (const auto& [name, bucket] : scenario.buckets) {
    ASSIGN_OR_RETURN(Json contents, BucketJson(name, bucket, folder));
    if (!contents.empty()) job["buckets"][name] = std::move(contents);
  }
  return WriteFile(folder / "job.yaml", PrettyJson(job) + "\n");
}

ExploreOptions OptionsOf(const harness::RunPlan& plan, const CheckingOptions& options) {
  ExploreOptions exploring;
  exploring.workshop = options.workshop;
  exploring.out = options.workshop / "findings";
  exploring.jobs = options.jobs;
  exploring.budget = plan.budget;
  exploring.points_max = plan.points_max;
  exploring.interrupted = options.interrupted;
  if (!plan.budget) exploring.disks = Disks::kBoth;
  return exploring;
}

}  // namespace

Status ExploreRestarts(const harness::RunPlan& plan, const CheckingOptions& options,
                       harness::CourseRun& run) {
  std::error_code error;
  const Path folder = std::filesystem::absolute(options.findings, error);
  Scenario scenario = plan.scenario;
  scenario.file = folder / "job.yaml";  // which findings extend
  const auto report = Explore(scenario, OptionsOf(plan, options));
  if (!report.ok() && report.error().code == Code::kFailedPrecondition) {
    run.skipped = report.error().message;
    return Ok{};
  }
  if (!report.ok()) return report.error();
  run.restarts_tried = report->tried;
  run.not_all = report->ended;
  if (report->findings.empty()) return Ok{};
  RETURN_IF_ERROR(MakeDirectories(folder));
  RETURN_IF_ERROR(WriteJob(scenario, folder));
  for (const ExploreFinding& finding : report->findings) {
    const Path kept = folder / finding.scenario.filename();
    ASSIGN_OR_RETURN(const std::string text, ReadFile(finding.scenario));
    RETURN_IF_ERROR(WriteFile(kept, text));
    run.flaws.push_back({finding.flaw.cause, Describe(finding.point), finding.flaw.expected,
                         finding.flaw.found, kept.string(), !finding.flaw.doubt.empty()});
  }
  return Ok{};
}

}  // namespace caip::play
