#include "emulator/scenario/job_api_watch.h"

#include <utility>

#include "base/text.h"
#include "emulator/api/error_body.h"
#include "emulator/scenario/caller.h"

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

Error Refusal(const harness::FaultResponse& verdict) {
  switch (verdict.status) {
    case 403:
      return {Code::kPermissionDenied, verdict.message};
    case 404:
      return {Code::kNotFound, verdict.message};
    case 409:
      return {Code::kAborted, verdict.message};
    case 429:
      return {Code::kResourceExhausted, verdict.message};
    case 500:
      return {Code::kInternal, verdict.message};
    default:
      return {Code::kUnavailable, verdict.message};
  }
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
    return WithStatus(api::ErrorResponse(Refusal(verdict)), verdict.status);
  };
}

}  // namespace caip::scenario
