#pragma once
// The job of Vertex AI that means the same as a job of AI Platform Training (docs/migrating.md).

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ml/job.h"

namespace caip::migration {

/// Something that a trainer or its owner finds changed.
struct Difference {
  std::string subject;  // "TF_CONFIG", "--job-dir"
  std::string ai_platform;
  std::string vertex;
  bool operator==(const Difference&) const = default;
};

/// A package that `jobs submit` would upload.
struct UnstagedPackage {
  std::string uri;   // that the job names
  std::string file;  // of this machine
};

struct MigrationOptions {
  std::string executor_image = {};  // for packages; "": the pre-built container of tables.json
  std::vector<UnstagedPackage> unstaged = {};
};

/// A job that `gcloud ai` can create.
struct MigratedJob {
  bool is_tuning = false;  // a HyperparameterTuningJob, else a CustomJob
  std::string region;
  std::string display_name;
  std::map<std::string, std::string> labels;
  std::string kms_key;  // full resource name; "" none
  /// The file of --config: a CustomJobSpec, or a HyperparameterTuningJob with name, labels and key.
  Json file;
  bool skips_pools = false;  // a pool is {}, which gcloud takes only from flags
  std::vector<Difference> differences;
};

/// kInvalidArgument: the job breaks a rule of either service, or has no counterpart. The error has
/// all violations; those of a rule of AI Platform name its fields, and come first.
Result<MigratedJob> Migrate(const ml::Job& job, const MigrationOptions& options = {});

}  // namespace caip::migration
