#include "emulator/scenario/caller.h"

#include <utility>

#include "base/json.h"
#include "harness/events/replica_name.h"

namespace caip::scenario {
namespace {

thread_local const Caller* current = nullptr;
thread_local int status_of_refusal = 0;  // of the current request; 0: what the error's code says

// "project/job/trial/master-replica-0", as ListenerTag writes it.
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

void AnswerCallerWith(int status) { status_of_refusal = status; }

// The bodies of Google's JSON errors say the status, too.
http::Response WithStatus(http::Response response, int status) {
  response.status = status;
  auto body = ParseJson(response.body);
  if (!body.ok() || !body->is_object() || !Member(*body, "error")) return response;
  Json& error = (*body)["error"];
  if (error.is_object() && error.contains("code")) error["code"] = status;
  response.body = CompactJson(*body);
  return response;
}

http::Handler KnowingCallers(http::Handler next) {
  return [next = std::move(next)](const http::Request& request) {
    const Caller caller{ReplicaOf(request.listener), !IsCopy(request)};
    current = &caller;
    status_of_refusal = 0;
    http::Response response = next(request);
    current = nullptr;
    const bool refused = status_of_refusal != 0 && response.status >= 400;
    return refused ? WithStatus(std::move(response), status_of_refusal) : response;
  };
}

}  // namespace caip::scenario
