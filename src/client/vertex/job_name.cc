#include "client/vertex/job_name.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/text.h"
#include "client/vertex/vertex_errors.h"

namespace caip::client::vertex {
namespace {

constexpr KindWords kCustomJobWords{"customJobs", "custom-jobs", "custom job", "custom_job",
                                    "CustomJob"};
constexpr KindWords kTuningJobWords{"hyperparameterTuningJobs", "hp-tuning-jobs",
                                    "hyperparameter tuning job", "hptuning_job",
                                    "HyperparameterTuningJob"};

// Removes "https://aiplatform.googleapis.com/v1/" and the like.
std::string_view WithoutAddress(std::string_view text) {
  if (!text.starts_with("https://") && !text.starts_with("http://")) return text;
  const size_t projects = text.find("/projects/");
  return projects == text.npos ? text : text.substr(projects + 1);
}

// The parts of "projects/P/locations/R/...".
std::optional<std::vector<std::string>> LocationParts(std::string_view text) {
  std::vector<std::string> parts = Split(WithoutAddress(text), '/');
  const bool fits = parts.size() >= 4 && parts[0] == "projects" && parts[2] == "locations" &&
                    !parts[1].empty() && !parts[3].empty();
  return fits ? std::optional(std::move(parts)) : std::nullopt;
}

std::optional<std::string> GivenRegion(const GcloudContext& gcloud,
                                       const std::optional<std::string>& flag) {
  if (flag && !flag->empty()) return flag;
  std::optional<std::string> property = GcloudProperty(gcloud, "ai", "region");
  return property && !property->empty() ? property : std::nullopt;
}

Status CheckTrainingRegion(const std::string& region) {
  const auto& known = TrainingRegions();
  if (std::find(known.begin(), known.end(), region) != known.end()) return Ok{};
  return errors::RegionUnknown(region, known);
}

Result<Location> ReadLocation(const GcloudContext& gcloud, const std::string& region) {
  Location location{"", region};
  if (const auto parts = LocationParts(region)) {
    location.project = (*parts)[1];
    location.region = Join({parts->begin() + 3, parts->end()}, "/");
  } else {
    ASSIGN_OR_RETURN(location.project, ProjectOf(gcloud));
  }
  RETURN_IF_ERROR(CheckTrainingRegion(location.region));
  return location;
}

}  // namespace

const KindWords& WordsOf(JobKind kind) {
  return kind == JobKind::kCustomJob ? kCustomJobWords : kTuningJobWords;
}

const std::vector<std::string>& TrainingRegions() {
  static const std::vector<std::string> regions = {"africa-south1",
                                                   "asia-east1",
                                                   "asia-east2",
                                                   "asia-northeast1",
                                                   "asia-northeast2",
                                                   "asia-northeast3",
                                                   "asia-south1",
                                                   "asia-southeast1",
                                                   "asia-southeast2",
                                                   "australia-southeast1",
                                                   "australia-southeast2",
                                                   "europe-central2",
                                                   "europe-north1",
                                                   "europe-southwest1",
                                                   "europe-west1",
                                                   "europe-west2",
                                                   "europe-west3",
                                                   "europe-west4",
                                                   "europe-west6",
                                                   "europe-west8",
                                                   "europe-west9",
                                                   "europe-west12",
                                                   "me-central1",
                                                   "me-central2",
                                                   "me-west1",
                                                   "northamerica-northeast1",
                                                   "northamerica-northeast2",
                                                   "southamerica-east1",
                                                   "southamerica-west1",
                                                   "us-central1",
                                                   "us-east1",
                                                   "us-east4",
                                                   "us-east5",
                                                   "us-south1",
                                                   "us-west1",
                                                   "us-west2",
                                                   "us-west3",
                                                   "us-west4"};
  return regions;
}

std::string Location::Path(JobKind kind) const {
  return "/v1/projects/" + PercentEncoded(project) + "/locations/" + PercentEncoded(region) + "/" +
         std::string(WordsOf(kind).collection);
}

std::string JobName::text() const {
  return "projects/" + location.project + "/locations/" + location.region + "/" +
         std::string(WordsOf(kind).collection) + "/" + id;
}

std::string JobName::Path() const { return location.Path(kind) + "/" + PercentEncoded(id); }

std::optional<JobName> ParseJobName(JobKind kind, std::string_view text) {
  const auto parts = LocationParts(text);
  if (!parts || parts->size() != 6 || (*parts)[4] != WordsOf(kind).collection) return std::nullopt;
  if ((*parts)[5].empty()) return std::nullopt;
  return JobName{kind, {(*parts)[1], (*parts)[3]}, (*parts)[5]};
}

Result<Location> LocationOf(const GcloudContext& gcloud, const std::optional<std::string>& region) {
  const std::optional<std::string> given = GivenRegion(gcloud, region);
  if (!given) return errors::RegionMissing("region", "region");
  return ReadLocation(gcloud, *given);
}

Result<JobName> JobNameOf(JobKind kind, const GcloudContext& gcloud,
                          const std::optional<std::string>& region, const std::string& job) {
  const KindWords& words = WordsOf(kind);
  if (job.empty()) return errors::JobNameMissing(words.argument, words.noun);
  if (const auto name = ParseJobName(kind, job)) {
    RETURN_IF_ERROR(CheckTrainingRegion(name->location.region));
    return *name;
  }
  const std::optional<std::string> given = GivenRegion(gcloud, region);
  if (!given) return errors::RegionMissing(words.argument, words.noun);
  ASSIGN_OR_RETURN(Location location, ReadLocation(gcloud, *given));
  return JobName{kind, std::move(location), job};
}

}  // namespace caip::client::vertex
