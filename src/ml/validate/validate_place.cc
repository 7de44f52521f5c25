// Where the job runs, as whom, when and how long.

#include <algorithm>

#include "google/resource_names.h"
#include "ml/limits.h"
#include "ml/validate/validate_parts.h"
#include "ml/validate/violations.h"

namespace caip::ml {

void ExaminePlace(const Examination& exam) {
  const TrainingInput& input = exam.input;
  const std::vector<std::string> regions = exam.options.RegionNames();
  const bool is_offered = std::binary_search(regions.begin(), regions.end(), input.region);
  if (input.region.empty()) {
    exam.Report(
        violations::Required("region", "Name a Compute Engine region, such as us-central1."));
  } else if (!is_offered) {
    exam.Report(violations::RegionNotAvailable(input.region, regions));
  }
  if (!input.network.empty() && !google::IsNetworkName(input.network)) {
    exam.Report(violations::NetworkMalformed(input.network));
  }
  if (!input.service_account.empty() && !google::IsServiceAccount(input.service_account)) {
    exam.Report(violations::ServiceAccountMalformed(input.service_account));
  }
  if (input.kms_key_name.empty()) {
    if (input.has_encryption_config) {
      exam.Report(violations::Required("encryption_config.kms_key_name",
                                       "Name the key, or remove encryption_config."));
    }
    return;
  }
  const auto location = google::LocationOfKmsKey(input.kms_key_name);
  if (!location) {
    exam.Report(violations::KmsKeyMalformed(input.kms_key_name));
  } else if (is_offered && *location != input.region) {
    exam.Report(violations::KmsKeyElsewhere(*location, input.region));
  }
}

void ExamineScheduling(const Examination& exam) {
  if (!exam.input.scheduling) return;
  const Scheduling& scheduling = *exam.input.scheduling;
  if (scheduling.max_running_time && *scheduling.max_running_time <= Duration(0)) {
    exam.Report(violations::MaxRunningTimeNotPositive(*scheduling.max_running_time));
  }
  if (scheduling.max_wait_time && *scheduling.max_wait_time < kMaxWaitTimeMin) {
    exam.Report(violations::MaxWaitTimeTooShort(*scheduling.max_wait_time));
  }
  if (scheduling.priority < 0 || scheduling.priority > kPriorityMax) {
    exam.Report(violations::PriorityOutOfRange(scheduling.priority));
  }
}

}  // namespace caip::ml
