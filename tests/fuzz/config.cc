// Any text is a config file of a job, or an error with a line number. The job is rejected with
// reasons, or it is unchanged after a conversion to JSON and back.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "base/yaml.h"
#include "ml/schema/job_json.h"
#include "ml/validate/validate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace caip;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = ParseYaml(text, "config.yaml");
  if (!document.ok()) {
    if (document.error().code != Code::kInvalidArgument ||
        !document.error().message.starts_with("config.yaml:")) {
      std::abort();
    }
    return 0;
  }
  const auto job = ml::ParseJob(document->value);
  if (!job.ok()) {
    if (job.error().message.empty()) std::abort();
    return 0;
  }
  const auto violations = ml::Validate(*job);
  for (const auto& violation : violations) {
    if (violation.description.empty()) std::abort();
  }
  const Json said = ml::ToJson(*job);
  const auto again = ml::ParseJob(said);
  if (violations.empty() && (!again.ok() || ml::ToJson(*again) != said)) std::abort();
  return 0;
}
