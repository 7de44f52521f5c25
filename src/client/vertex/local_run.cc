#include "client/vertex/local_run.h"

#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "base/text.h"
#include "client/vertex/local_image.h"
#include "client/vertex/vertex_errors.h"

namespace caip::client::vertex {
namespace {

namespace fs = std::filesystem;

constexpr char kLocalProject[] = "local-run";  // the emulator has every project
constexpr char kLocalRegion[] = "us-central1";
constexpr char kLocalMachine[] = "n1-standard-4";
constexpr char kLocalGpu[] = "NVIDIA_TESLA_T4";

bool IsGiven(const std::optional<std::string>& flag) { return flag && !flag->empty(); }

// The flags that only matter for an image that is built, sorted.
std::vector<std::string> BuildFlags(const LocalRunRequest& request) {
  std::vector<std::string> names;
  if (!request.extra_dirs.empty()) names.emplace_back("extra-dirs");
  if (!request.extra_packages.empty()) names.emplace_back("extra-packages");
  if (IsGiven(request.output_image)) names.emplace_back("output-image-uri");
  if (IsGiven(request.python_module)) names.emplace_back("python-module");
  if (!request.requirements.empty()) names.emplace_back("requirements");
  if (IsGiven(request.script)) names.emplace_back("script");
  return names;
}

// The file that --script or --python-module names.
std::string ScriptOf(const LocalRunRequest& request) {
  if (IsGiven(request.script)) return *request.script;
  return ReplaceAll(*request.python_module, ".", "/") + ".py";
}

Status CheckBuildFlags(const LocalRunRequest& request, const Path& directory) {
  if (!IsGiven(request.script) && !IsGiven(request.python_module)) {
    return errors::EntryPointMissing(BuildFlags(request));
  }
  std::error_code error;
  const std::string script = ScriptOf(request);
  if (!fs::is_regular_file(directory / script, error)) {
    return errors::ScriptMissing(IsGiven(request.script) ? "--script" : "--python-module", script,
                                 directory.string());
  }
  for (const std::string& package : request.extra_packages) {
    if (fs::is_regular_file(directory / package, error)) continue;
    return errors::ExtraPackageMissing(package, directory.string());
  }
  for (const std::string& folder : request.extra_dirs) {
    if (fs::is_directory(directory / folder, error)) continue;
    return errors::ExtraDirectoryMissing(folder, directory.string());
  }
  if (!IsGiven(request.output_image)) return Ok{};
  const std::string problem = ImageProblem(*request.output_image);
  return problem.empty() ? Status(Ok{})
                         : Status(errors::LocalRunImageInvalid(*request.output_image, problem));
}

// The pool whose image the run builds.
PoolFlag PoolOf(const LocalRunRequest& request, const Path& directory) {
  PoolFlag pool;
  pool.texts["local-package-path"] = directory.string();
  if (IsGiven(request.output_image)) pool.texts["output-image-uri"] = *request.output_image;
  if (IsGiven(request.script)) {
    pool.texts["script"] = *request.script;
  } else {
    pool.texts["python-module"] = *request.python_module;
  }
  if (!request.requirements.empty()) pool.lists["requirements"] = request.requirements;
  if (!request.extra_packages.empty()) pool.lists["extra-packages"] = request.extra_packages;
  return pool;
}

Json ContainerOf(const LocalRunRequest& request, const std::string& image) {
  Json container = {{"imageUri", image}};
  if (!request.args.empty()) container["args"] = request.args;
  if (IsGiven(request.key_file)) {
    const std::string file = PackageDirectory(*request.key_file).string();
    container["env"] = Json::array({{{"name", "GOOGLE_APPLICATION_CREDENTIALS"}, {"value", file}}});
  }
  return container;
}

Json LocalRunJob(const LocalRunRequest& request, const std::string& image) {
  Json machine = {{"machineType", kLocalMachine}};
  if (request.gpu) {
    machine["acceleratorType"] = kLocalGpu;
    machine["acceleratorCount"] = 1;
  }
  Json pool = {{"machineSpec", std::move(machine)},
               {"replicaCount", "1"},
               {"containerSpec", ContainerOf(request, image)}};
  return {{"displayName", "local-run"},
          {"jobSpec", {{"workerPoolSpecs", Json::array({std::move(pool)})}}}};
}

// gcloud needs neither a project nor a region for a local run.
Location LocalRunPlace(const GcloudContext& gcloud) {
  const Result<std::string> project = ProjectOf(gcloud);
  const Result<Location> place = LocationOf(gcloud, std::nullopt);
  if (place.ok()) return *place;
  return {project.ok() ? *project : kLocalProject, kLocalRegion};
}

}  // namespace

Result<PreparedLocalRun> PrepareLocalRun(const LocalRunRequest& request, Instant now) {
  const Path directory = PackageDirectory(request.package_path.value_or(""));
  std::error_code error;
  if (IsGiven(request.package_path) && !fs::is_directory(directory, error)) {
    return errors::LocalRunDirectoryMissing(directory.string());
  }
  PreparedLocalRun run;
  run.directory = directory.string();
  run.image = request.executor_image;
  run.job.location = LocalRunPlace(request.gcloud);
  if (!BuildFlags(request).empty()) {
    RETURN_IF_ERROR(CheckBuildFlags(request, directory));
    run.job.image = MakeLocalImage(PoolOf(request, directory), ScriptOf(request), "", now);
    run.image = run.job.image->uri;
  }
  if (run.image.empty()) return errors::ExecutorImageEmpty();
  run.job.job = LocalRunJob(request, run.image);
  return run;
}

}  // namespace caip::client::vertex
