#include "vertex/validate/validate.h"

#include <algorithm>

#include "base/text.h"
#include "google/labels.h"
#include "google/resource_names.h"
#include "vertex/errors.h"
#include "vertex/limits.h"
#include "vertex/validate/validate_parts.h"
#include "vertex/validate/violations.h"

namespace caip::vertex {
namespace {

void ExamineDisplayName(const CustomJob& job, std::vector<FieldViolation>& found) {
  const size_t length = DecodeUtf8(job.display_name).size();
  if (length == 0) found.push_back({"display_name", violations::Required()});
  if (length > kDisplayNameMax) {
    found.push_back({"display_name", violations::DisplayNameTooLong(length)});
  }
}

bool IsDeclared(const std::string& resource, const ValidationOptions& options) {
  const auto& known = options.persistent_resources;
  return resource.empty() || std::find(known.begin(), known.end(), resource) != known.end();
}

}  // namespace

std::vector<std::string> ValidationOptions::RegionNames() const {
  std::vector<std::string> names = catalog->regions();
  names.insert(names.end(), extra_regions.begin(), extra_regions.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool ValidationOptions::HasRegion(std::string_view region) const {
  const std::vector<std::string> names = RegionNames();
  return std::binary_search(names.begin(), names.end(), region);
}

void ExamineLabels(const CustomJob& job, std::vector<FieldViolation>& found) {
  const auto report = [&](const std::string& what) {
    found.push_back({"labels", violations::LabelsIllegal(what)});
  };
  if (job.labels.size() > google::kLabelsMax) {
    report("There are " + std::to_string(job.labels.size()) + " labels.");
  }
  for (const auto& [key, value] : job.labels) {
    if (!google::IsLabelKey(key)) report("The key '" + key + "' is not allowed.");
    if (!google::IsLabelValue(value)) report("The value '" + value + "' is not allowed.");
  }
}

void ExamineKey(const CustomJob& job, std::string_view location,
                std::vector<FieldViolation>& found) {
  const std::string field = "encryption_spec.kms_key_name";
  if (!job.kms_key_name) return;
  const auto key_location = google::LocationOfKmsKey(*job.kms_key_name);
  if (job.kms_key_name->empty()) {
    found.push_back({field, violations::Required()});
  } else if (!key_location) {
    found.push_back({field, violations::KmsKeyMalformed(*job.kms_key_name)});
  } else if (*key_location != location) {
    found.push_back({field, violations::KmsKeyElsewhere(*key_location, location)});
  }
}

std::vector<FieldViolation> Validate(const CustomJob& job, std::string_view location,
                                     const ValidationOptions& options) {
  std::vector<FieldViolation> found;
  if (job.spec) ExaminePools({*job.spec, location, options, found});
  ExamineDisplayName(job, found);
  if (!job.spec) found.push_back({"job_spec", violations::Required()});
  if (!options.HasRegion(location)) {
    found.push_back({"parent", violations::LocationUnknown(location, options.RegionNames())});
  }
  if (job.spec) {
    ExamineScheduling({*job.spec, location, options, found});
    ExaminePlace({*job.spec, location, options, found});
  }
  ExamineLabels(job, found);
  ExamineKey(job, location, found);
  return found;
}

std::vector<FieldViolation> FindUnserved(const CustomJob& job, const ValidationOptions& options) {
  std::vector<FieldViolation> unserved;
  if (!job.spec) return unserved;
  for (size_t i = 0; i < job.spec->pools.size(); ++i) {
    const WorkerPoolSpec& pool = job.spec->pools[i];
    if (pool.has_lustre_mounts) {
      unserved.push_back({PoolField(i, "lustre_mounts"), violations::NotServed("lustreMounts")});
    }
    for (const NfsMount& mount : pool.nfs_mounts) {
      if (mount.server.empty() || !IsNfsPath(mount.path)) continue;  // a broken rule
      if (DirectoryOf(mount, options.nfs_exports)) continue;
      unserved.push_back({PoolField(i, "nfs_mounts"),
                          violations::NfsExportUnmapped(mount.server + ":" + mount.path)});
    }
  }
  return unserved;
}

Status StatusOf(std::vector<FieldViolation> unserved, std::vector<FieldViolation> broken) {
  if (!unserved.empty()) return errors::FieldsNotServed(std::move(unserved));
  if (broken.empty()) return Ok{};
  const bool is_plain = broken.size() == 1 && violations::IsPlain(broken.front());
  std::string plain = broken.front().description;
  Error error = errors::ListOfErrors(std::move(broken));
  if (is_plain) error.message = std::move(plain);
  return error;
}

Status CheckResources(const CustomJob& job, const ValidationOptions& options) {
  const std::string& resource = job.spec->persistent_resource_id;
  if (IsDeclared(resource, options)) return Ok{};
  return errors::PersistentResourceNotFound(resource);
}

Status CheckCustomJob(const CustomJob& job, std::string_view location,
                      const ValidationOptions& options) {
  RETURN_IF_ERROR(StatusOf(FindUnserved(job, options), Validate(job, location, options)));
  return CheckResources(job, options);
}

}  // namespace caip::vertex
