#include "emulator/scenario/watch/request_watch.h"

#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "emulator/api/json_messages.h"
#include "emulator/scenario/errors.h"
#include "harness/events/replica_name.h"

namespace caip::scenario {
namespace {

// The storage service calls its store without the request, and stores know no HTTP. The listener
// answers a request on one thread from start to end, so the caller can be kept per thread.
thread_local const Caller* current = nullptr;

// Returns the replica of a listener's tag, which ListenerTag writes:
// "project/job/trial/master-replica-0".
std::string ReplicaOf(const std::string& listener) {
  const size_t task = listener.rfind('/');
  if (task == std::string::npos || task == 0) return "";
  const size_t trial = listener.rfind('/', task - 1) + 1;
  return harness::ReplicaNameOf(listener.substr(task + 1), listener.substr(trial, task - trial));
}

bool IsCopy(const http::Request& request) {
  for (const char* verb : {"/rewriteTo/", "/copyTo/", "/compose", "/moveTo/"}) {
    if (request.path.find(verb) != std::string::npos) return true;
  }
  return request.headers.Has("x-goog-copy-source") || request.headers.Has("x-amz-copy-source");
}

}  // namespace

const Caller* CurrentCaller() { return current; }

void MachineCallers::Learn(const engine::ReplicaLaunch& launch) {
  if (!launch.isolation) return;
  const std::lock_guard lock(mutex_);
  for (const engine::RunNetwork::Endpoint& endpoint : launch.isolation->network->endpoints) {
    replicas_[{endpoint.tag, launch.isolation->address}] = harness::ReplicaNameOf(launch.key);
  }
}

std::string MachineCallers::ReplicaOf(const http::Request& request) const {
  const std::string address = request.peer.substr(0, request.peer.rfind(':'));
  const std::lock_guard lock(mutex_);
  const auto found = replicas_.find({request.listener, address});
  return found == replicas_.end() ? "" : found->second;
}

http::Handler WithCallers(http::Handler next, const MachineCallers& machines) {
  return [next = std::move(next), &machines](const http::Request& request) {
    Caller caller{machines.ReplicaOf(request), !IsCopy(request)};
    if (caller.replica.empty()) caller.replica = ReplicaOf(request.listener);
    current = &caller;
    http::Response response = next(request);
    current = nullptr;
    return response;
  };
}

namespace {

// "projects.jobs.get" for GET /v1/projects/p/jobs/j; "" for requests that are not calls of jobs.
std::string MethodOf(const http::Request& request) {
  if (!request.path.starts_with("/v1/projects/")) return "";
  const std::vector<std::string> parts = Split(request.path.substr(1), '/');
  if (parts.size() < 4 || parts[3] != "jobs") return "";
  if (parts.size() == 4)
    return request.method == "POST" ? "projects.jobs.create" : "projects.jobs.list";
  if (parts[4].ends_with(":cancel")) return "projects.jobs.cancel";
  return request.method == "PATCH" ? "projects.jobs.patch" : "projects.jobs.get";
}

// Answers with the scenario's own status, even if no error code maps to it.
http::Response RefuseCall(const harness::FaultResponse& fault) {
  Json body = api::ErrorBody(errors::CallRefused(fault.status, fault.message));
  body["error"]["code"] = fault.status;
  return http::JsonResponse(fault.status, CompactJson(body));
}

// A replica that is faster than the service waits, as at storage, until its job is RUNNING. So the
// order of events does not depend on the host. Other clients may call before there is a job.
harness::FaultResponse ReportCall(harness::FaultInjector& injector, harness::Event call) {
  if (call.replica.empty()) return injector.Report(std::move(call));
  return injector.ReportAndWait(std::move(call), harness::Phase::kAfter);
}

}  // namespace

http::Handler WatchedJobApi(http::Handler next, harness::FaultInjector& injector) {
  return [next = std::move(next), &injector](const http::Request& request) {
    const std::string method = MethodOf(request);
    if (method.empty()) return next(request);
    harness::Event event{.body = harness::ApiCallEvent{method}};
    if (const Caller* caller = CurrentCaller()) event.replica = caller->replica;
    const harness::FaultResponse response = ReportCall(injector, std::move(event));
    switch (response.kind) {
      case harness::FaultResponse::Kind::kRefuse:
        return RefuseCall(response);
      case harness::FaultResponse::Kind::kGone:
        return RefuseCall({.message = "the replica is dead"});
      default:
        return next(request);
    }
  };
}

}  // namespace caip::scenario
