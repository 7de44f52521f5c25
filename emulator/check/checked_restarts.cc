#include "emulator/check/checked_restarts.h"

#include "emulator/explore/exploring.h"
#include "emulator/explore/finding_paths.h"
#include "emulator/explore/fingerprint.h"

namespace caip::check {
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

// Objects lie beside the file of the job, in a folder of its name.
Result<Json> BucketJson(const std::string& name, const harness::BucketContents& bucket,
                        const Path& file) {
  if (bucket.from)
    return Json{{"from", explore::SeenFrom(file.parent_path(), *bucket.from).string()}};
  if (bucket.objects.empty()) return Json::object();
  const Path here = Path(file).replace_extension() / name;
  for (const auto& [object, bytes] : bucket.objects) {
    RETURN_IF_ERROR(MakeDirectories((here / object).parent_path()));
    RETURN_IF_ERROR(WriteFile(here / object, bytes));
  }
  return Json{{"from", explore::SeenFrom(file.parent_path(), here).string()}};
}

std::string Milliseconds(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + "ms";
}

// All but the buckets. JSON is YAML.
Json JobJson(const Scenario& scenario) {
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
  return job;
}

// A name of its own for each job: the same when its package was mended, and when it took longer.
std::string NameOf(Json job) {
  job["job"]["config"].erase("packageUris");
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

// What an earlier check of this job left.
void RemoveJob(const Path& file) {
  std::error_code error;
  std::filesystem::remove(file, error);
  RemoveTree(Path(file).replace_extension());
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
  if (!plan.budget) exploring.disks = explore::Disks::kBoth;
  return exploring;
}

}  // namespace

Status ExploreRestarts(const harness::RunPlan& plan, const CheckingOptions& options,
                       harness::CheckRun& run) {
  std::error_code error;
  Scenario scenario = plan.scenario;
  const Path folder = std::filesystem::absolute(options.findings, error);
  scenario.file = folder / NameOf(JobJson(scenario));  // which findings extend
  const auto report = explore::Explore(scenario, OptionsOf(plan, options));
  if (!report.ok() && report.error().code == Code::kFailedPrecondition) {
    run.skipped = report.error().message;
    return Ok{};
  }
  if (!report.ok()) return report.error();
  run.restarts_tried = report->tried;
  run.not_all = report->ended;
  run.not_compared = report->not_compared;
  run.not_compared.insert(run.not_compared.end(), report->counting.begin(), report->counting.end());
  RemoveJob(scenario.file);
  if (report->findings.empty()) return Ok{};
  RETURN_IF_ERROR(MakeDirectories(folder));
  RETURN_IF_ERROR(WriteJob(scenario));
  for (const explore::ExploreFinding& finding : report->findings) {
    std::string found = finding.flaw.found;
    if (!finding.flaw.doubt.empty()) found += " (" + finding.flaw.doubt + ")";
    run.flaws.push_back({finding.flaw.cause, harness::Describe(finding.point),
                         finding.flaw.expected, std::move(found), finding.scenario.string(),
                         !finding.flaw.doubt.empty()});
  }
  return Ok{};
}

}  // namespace caip::check
