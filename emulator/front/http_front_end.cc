#include "emulator/front/http_front_end.h"

#include <memory>

#include "base/clock.h"
#include "base/text.h"
#include "emulator/api/json_messages.h"
#include "fakes/metadata/metadata_api.h"
#include "http/credentials.h"

namespace caip::front {
namespace {

constexpr size_t kKnownMax = 1024;
constexpr size_t kTokenBytesMax = 4096;

// The access log's line of one request. A response may be made while it is sent: the line is
// written when its last owner goes, after the last byte.
class PendingAccessLine {
 public:
  PendingAccessLine(AccessLog& log, AccessEntry entry, Stopwatch stopwatch)
      : log_(log), entry_(std::move(entry)), stopwatch_(stopwatch) {}
  ~PendingAccessLine() {
    entry_.took = stopwatch_.Elapsed();
    log_.Write(entry_);
  }
  PendingAccessLine(const PendingAccessLine&) = delete;
  PendingAccessLine& operator=(const PendingAccessLine&) = delete;
  void Count(size_t bytes) { entry_.bytes += static_cast<int64_t>(bytes); }

 private:
  AccessLog& log_;
  AccessEntry entry_;
  Stopwatch stopwatch_;
};

// The length of a body that is known before it is sent, else 0.
int64_t KnownBytes(const http::Response& response) {
  if (response.file) return static_cast<int64_t>(response.file->length);
  return response.write_body ? 0 : static_cast<int64_t>(response.body.size());
}

// Writes the line, or makes a body that is written while it is sent own the line until its end,
// and count its bytes.
void LogWhenSent(AccessLog& log, AccessEntry entry, const Stopwatch& stopwatch,
                 http::Response& response) {
  if (!response.write_body) {
    entry.took = stopwatch.Elapsed();
    return log.Write(entry);
  }
  auto line = std::make_shared<PendingAccessLine>(log, std::move(entry), stopwatch);
  response.write_body = [line = std::move(line),
                         write = std::move(response.write_body)](const http::Response::Sink& sink) {
    write([&](std::string_view piece) {
      line->Count(piece.size());
      return sink(piece);
    });
  };
}

}  // namespace

metadata::Identity CallerReader::CallerOf(const http::Request& request,
                                          const std::string& listener) const {
  const std::string token = http::CredentialsOf(request).token;
  if (!token.empty() && token.size() <= kTokenBytesMax) {
    metadata::Identity identity = IdentityOfToken(token);
    if (!identity.account.empty()) return identity;
  }
  if (listener.empty()) return {};
  const auto found = machines_.Find(listener);
  return found ? metadata::IdentityOfMachine(found->machine) : metadata::Identity{};
}

// A client sends the same token with every request, so a token is read only once.
metadata::Identity CallerReader::IdentityOfToken(std::string_view token) const {
  if (!token.starts_with(metadata::kTokenPrefix)) return {};
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(token);
    if (found != known_.end()) return found->second;
  }
  const auto facts = mint_.Read(token);
  if (!facts) return {};
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kKnownMax) known_.clear();
  return known_.emplace(std::string(token), facts->identity).first->second;
}

HttpFrontEnd::HttpFrontEnd(Parts parts)
    : parts_(std::move(parts)),
      metadata_(parts_.machines, parts_.mint),
      oauth_(api::NoRouteResponse),
      callers_(parts_.mint, parts_.machines) {
  oauth_.Add(metadata::OAuthRoutes(parts_.mint, parts_.user, ""));
  oauth_.Add(metadata::OAuthRoutes(parts_.mint, parts_.user, metadata::kOAuthPrefix));
}

http::Response HttpFrontEnd::Handle(const http::Request& request) const {
  const bool for_metadata = IsForMetadata(request);
  // Finding the replica that came to a shared listener takes a while: only where it matters.
  const std::string listener = for_metadata
                                   ? parts_.machines.ResolveListener(request.listener, request.peer)
                                   : request.listener;
  if (!parts_.log) return Answer(request, for_metadata, listener);
  const Stopwatch stopwatch;
  AccessEntry entry = EntryFor(request, listener);
  http::Response response = Answer(request, for_metadata, listener);
  entry.status = response.status;
  if (request.method != "HEAD") entry.bytes = KnownBytes(response);
  LogWhenSent(*parts_.log, std::move(entry), stopwatch, response);
  return response;
}

void HttpFrontEnd::LogOwnAnswer(const http::Request& request,
                                const http::Response& response) const {
  if (!parts_.log) return;
  AccessEntry entry = EntryFor(request, request.listener);
  entry.status = response.status;
  entry.bytes = KnownBytes(response);
  parts_.log->Write(entry);
}

AccessEntry HttpFrontEnd::EntryFor(const http::Request& request,
                                   const std::string& listener) const {
  const metadata::Identity caller = callers_.CallerOf(request, listener);
  return {.time = parts_.wall.Now(),
          .identity = caller.account,
          .job = caller.job,
          .replica = caller.replica,
          .method = request.method,
          .path = request.path};
}

// A replica's own listener is first its metadata server; as a proxy it leads to Google's names.
bool HttpFrontEnd::IsForMetadata(const http::Request& request) const {
  if (metadata::IsMetadataRequest(request)) return true;
  return !request.listener.empty() && request.path == "/" && request.scheme == "http" &&
         !parts_.machines.IsShared(request.listener);
}

http::Response HttpFrontEnd::Answer(const http::Request& request, bool for_metadata,
                                    const std::string& listener) const {
  if (for_metadata) return metadata_.Handle(request, listener);
  const std::string_view path = request.path;
  const std::string_view prefix = metadata::kOAuthPrefix;
  const bool is_below_prefix =
      path.starts_with(prefix) && path.substr(prefix.size()).starts_with('/');
  if (is_below_prefix || metadata::IsOAuthRequest(request)) return oauth_.Handle(request);
  return parts_.inner(request);
}

}  // namespace caip::front
