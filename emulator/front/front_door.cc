#include "emulator/front/front_door.h"

#include "emulator/api/error_body.h"

namespace caip::front {
namespace {

using Steady = std::chrono::steady_clock;

// The line of one request. An answer that is made while it is sent is over when its last byte is:
// then the last owner of this goes.
class LineInWaiting {
 public:
  LineInWaiting(AccessLog& log, AccessEntry entry, Steady::time_point begin)
      : log_(log), entry_(std::move(entry)), begin_(begin) {}
  ~LineInWaiting() {
    entry_.took = Steady::now() - begin_;
    log_.Write(entry_);
  }
  LineInWaiting(const LineInWaiting&) = delete;
  LineInWaiting& operator=(const LineInWaiting&) = delete;
  void Count(size_t bytes) { entry_.bytes += static_cast<int64_t>(bytes); }

 private:
  AccessLog& log_;
  AccessEntry entry_;
  Steady::time_point begin_;
};

}  // namespace

FrontDoor::FrontDoor(Parts parts)
    : parts_(std::move(parts)),
      metadata_(parts_.book, parts_.mint),
      oauth_(api::NoRouteResponse),
      callers_(parts_.mint, parts_.book) {
  oauth_.Add(metadata::OAuthRoutes(parts_.mint, parts_.user, ""));
  oauth_.Add(metadata::OAuthRoutes(parts_.mint, parts_.user, metadata::kOAuthPrefix));
}

http::Response FrontDoor::Handle(const http::Request& request) const {
  const bool for_metadata = IsForMetadata(request);
  // Who came to a door of many is looked up only where it matters: it takes a while.
  const std::string listener =
      for_metadata ? parts_.book.ResolveListener(request.listener, request.peer) : request.listener;
  if (!parts_.log) return Answer(request, for_metadata, listener);
  const auto begin = Steady::now();
  const metadata::Identity caller = callers_.CallerOf(request, listener);
  AccessEntry entry{.time = parts_.wall.Now(),
                    .identity = caller.account,
                    .job = caller.job,
                    .replica = caller.replica,
                    .method = request.method,
                    .path = request.path};
  http::Response response = Answer(request, for_metadata, listener);
  entry.status = response.status;
  const bool head = request.method == "HEAD";
  if (!head && response.file) entry.bytes = static_cast<int64_t>(response.file->length);
  if (!head && !response.file && !response.write_body) {
    entry.bytes = static_cast<int64_t>(response.body.size());
  }
  auto line = std::make_shared<LineInWaiting>(*parts_.log, std::move(entry), begin);
  if (response.write_body) {
    response.write_body =
        [line, write = std::move(response.write_body)](const http::Response::Sink& sink) {
          write([&](std::string_view piece) {
            line->Count(piece.size());
            return sink(piece);
          });
        };
  }
  return response;
}

// The door of a replica is its metadata server first; as a proxy it leads to Google's names.
bool FrontDoor::IsForMetadata(const http::Request& request) const {
  if (metadata::IsMetadataRequest(request)) return true;
  return !request.listener.empty() && request.path == "/" && request.scheme == "http" &&
         !parts_.book.IsShared(request.listener);
}

http::Response FrontDoor::Answer(const http::Request& request, bool for_metadata,
                                 const std::string& listener) const {
  if (for_metadata) return metadata_.Handle(request, listener);
  if (metadata::IsOAuthRequest(request) ||
      request.path.starts_with(std::string(metadata::kOAuthPrefix) + "/")) {
    return oauth_.Handle(request);
  }
  return parts_.inner(request);
}

}  // namespace caip::front
