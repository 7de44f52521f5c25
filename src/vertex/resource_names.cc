#include "vertex/resource_names.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace caip::vertex {
namespace {

constexpr size_t kJobIdDigitsMax = 19;
constexpr uint64_t kJobIdMin = 1'000'000'000'000'000'000;  // all ids have 19 digits
constexpr uint64_t kJobIdCount = 8'000'000'000'000'000'000;
constexpr uint64_t kTuningJobIdMin = kJobIdMin + kJobIdCount;
constexpr uint64_t kTuningJobIdCount = 200'000'000'000;  // with trials, all fit into an int64
constexpr uint64_t kTrialIdsOfJob = 1'000'000;

}  // namespace

std::string Text(const ResourceName& name) {
  return "projects/" + name.project + "/locations/" + name.location + "/" + name.collection + "/" +
         name.id;
}

std::optional<ResourceName> ParseResourceName(std::string_view text) {
  const std::vector<std::string> parts = Split(text, '/');
  if (parts.size() != 6 || parts[0] != "projects" || parts[2] != "locations") return std::nullopt;
  if (std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); })) {
    return std::nullopt;
  }
  return ResourceName{parts[1], parts[3], parts[4], parts[5]};
}

std::string CustomJobName(std::string_view project, std::string_view location,
                          std::string_view id) {
  return Text(
      {std::string(project), std::string(location), std::string(kCustomJobs), std::string(id)});
}

bool IsJobId(std::string_view id) {
  return IsDigits(id) && id.size() <= kJobIdDigitsMax && id.front() != '0';
}

std::string NewJobId(Random& random) {
  return std::to_string(kJobIdMin + random.Below(kJobIdCount));
}

std::string NewTuningJobId(Random& random) {
  return std::to_string(kTuningJobIdMin + random.Below(kTuningJobIdCount) * kTrialIdsOfJob);
}

std::string TrialJobId(std::string_view tuning_job_id, std::string_view trial) {
  return std::to_string(std::stoull(std::string(tuning_job_id)) + std::stoull(std::string(trial)));
}

std::optional<TrialOfJob> ParseTrialJobId(std::string_view id) {
  if (!IsJobId(id)) return std::nullopt;
  const uint64_t number = std::stoull(std::string(id));
  const uint64_t trial = number % kTrialIdsOfJob;
  if (number < kTuningJobIdMin || trial == 0) return std::nullopt;
  return TrialOfJob{std::to_string(number - trial), std::to_string(trial)};
}

}  // namespace caip::vertex
