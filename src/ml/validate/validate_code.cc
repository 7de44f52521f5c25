// What the job runs: images and commands, packages and module, runtime and Python.

#include <algorithm>

#include "google/gcs_uri.h"
#include "google/resource_names.h"
#include "ml/cluster.h"
#include "ml/limits.h"
#include "ml/validate/validate_parts.h"
#include "ml/validate/violations.h"

namespace caip::ml {
namespace {

bool HasNul(const std::string& text) { return text.find('\0') != std::string::npos; }

// A command line cannot contain a NUL; only the first one is reported.
void ExamineWords(const Examination& exam, const std::vector<std::string>& words,
                  const std::string& field) {
  const auto bad = std::find_if(words.begin(), words.end(), HasNul);
  if (bad == words.end()) return;
  exam.Report(violations::HoldsNul(field + "[" + std::to_string(bad - words.begin()) + "]"));
}

void ExamineCommand(const Examination& exam, Role role, const ReplicaConfig& config) {
  if (config.container_command.empty() && config.container_args.empty()) return;
  if (!exam.RunsImage(role)) {
    if (!config.container_command.empty()) {
      exam.Report(violations::CommandWithoutImage(role, "container_command"));
    }
    if (!config.container_args.empty()) {
      exam.Report(violations::CommandWithoutImage(role, "container_args"));
    }
  }
  if (!exam.input.args.empty()) exam.Report(violations::ArgsAndCommand(role));
  ExamineWords(exam, config.container_command, RoleField(role, "config.container_command"));
  ExamineWords(exam, config.container_args, RoleField(role, "config.container_args"));
}

void ExamineBuiltIn(const Examination& exam) {
  if (!exam.is_built_in) return;
  if (!exam.input.package_uris.empty()) exam.Report(violations::BuiltInWith("package_uris"));
  if (!exam.input.python_module.empty()) exam.Report(violations::BuiltInWith("python_module"));
  if (exam.input.job_dir.empty()) {
    exam.Report(violations::Required("job_dir", "A built-in algorithm writes its model there."));
  }
}

// The packages of a pre-built container need a module, and nothing else may say what runs.
void ExaminePrebuiltContainer(const Examination& exam) {
  const TrainingInput& input = exam.input;
  if (!input.UsesContainer() || !IsPrebuiltImage(input.master.config->image_uri)) return;
  if (!RunsModuleInContainer(input)) {
    if (input.package_uris.empty()) return;
    exam.Report(violations::Required(
        "python_module", "Name the module of the packages that the pre-built container runs."));
    return;
  }
  for (const Role role : kRoles) {
    const auto& config = input.Of(role).config;
    if (!config) continue;
    if (!config->image_uri.empty() && !IsPrebuiltImage(config->image_uri)) {
      exam.Report(violations::ProgramBesideModule(role, "image_uri"));
    }
    if (!config->container_command.empty()) {
      exam.Report(violations::ProgramBesideModule(role, "container_command"));
    }
    if (!config->container_args.empty()) {
      exam.Report(violations::ProgramBesideModule(role, "container_args"));
    }
  }
}

std::vector<std::string> KnownPythons(const ValidationOptions& options) {
  std::vector<std::string> pythons;
  for (const std::string& version : options.RuntimeVersions()) {
    const Runtime* runtime = options.FindRuntime(version);
    pythons.insert(pythons.end(), runtime->pythons.begin(), runtime->pythons.end());
  }
  std::sort(pythons.begin(), pythons.end());
  pythons.erase(std::unique(pythons.begin(), pythons.end()), pythons.end());
  return pythons;
}

void ExaminePython(const Examination& exam, const Runtime* runtime) {
  const std::string& python = exam.input.python_version;
  if (python.empty()) return;
  const std::vector<std::string> known = KnownPythons(exam.options);
  if (std::find(known.begin(), known.end(), python) == known.end()) {
    exam.Report(violations::PythonUnknown(python, known));
  } else if (runtime != nullptr && std::find(runtime->pythons.begin(), runtime->pythons.end(),
                                             python) == runtime->pythons.end()) {
    exam.Report(violations::PythonNotInRuntime(python, runtime->version, runtime->pythons));
  }
}

}  // namespace

void ExamineImages(const Examination& exam) {
  for (const Role role : kRoles) {
    const auto& config = exam.input.Of(role).config;
    if (!config) continue;
    if (!config->image_uri.empty()) {
      if (!google::IsImageUri(config->image_uri)) {
        exam.Report(violations::ImageMalformed(role, config->image_uri));
      }
      if (!exam.input.UsesContainer()) exam.Report(violations::ImageWithoutMasterImage(role));
    }
    ExamineCommand(exam, role, *config);
  }
  ExamineWords(exam, exam.input.args, "args");
  ExamineBuiltIn(exam);
  ExaminePrebuiltContainer(exam);
}

void ExaminePackages(const Examination& exam) {
  const TrainingInput& input = exam.input;
  if (input.package_uris.empty() && !input.UsesContainer()) {
    exam.Report(violations::Required("package_uris",
                                     "Give the gs:// URIs of the job's packages, or set "
                                     "master_config.image_uri to a custom container."));
  }
  if (input.package_uris.size() > kPackagesMax) {
    exam.Report(violations::TooManyPackages(input.package_uris.size()));
  }
  for (const std::string& uri : input.package_uris) {
    const Result<google::GcsUri> parsed = google::ParseGcsUri(uri);
    if (!parsed.ok()) {
      exam.Report(violations::PackageMalformed(uri, parsed.error().message));
    } else if (parsed->object.empty() || parsed->object.ends_with('/')) {
      exam.Report(violations::PackageMalformed(uri, "Name the package's archive in the bucket."));
    }
  }
  if (input.python_module.empty()) {
    if (!input.UsesContainer()) {
      exam.Report(violations::Required("python_module", "Name the module to run: trainer.task"));
    }
  } else if (!google::IsPythonModule(input.python_module)) {
    exam.Report(violations::ModuleMalformed(input.python_module));
  }
  if (!input.job_dir.empty()) {
    const Result<google::GcsUri> parsed = google::ParseGcsUri(input.job_dir);
    if (!parsed.ok()) {
      exam.Report(violations::JobDirMalformed(input.job_dir, parsed.error().message));
    }
  }
}

void ExamineRuntime(const Examination& exam) {
  const TrainingInput& input = exam.input;
  if (input.UsesContainer()) {
    if (!input.runtime_version.empty()) exam.Report(violations::ImageAndRuntime());
    ExaminePython(exam, nullptr);
    return;
  }
  const std::string version =
      input.runtime_version.empty() ? exam.options.default_runtime_version : input.runtime_version;
  const Runtime* runtime = exam.options.FindRuntime(version);
  if (version.empty()) {
    exam.Report(violations::Required("runtime_version",
                                     "Name one, as '2.4', or set master_config.image_uri to a "
                                     "custom container."));
  } else if (!ParseRuntimeVersion(version)) {
    exam.Report(violations::RuntimeMalformed(version));
  } else if (runtime == nullptr) {
    exam.Report(violations::RuntimeUnknown(version, exam.options.RuntimeVersions()));
  } else if (exam.is_tpu_job && !runtime->supports_tpu) {
    exam.Report(violations::RuntimeWithoutTpu("runtime_version", version));
  }
  ExaminePython(exam, runtime);
}

}  // namespace caip::ml
