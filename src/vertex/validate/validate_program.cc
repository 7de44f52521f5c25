// What a worker pool runs: images, packages, arguments, variables, mounts.

#include <algorithm>
#include <set>

#include "base/text.h"
#include "google/gcs_uri.h"
#include "google/resource_names.h"
#include "vertex/environment.h"
#include "vertex/limits.h"
#include "vertex/validate/validate_parts.h"
#include "vertex/validate/violations.h"

namespace caip::vertex {
namespace {

bool HoldsNulCharacter(const std::string& text) { return text.find('\0') != std::string::npos; }

// A command line cannot contain a NUL; only the first one is reported.
void ExamineWords(const PoolExamination& exam, const std::vector<std::string>& words,
                  const std::string& field) {
  const auto bad = std::find_if(words.begin(), words.end(), HoldsNulCharacter);
  if (bad == words.end()) return;
  exam.Report(field + "[" + std::to_string(bad - words.begin()) + "]", violations::HoldsNul());
}

void ExamineArgs(const PoolExamination& exam, const std::string& task) {
  size_t length = 0;
  for (const std::string& arg : exam.pool.args()) length += DecodeUtf8(arg).size();
  if (length > kArgsMax) exam.Report(task + ".args", violations::ArgsTooLong(length));
  ExamineWords(exam, exam.pool.args(), task + ".args");
}

bool IsIdentifier(std::string_view name) {
  if (name.empty() || IsDigit(name.front())) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

void ExamineEnv(const PoolExamination& exam, const std::string& task) {
  const std::vector<EnvVar>& env = exam.pool.env();
  if (env.size() > kEnvVarsMax) exam.Report(task + ".env", violations::TooManyEnvVars(env.size()));
  std::set<std::string> names;
  bool is_unique = true;
  for (size_t i = 0; i < env.size(); ++i) {
    const std::string field = task + ".env[" + std::to_string(i) + "]";
    if (env[i].name.empty()) {
      exam.Report(field + ".name", violations::Required());
    } else if (!IsIdentifier(env[i].name)) {
      exam.Report(field + ".name", violations::EnvVarNameIllegal(env[i].name));
    } else {
      is_unique = names.insert(env[i].name).second && is_unique;
    }
    if (HoldsNulCharacter(env[i].value)) exam.Report(field + ".value", violations::HoldsNul());
  }
  if (!is_unique) exam.Report(task + ".env", violations::EnvVarNamesNotUnique());
}

// Without the service's variables, whose values depend on the run.
void ExamineExpandedEnv(const PoolExamination& exam, const std::string& task) {
  const std::vector<EnvVar>& env = exam.pool.env();
  run::Environment known;
  size_t bytes = 0;
  for (size_t i = 0; i < std::min(env.size(), kEnvVarsMax); ++i) {
    known.emplace_back(env[i].name, ExpandVariables(env[i].value, known));
    bytes += known.back().second.size();
    if (known.back().second.size() <= kVariableBytesMax) continue;
    const std::string field = task + ".env[" + std::to_string(i) + "].value";
    exam.Report(field, violations::EnvVarTooLong(kVariableBytesMax));
  }
  if (bytes > kEnvironmentBytesMax) {
    exam.Report(task + ".env", violations::EnvTooLong(kEnvironmentBytesMax));
  }
}

void ExamineImage(const PoolExamination& exam, const std::string& field, const std::string& uri) {
  if (uri.empty()) {
    exam.Report(field, violations::Required());
  } else if (!google::IsImageUri(uri)) {
    exam.Report(field, violations::ImageMalformed(uri));
  }
}

void ExamineContainer(const PoolExamination& exam, const ContainerSpec& container) {
  ExamineImage(exam, "container_spec.image_uri", container.image_uri);
  ExamineWords(exam, container.command, "container_spec.command");
}

void ExaminePackages(const PoolExamination& exam, const std::vector<std::string>& uris) {
  const std::string field = "python_package_spec.package_uris";
  if (uris.empty()) exam.Report(field, violations::Required());
  if (uris.size() > kPackagesMax) exam.Report(field, violations::TooManyPackages(uris.size()));
  for (size_t i = 0; i < uris.size(); ++i) {
    const std::string at = field + "[" + std::to_string(i) + "]";
    const Result<google::GcsUri> parsed = google::ParseGcsUri(uris[i]);
    if (!parsed.ok()) {
      exam.Report(at, violations::PackageMalformed(uris[i], parsed.error().message));
    } else if (parsed->object.empty() || parsed->object.ends_with('/')) {
      exam.Report(
          at, violations::PackageMalformed(uris[i], "Name the package's archive in the bucket."));
    }
  }
}

void ExaminePythonPackage(const PoolExamination& exam, const PythonPackageSpec& package) {
  ExamineImage(exam, "python_package_spec.executor_image_uri", package.executor_image_uri);
  ExaminePackages(exam, package.package_uris);
  if (package.python_module.empty()) {
    exam.Report("python_package_spec.python_module", violations::Required());
  } else if (!google::IsPythonModule(package.python_module)) {
    exam.Report("python_package_spec.python_module",
                violations::ModuleMalformed(package.python_module));
  }
}

// Each mount has a place of its own.
void ExamineMountPoint(const PoolExamination& exam, const NfsMount& mount, const std::string& field,
                       MountPlaces& places) {
  const auto place = PlaceOf(mount);
  if (mount.mount_point.empty()) return exam.Report(field, violations::Required());
  if (!place) return exam.Report(field, violations::NfsMountPointMalformed(mount.mount_point));
  const auto other = places.Add(*place);
  if (other) exam.Report(field, violations::NfsMountPointTaken(*place, *other));
}

void ExamineMounts(const PoolExamination& exam) {
  MountPlaces places;
  for (size_t i = 0; i < exam.pool.nfs_mounts.size(); ++i) {
    const NfsMount& mount = exam.pool.nfs_mounts[i];
    const std::string field = "nfs_mounts[" + std::to_string(i) + "]";
    if (mount.server.empty()) exam.Report(field + ".server", violations::Required());
    if (mount.path.empty()) {
      exam.Report(field + ".path", violations::Required());
    } else if (!IsNfsPath(mount.path)) {
      exam.Report(field + ".path", violations::NfsPathMalformed(mount.path));
    }
    ExamineMountPoint(exam, mount, field + ".mount_point", places);
  }
}

}  // namespace

void ExamineProgram(const PoolExamination& exam) {
  const WorkerPoolSpec& pool = exam.pool;
  const bool has_both = pool.container && pool.python_package;
  if (has_both || (!pool.container && !pool.python_package)) {
    exam.Report("", violations::TasksOfPool(has_both));
  } else if (pool.container) {
    ExamineContainer(exam, *pool.container);
  } else {
    ExaminePythonPackage(exam, *pool.python_package);
  }
  const std::string task = pool.container ? "container_spec" : "python_package_spec";
  ExamineArgs(exam, task);
  ExamineEnv(exam, task);
  ExamineExpandedEnv(exam, task);
  ExamineMounts(exam);
}

}  // namespace caip::vertex
