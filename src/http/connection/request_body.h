#pragma once
// The body of one request, read as the handler asks for it. Private to src/http.

#include <cstdint>

#include "http/connection/activity.h"
#include "http/connection/input.h"
#include "http/message.h"

namespace caip::http {

/// What a request's header says about its body.
struct BodyForm {
  bool chunked = false;
  uint64_t length = 0;  // where it is not chunked
  bool expects_continue = false;
};

/// Lives as long as its request. Says "100 Continue" when somebody wants to read.
class RequestBody final : public BodyReader {
 public:
  RequestBody(Socket& socket, Input& input, const BodyForm& form, Activity& activity,
              int silence_seconds);

  Result<size_t> Read(char* buffer, size_t size) override;
  bool AtEnd() const { return chunked_ ? last_chunk_seen_ : left_ == 0; }
  /// Whether what is left may be skipped so that the connection can serve the next request.
  bool WorthDraining() const;
  /// Skips what is left. False when the connection must end.
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
  bool between_chunks_ = false;  // a chunk's data has ended, its line end has not been read
  bool last_chunk_seen_ = false;
};

}  // namespace caip::http
