#pragma once
// The body of one request, read on demand. Private to src/http.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/connection/activity.h"
#include "http/message.h"
#include "http/transport/socket.h"

namespace caip::http {

// Received bytes that have not been parsed. Private to src/http.

/// A buffer between a socket and a parser. One thread.
class Input {
 public:
  std::string_view view() const { return {data_.data() + begin_, end_ - begin_}; }
  std::span<char> bytes() { return {data_.data() + begin_, end_ - begin_}; }
  size_t size() const { return end_ - begin_; }
  void Consume(size_t count) { begin_ += count; }
  /// Removes and returns all bytes.
  std::string Take() {
    std::string taken(view());
    data_ = {};
    begin_ = end_ = 0;
    return taken;
  }
  /// Receives at most `size` more bytes.
  Flow ReceiveMore(Socket& socket, size_t size) {
    const auto at = [this](size_t index) { return data_.begin() + static_cast<long>(index); };
    if (begin_ > 0) {
      std::copy(at(begin_), at(end_), data_.begin());
      end_ -= begin_;
      begin_ = 0;
    }
    if (data_.size() < end_ + size) data_.resize(end_ + size);
    const Received received = socket.Receive(data_.data() + end_, size);
    end_ += received.count;
    return received.flow;
  }

 private:
  std::vector<char> data_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

/// Makes headers with two body lengths acceptable, as curl inside TensorFlow sends them: Beast's
/// parser refuses them, though RFC 9112 (6.1, 6.3) allows a server to accept them.
///
/// If `bytes` begin with a complete header (or its rest, from the start of a line), hides fields by
/// giving them unknown names of the same length: a single "Transfer-Encoding: identity", which
/// means nothing, and Content-Length next to "Transfer-Encoding: chunked", which overrides it. True
/// in the latter case: then the server must close the connection after the response.
bool ResolveFraming(std::span<char> bytes);

/// The properties of a body, from the request's header.
struct BodyForm {
  bool chunked = false;
  uint64_t length = 0;  // if it is not chunked
  bool expects_continue = false;
};

/// Reads the body of one request, while the request is handled. Sends "100 Continue" before the
/// first read.
class RequestBody final : public BodyReader {
 public:
  RequestBody(Socket& socket, Input& input, const BodyForm& form, Activity& activity,
              int silence_seconds);

  Result<size_t> Read(char* buffer, size_t size) override;
  bool IsAtEnd() const { return chunked_ ? last_chunk_seen_ : left_ == 0; }
  /// True if the rest is short enough to be skipped, so that the connection can serve the next
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
