#include "emulator/api/control/job_removal.h"

#include <utility>

#include "base/json.h"
#include "emulator/api/json_messages.h"

namespace caip::api {

Status RemoveJob(const KeptOfJobs& kept, const std::string& project, const std::string& job_id,
                 engine::RemovedId id) {
  const auto remove_rest = [&]() -> Status {
    RETURN_IF_ERROR(kept.book.DeleteJob(project, job_id));
    RETURN_IF_ERROR(kept.policies.Remove(project, job_id));
    kept.remove_disks({project, job_id, ""});
    return Ok{};
  };
  return kept.engine.Remove(project, job_id, id, remove_rest);
}

std::vector<http::Route> JobRemovalRoutes(KeptOfJobs kept) {
  return {{"DELETE", "/emulator/v1/projects/{project}/jobs/{job}", "emulator.jobs.delete",
           [kept = std::move(kept)](const http::Request& request, const http::PathParameters& at) {
             const auto id = request.Query("keepsId") == "true" ? engine::RemovedId::kTaken
                                                                : engine::RemovedId::kFree;
             const Status removed = RemoveJob(kept, at.At("project"), at.At("job"), id);
             return Respond(request, removed.ok() ? Result<Json>(Json::object()) : removed.error());
           }}};
}

}  // namespace caip::api
