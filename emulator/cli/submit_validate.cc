#include "emulator/cli/submit_validate.h"

#include "base/json.h"
#include "emulator/api/error_body.h"
#include "emulator/app/options.h"
#include "emulator/cli/gcloud_properties.h"
#include "spec/errors.h"
#include "spec/job_json.h"
#include "spec/validate.h"

namespace caip::cli {

Status CheckAsService(const Json& job, const EmulatorFlags& flags) {
  ASSIGN_OR_RETURN(const app::EmulatorOptions options,
                   app::ReadOptions(flags, StateDirectory(flags)));
  ASSIGN_OR_RETURN(const spec::Job parsed, spec::ParseJob(job));
  spec::ValidationOptions rules;
  rules.extra_regions = options.extra_regions;
  return spec::CheckJob(parsed, rules);
}

http::ClientResponse AsAnswer(const Error& error) {
  return {spec::HttpStatus(error.code), {}, CompactJson(api::ErrorBody(error))};
}

}  // namespace caip::cli
