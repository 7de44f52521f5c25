#include "vertex/resource_names.h"

#include "base/text.h"
#include "vertex/limits.h"

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

std::string BackingDisplayName(std::string_view name, std::string_view suffix) {
  std::string whole;
  for (const char32_t point : DecodeUtf8(name).substr(0, kDisplayNameMax - suffix.size())) {
    AppendUtf8(whole, point);
  }
  return whole.append(suffix);
}

std::optional<TrialOfJob> ParseTrialJobId(std::string_view id) {
  if (!IsJobId(id)) return std::nullopt;
  const uint64_t number = std::stoull(std::string(id));
  const uint64_t trial = number % kTrialIdsOfJob;
  if (number < kTuningJobIdMin || trial == 0) return std::nullopt;
  return TrialOfJob{std::to_string(number - trial), std::to_string(trial)};
}

}  // namespace caip::vertex
