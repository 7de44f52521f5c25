#pragma once
// The body of one request, read on demand. Private to src/http.

#include <cstdint>

#include "http/connection/activity.h"
#include "http/connection/input.h"
#include "http/message.h"

namespace caip::http {

/// The properties of a body, from the request's header.
struct BodyForm {
  bool chunked = false;
  uint64_t length = 0;  // if it is not chunked
  bool expects_continue = false;
};

/// Lives as long as its request. Sends "100 Continue" before the first read.
class RequestBody final : public BodyReader {
 public:
  RequestBody(Socket& socket, Input& input, const BodyForm& form, Activity& activity,
              int silence_seconds);

  Result<size_t> Read(char* buffer, size_t size) override;
  bool IsAtEnd() const { return chunked_ ? last_chunk_seen_ : left_ == 0; }
  /// Whether the rest is short enough to be skipped, so that the connection can serve the next
  /// request.
  bool IsWorthDraining() const;
  /// Skips the rest. False if the connection must end.
  bool Drain();

 private:
  Result<size_t> ReadSome(char* buffer, size_t size);
  Status BeginChunk();
  Status SkipTrailers();
  Result<std::string> ReadLine();
  Error Fail(Flow flow);
  Error Malformed(std::string_view why);

  Socket& socket_;
  Input& input_;
  Activity& activity_;
  int silence_seconds_;
  bool chunked_;
  uint64_t left_;  // of the body, or of the chunk
  bool continue_wanted_;
  bool failed_ = false;
  bool begun_ = false;
  bool between_chunks_ = false;  // after a chunk's data, before its line end
  bool last_chunk_seen_ = false;
};

}  // namespace caip::http
