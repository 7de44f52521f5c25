#pragma once
// A blocking HTTP/1.1 client on Boost.Beast, with keep-alive and a deadline.

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/message.h"

namespace caip::http {

/// What to send. `body_reader` streams a body of `body_size` bytes instead of `body`.
struct ClientRequest {
  std::string method = "GET";
  std::string target = {};  // path and query, %-encoded
  Headers headers = {};
  std::string body = {};
  BodyReader* body_reader = nullptr;
  uint64_t body_size = 0;
};

struct ClientResponse {
  int status = 0;
  Headers headers = {};
  std::string body;  // empty when it went to the sink
};

/// One peer. Reuses its connection; reconnects once when a kept one turns out dead before any
/// byte of the answer. One thread at a time.
class Client {
 public:
  /// `base`: "http://host:port" or "https://host:port", the latter with a file of the authorities
  /// (PEM) that may vouch for it. Connects at the first Send.
  explicit Client(std::string base, std::string trust_file = "");
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  /// kUnavailable when the peer cannot be reached, kDeadlineExceeded when it is silent too long.
  /// `sink` takes the body of a 2xx answer piece by piece; false stops.
  Result<ClientResponse> Send(const ClientRequest& request,
                              const std::function<bool(std::string_view)>& sink = nullptr);
  void set_silence_seconds(int seconds);  // default 60; 0 waits for ever
  const std::string& base() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace caip::http
