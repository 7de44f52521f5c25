#include "emulator/play/caller.h"

#include <utility>

#include "harness/happening.h"

namespace caip::play {
namespace {

thread_local const Caller* current = nullptr;

// "project/job/trial/master-replica-0", as ListenerTag writes it.
std::string ReplicaOf(const std::string& listener) {
  const size_t slash = listener.rfind('/');
  return slash == std::string::npos ? "" : harness::ReplicaName(listener.substr(slash + 1));
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

}  // namespace caip::play
