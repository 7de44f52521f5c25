#pragma once
// Where jobs of Vertex AI live: kinds, regions and full names, as gcloud reads them from flags and
// properties (docs/vertex.md).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/gcloud_properties.h"

namespace caip::client::vertex {

enum class JobKind { kCustomJob, kTuningJob };

/// The words of a kind: in paths, on the command line and in messages.
struct KindWords {
  std::string_view collection;  // "customJobs"
  std::string_view command;     // "custom-jobs"
  std::string_view noun;        // "custom job"
  std::string_view argument;    // "custom_job", as gcloud's errors call the word
  std::string_view resource;    // "CustomJob"
};
const KindWords& WordsOf(JobKind kind);

/// The regions that gcloud 528 accepts for training.
const std::vector<std::string>& TrainingRegions();

/// A project and a region.
struct Location {
  std::string project;
  std::string region;
  /// "/v1/projects/P/locations/R/customJobs", percent-encoded.
  std::string Path(JobKind kind) const;
  bool operator==(const Location&) const = default;
};

/// A job's place and id.
struct JobName {
  JobKind kind = JobKind::kCustomJob;
  Location location;
  std::string id;
  /// "projects/P/locations/R/customJobs/ID".
  std::string text() const;
  /// The same as the path of the resource, percent-encoded.
  std::string Path() const;
};

/// Reads "projects/P/locations/R/customJobs/ID", with or without the address of the service before
/// it; nullopt for other texts.
std::optional<JobName> ParseJobName(JobKind kind, std::string_view text);

/// The region of --region or of the property ai/region, which may be a full name and then names the
/// project too. The project is that of `gcloud` otherwise. An unknown region is an error.
Result<Location> LocationOf(const GcloudContext& gcloud, const std::optional<std::string>& region);

/// The job that a command names: an id with --region, or a full name.
Result<JobName> JobNameOf(JobKind kind, const GcloudContext& gcloud,
                          const std::optional<std::string>& region, const std::string& job);

}  // namespace caip::client::vertex
