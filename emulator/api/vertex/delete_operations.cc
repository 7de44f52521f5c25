#include "emulator/api/vertex/delete_operations.h"

#include "base/time_text.h"
#include "vertex/resource_names.h"

namespace caip::api {
namespace {

constexpr int kOperationFractionDigits = 6;
constexpr char kEmptyType[] = "type.googleapis.com/google.protobuf.Empty";

std::string MetadataTypeIn(const std::string& version) {
  return "type.googleapis.com/google.cloud.aiplatform." + version + ".DeleteOperationMetadata";
}

}  // namespace

Json DeleteOperations::ResourceOf(const Kept& kept) {
  const std::string time = Rfc3339(kept.time, kOperationFractionDigits);
  return {{"name", vertex::Text({kept.project_number, kept.region, "operations", kept.id})},
          {"metadata",
           {{"@type", MetadataTypeIn(kept.version)},
            {"genericMetadata", {{"createTime", time}, {"updateTime", time}}}}},
          {"done", true},
          {"response", {{"@type", kEmptyType}}}};
}

Json DeleteOperations::Add(const std::string& project_number, const std::string& region,
                           const std::string& version, Instant now) {
  const std::lock_guard lock(mutex_);
  kept_.reserve(kKeptMax);
  if (kept_.size() == kKeptMax) kept_.erase(kept_.begin());
  return ResourceOf(
      kept_.emplace_back(Kept{project_number, region, version, vertex::NewJobId(random_), now}));
}

std::optional<Json> DeleteOperations::Find(const std::string& region, const std::string& id) const {
  const std::lock_guard lock(mutex_);
  for (const Kept& kept : kept_) {
    if (kept.id == id && kept.region == region) return ResourceOf(kept);
  }
  return std::nullopt;
}

std::vector<Json> DeleteOperations::List(const std::string& region) const {
  const std::lock_guard lock(mutex_);
  std::vector<Json> resources;
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    if (kept->region == region) resources.push_back(ResourceOf(*kept));
  }
  return resources;
}

bool DeleteOperations::Forget(const std::string& region, const std::string& id) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(
             kept_, [&](const Kept& kept) { return kept.id == id && kept.region == region; }) > 0;
}

}  // namespace caip::api
