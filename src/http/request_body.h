#pragma once
// The body of one request, read as the handler asks for it. Private to src/http: knows Beast.

#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "http/activity.h"
#include "http/input.h"
#include "http/message.h"

namespace caip::http {

using RequestParser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;

/// Lives as long as its request. Says "100 Continue" when somebody wants to read.
class RequestBody final : public BodyReader {
 public:
  RequestBody(Socket& socket, Input& input, RequestParser& parser, Activity& activity,
              int silence_seconds);

  Result<size_t> Read(char* buffer, size_t size) override;
  bool AtEnd() const { return chunked_ ? parser_.is_done() : left_ == 0; }
  /// Whether what is left may be skipped so that the connection can serve the next request.
  bool WorthDraining() const;
  /// Skips what is left. False when the connection must end.
  bool Drain();

 private:
  Result<size_t> ReadCounted(char* buffer, size_t size);
  Result<size_t> ReadChunked(char* buffer, size_t size);
  Error Fail(Flow flow);
  Error Malformed(std::string_view why);

  Socket& socket_;
  Input& input_;
  RequestParser& parser_;
  Activity& activity_;
  int silence_seconds_;
  bool chunked_ = false;
  bool continue_wanted_ = false;
  bool failed_ = false;
  bool begun_ = false;
  uint64_t left_ = 0;
};

}  // namespace caip::http
