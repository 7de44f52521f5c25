#pragma once
// A blocking HTTP/1.1 client on Boost.Beast, with keep-alive and a deadline.

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/message.h"

namespace caip::http {

/// A request to send. `body_reader` streams a body of `body_size` bytes instead of `body`.
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
  std::string body;  // empty if the sink received it
};

/// A client of one server. Reuses its connection; reconnects once if a kept connection fails before
/// the first byte of the response. One thread at a time.
class Client {
 public:
  /// `base` is "http://host:port" or "https://host:port". With a userinfo
  /// ("http://caip:TOKEN@host"), each request sends it as its Authorization. `trust_file` (PEM)
  /// holds the authorities for https. Connects at the first Send.
  explicit Client(std::string base, std::string trust_file = "");
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  /// kUnavailable: the server cannot be reached; kDeadlineExceeded: it is silent for too long.
  /// `sink` receives the body of a 2xx response piece by piece, and returns false to stop.
  Result<ClientResponse> Send(const ClientRequest& request,
                              const std::function<bool(std::string_view)>& sink = nullptr);
  void set_silence_seconds(int seconds);  // default 60; 0 waits forever
  const std::string& base() const;        // without the userinfo

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace caip::http
