#include "emulator/scenario/caller.h"

#include <utility>

#include "harness/events/replica_name.h"

namespace caip::scenario {
namespace {

thread_local const Caller* current = nullptr;

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

http::Handler KnowingCallers(http::Handler next) {
  return [next = std::move(next)](const http::Request& request) {
    const Caller caller{ReplicaOf(request.listener), !IsCopy(request)};
    current = &caller;
    http::Response response = next(request);
    current = nullptr;
    return response;
  };
}

}  // namespace caip::scenario
