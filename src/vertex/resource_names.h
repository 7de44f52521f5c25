#pragma once
// Names of resources of aiplatform.googleapis.com.

#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"

namespace caip::vertex {

/// projects/{project}/locations/{location}/{collection}/{id}. `project` is an id or a number.
struct ResourceName {
  std::string project;
  std::string location;
  std::string collection;  // "customJobs"
  std::string id;
  bool operator==(const ResourceName&) const = default;
};

inline constexpr std::string_view kCustomJobs = "customJobs";
inline constexpr std::string_view kTrainingPipelines = "trainingPipelines";
inline constexpr std::string_view kTuningJobs = "hyperparameterTuningJobs";

std::string Text(const ResourceName& name);

/// True for 1 to 19 digits: the ids that the service makes.
bool IsJobId(std::string_view id);
/// A new id of 19 digits at most (docs/service/vertex.md, section 1). Jobs of other APIs never have
/// one like it, because those ids begin with a letter.
std::string NewJobId(Random& random);

/// A new id of a tuning job. It has 19 digits, begins with 9 and ends with six zeros, so it is none
/// of NewJobId, and the ids after it are free for its trials.
std::string NewTuningJobId(Random& random);
/// The id of the custom job that a trial is shown as: that of its tuning job plus the trial's
/// number. `trial` is a number of at most six digits, from 1.
std::string TrialJobId(std::string_view tuning_job_id, std::string_view trial);

/// The display name of a job that the service makes for a resource called `name`. The name is cut
/// where the whole would be longer than a display name may be. `suffix` is ASCII.
std::string BackingDisplayName(std::string_view name, std::string_view suffix);

struct TrialOfJob {
  std::string tuning_job_id;
  std::string trial;
};
/// The inverse of TrialJobId; nullopt for any other id.
std::optional<TrialOfJob> ParseTrialJobId(std::string_view id);

}  // namespace caip::vertex
