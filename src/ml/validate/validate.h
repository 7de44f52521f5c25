#pragma once
// Every rule of a Job that can be checked without looking at the world.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ml/catalog/catalog.h"
#include "ml/job.h"

namespace caip::ml {

/// What a configuration may add to the service's lists.
struct ValidationOptions {
  const Catalog* catalog = &DefaultCatalog();
  std::vector<std::string> extra_regions;
  std::vector<Runtime> extra_runtimes;  // an entry of a known version replaces the catalog's
  std::string default_runtime_version;  // of Python jobs that name none; "" refuses them

  const Runtime* FindRuntime(std::string_view version) const;
  std::vector<std::string> RegionNames() const;      // sorted
  std::vector<std::string> RuntimeVersions() const;  // oldest first
};

/// All broken rules in a stable order: the id, the machines, the code, the place, the
/// tuning, the labels. Empty: the job may be created, as far as can be said without Cloud Storage
/// and other jobs.
std::vector<FieldViolation> Validate(const Job& job, const ValidationOptions& options = {});

/// The rules of labels alone, for an update of them.
std::vector<FieldViolation> ValidateLabels(const std::map<std::string, std::string>& labels);

/// `violations` as one error; its message tells the first.
Error ValidationError(std::vector<FieldViolation> violations);

/// Validate as a status: kInvalidArgument. Prediction jobs, too: gcloud would try again after 501.
Status CheckJob(const Job& job, const ValidationOptions& options = {});

/// Sets what an accepted job left to the options: runtime_version of a Python job.
void FillDefaults(TrainingInput& input, const ValidationOptions& options);

/// The Python of a job without an image: as asked, else the newest that its runtime version has.
std::string PythonVersionOf(const TrainingInput& input, const ValidationOptions& options);

}  // namespace caip::ml
