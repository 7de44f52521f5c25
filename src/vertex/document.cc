#include "vertex/document.h"

#include <memory>

#include "base/json.h"
#include "vertex/errors.h"
#include "vertex/schema/custom_job_json.h"

namespace caip::vertex {
namespace {

// Documents of other APIs have no such member, so that one store can hold jobs of several.
constexpr const char* kJobMember = "customJob";
constexpr const char* kRegionMember = "region";

}  // namespace

run::Document ToDocument(const CustomJob& job, const std::string& region) {
  return std::make_shared<const Json>(
      Json{{kJobMember, ToStoredJson(job)}, {kRegionMember, region}});
}

const Json& JobPartOf(const run::Document& document) {
  static const Json kNone = Json::object();
  const Json* job = Member(*document, kJobMember);
  return job == nullptr ? kNone : *job;
}

Result<StoredCustomJob> ReadDocument(const run::Document& document) {
  StoredCustomJob stored;
  stored.region = StringOr(*document, kRegionMember);
  if (stored.region.empty()) return errors::StoredJobBroken("it has no region");
  Result<CustomJob> job = FromStoredJson(JobPartOf(document));
  if (!job.ok()) return errors::StoredJobBroken(job.error().message);
  stored.job = *std::move(job);
  if (!stored.job.spec) return errors::StoredJobBroken("it has no jobSpec");
  return stored;
}

}  // namespace caip::vertex
