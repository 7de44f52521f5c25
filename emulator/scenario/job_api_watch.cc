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

Error Refusal(const harness::Verdict& verdict) {
  switch (verdict.status) {
    case 403:
      return {Code::kPermissionDenied, verdict.words};
    case 404:
      return {Code::kNotFound, verdict.words};
    case 409:
      return {Code::kAborted, verdict.words};
    case 429:
      return {Code::kResourceExhausted, verdict.words};
    case 500:
      return {Code::kInternal, verdict.words};
    default:
      return {Code::kUnavailable, verdict.words};
  }
}

}  // namespace

http::Handler WatchedJobApi(http::Handler next, harness::Director& director) {
  return [next = std::move(next), &director](const http::Request& request) {
    harness::Happening happening;
    happening.kind = harness::Happening::Kind::kApi;
    happening.text = MethodOf(request);
    if (happening.text.empty()) return next(request);
    if (const Caller* caller = CurrentCaller()) happening.replica = caller->replica;
    const harness::Verdict verdict = director.Note(std::move(happening));
    if (verdict.kind != harness::Verdict::Kind::kRefuse) return next(request);
    return WithStatus(api::ErrorResponse(Refusal(verdict)), verdict.status);
  };
}

}  // namespace caip::scenario
