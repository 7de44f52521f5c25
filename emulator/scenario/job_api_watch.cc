#include "emulator/scenario/job_api_watch.h"

#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "emulator/api/error_body.h"
#include "emulator/scenario/caller.h"
#include "emulator/scenario/errors.h"

namespace caip::scenario {
namespace {

// "projects.jobs.get" of GET /v1/projects/p/jobs/j; "" of what is no call of jobs.
std::string MethodOf(const http::Request& request) {
  if (!request.path.starts_with("/v1/projects/")) return "";
  const std::vector<std::string> parts = Split(request.path.substr(1), '/');
  if (parts.size() < 4 || parts[3] != "jobs") return "";
  if (parts.size() == 4)
    return request.method == "POST" ? "projects.jobs.create" : "projects.jobs.list";
  if (parts[4].ends_with(":cancel")) return "projects.jobs.cancel";
  return request.method == "PATCH" ? "projects.jobs.patch" : "projects.jobs.get";
}

// Carries the scenario's own status, also where no error code maps to it.
http::Response RefuseCall(const harness::FaultResponse& verdict) {
  Json body = api::ErrorBody(errors::CallRefused(verdict.status, verdict.message));
  body["error"]["code"] = verdict.status;
  return http::JsonResponse(verdict.status, CompactJson(body));
}

}  // namespace

http::Handler WatchedJobApi(http::Handler next, harness::FaultInjector& injector) {
  return [next = std::move(next), &injector](const http::Request& request) {
    const std::string method = MethodOf(request);
    if (method.empty()) return next(request);
    harness::Event event{.body = harness::ApiCallEvent{method}};
    if (const Caller* caller = CurrentCaller()) event.replica = caller->replica;
    const harness::FaultResponse verdict = injector.Report(std::move(event));
    if (verdict.kind != harness::FaultResponse::Kind::kRefuse) return next(request);
    return RefuseCall(verdict);
  };
}

}  // namespace caip::scenario
