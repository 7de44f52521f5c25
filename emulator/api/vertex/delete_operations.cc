#include "emulator/api/vertex/delete_operations.h"

#include <algorithm>

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

Json DeleteOperations::Add(const std::string& project_number, const std::string& region,
                           const std::string& version, Instant now) {
  const std::lock_guard lock(mutex_);
  const std::string id = vertex::NewJobId(random_);
  const std::string time = Rfc3339(now, kOperationFractionDigits);
  Json resource = {{"name", vertex::Text({project_number, region, "operations", id})},
                   {"metadata",
                    {{"@type", MetadataTypeIn(version)},
                     {"genericMetadata", {{"createTime", time}, {"updateTime", time}}}}},
                   {"done", true},
                   {"response", {{"@type", kEmptyType}}}};
  kept_.push_front({region, id, resource});
  if (kept_.size() > kKeptMax) kept_.pop_back();
  return resource;
}

std::optional<Json> DeleteOperations::Find(const std::string& region, const std::string& id) const {
  const std::lock_guard lock(mutex_);
  for (const Kept& kept : kept_) {
    if (kept.id == id && kept.region == region) return kept.resource;
  }
  return std::nullopt;
}

std::vector<Json> DeleteOperations::List(const std::string& region) const {
  const std::lock_guard lock(mutex_);
  std::vector<Json> resources;
  for (const Kept& kept : kept_) {
    if (kept.region == region) resources.push_back(kept.resource);
  }
  return resources;
}

bool DeleteOperations::Forget(const std::string& region, const std::string& id) {
  const std::lock_guard lock(mutex_);
  return kept_.remove_if([&](const Kept& kept) { return kept.id == id && kept.region == region; }) >
         0;
}

}  // namespace caip::api
