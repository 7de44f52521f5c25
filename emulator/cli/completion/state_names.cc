#include "emulator/cli/completion/state_names.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "client/gcloud_properties.h"
#include "emulator/app/settings/emulator_flags.h"
#include "google/gcs_uri.h"
#include "host/store/job_store.h"
#include "images/image_store.h"

namespace caip::cli {
namespace {

using Kind = Values::Kind;

constexpr size_t kOfferedNamesMax = 1000;

constexpr std::string_view kVertexApi = "vertex";
constexpr char kFirstOfTuningJobs =
    '9';  // of the ids of tuning jobs of Vertex AI, and of no others

bool Fits(const host::StoredJobName& job, Kind kind) {
  const bool is_tuning = job.id.starts_with(kFirstOfTuningJobs);
  if (job.api == kVertexApi) {
    return kind == (is_tuning ? Kind::kTuningJobs : Kind::kCustomJobs);
  }
  if (kind == Kind::kCustomJobs || kind == Kind::kTuningJobs) return false;
  return kind == Kind::kJobs || job.has_ended == (kind == Kind::kEndedJobs);
}

std::vector<std::string> JobNames(const Path& state, const NamePlace& place, Kind kind) {
  const auto project = client::ProjectOf({.project = place.project, .configuration = {}});
  if (!project.ok()) return {};
  std::vector<std::string> names;
  for (const host::StoredJobName& job :
       host::NewestJobNames(state / "jobs.db", *project, kOfferedNamesMax)) {
    if (Fits(job, kind)) names.push_back(job.id);
  }
  return names;
}

// The entries of a directory whose names begin so, with a slash after those of directories. A name
// with % may be an escaped one (docs/storage-names.md) and is left out.
std::vector<std::string> EntriesOf(const Path& directory, const std::string& begun) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(directory, error);
       !error && entry != std::filesystem::directory_iterator() && names.size() < kOfferedNamesMax;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code unknown;
    if (!name.starts_with(begun) || name.find('%') != std::string::npos) continue;
    if (entry->is_symlink(unknown)) continue;
    names.push_back(name + (entry->is_directory(unknown) ? "/" : ""));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> BucketNames(const Path& state, const std::string& before,
                                     const std::string& after) {
  std::vector<std::string> names;
  for (const std::string& entry : EntriesOf(state / "buckets", "")) {
    const std::string name = entry.substr(0, entry.size() - 1);
    if (entry.ends_with('/') && google::IsBucketName(name)) names.push_back(before + name + after);
  }
  return names;
}

// What is below the last slash of the URI. Before there is a bucket in it: the buckets.
std::vector<std::string> ObjectUris(const Path& state, const std::string& begun) {
  const std::string scheme(google::kGcsScheme);
  const size_t slash = begun.rfind('/');
  if (!begun.starts_with(scheme) || slash < scheme.size()) return BucketNames(state, scheme, "/");
  const std::string folder = begun.substr(scheme.size(), slash - scheme.size());
  for (const std::string& part : Split(folder, '/')) {
    if (part.empty() || part == "." || part == "..") return {};
  }
  std::vector<std::string> uris;
  for (const std::string& entry : EntriesOf(state / "buckets" / folder, begun.substr(slash + 1))) {
    uris.push_back(begun.substr(0, slash + 1) + entry);
  }
  return uris;
}

std::vector<std::string> ImageNames(const Path& state) {
  std::error_code error;
  if (!std::filesystem::exists(state / "images", error)) return {};
  const auto store = images::ImageStore::Open(state / "images");
  if (!store.ok()) return {};
  const auto listed = (*store)->List();
  std::vector<std::string> names;
  if (!listed.ok()) return names;
  for (const images::ListedImage& image : *listed) {
    names.push_back(image.name.text());
  }
  return names;
}

}  // namespace

std::vector<std::string> NamesInState(Values::Kind kind, const NamePlace& place,
                                      const std::string& begun) {
  const Path state = app::StateDirectory({.state = place.state, .config = {}});
  switch (kind) {
    case Kind::kJobs:
    case Kind::kUnendedJobs:
    case Kind::kEndedJobs:
    case Kind::kCustomJobs:
    case Kind::kTuningJobs:
      return JobNames(state, place, kind);
    case Kind::kBuckets:
      if (begun.starts_with("g") && google::kGcsScheme.starts_with(begun.substr(0, 5))) {
        std::vector<std::string> names = BucketNames(state, "", "");
        for (std::string& uri : BucketNames(state, "gs://", "")) names.push_back(std::move(uri));
        return names;
      }
      return BucketNames(state, "", "");
    case Kind::kBucketUris:
      return BucketNames(state, "gs://", "");
    case Kind::kObjects:
    case Kind::kFilesAndObjects:
      return ObjectUris(state, begun);
    case Kind::kImages:
      return ImageNames(state);
    default:
      return {};
  }
}

}  // namespace caip::cli
