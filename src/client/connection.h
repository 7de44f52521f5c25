#pragma once
// What a client needs of a running emulator, wherever it runs.

#include <string>

#include "base/result.h"
#include "http/client.h"

namespace caip::client {

/// One thread at a time.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Sends one request to the ml, storage or logging API; `target` is path and query.
  virtual Result<http::ClientResponse> Send(const http::ClientRequest& request) = 0;
  /// "http://127.0.0.1:PORT", for messages; "" when it has no address.
  virtual std::string base_url() const = 0;
};

/// A connection to an endpoint that runs for as long as the connection is used.
class FixedConnection final : public Connection {
 public:
  explicit FixedConnection(const std::string& url) : client_(url) {}
  Result<http::ClientResponse> Send(const http::ClientRequest& request) override {
    return client_.Send(request);
  }
  std::string base_url() const override { return client_.base(); }

 private:
  http::Client client_;
};

}  // namespace caip::client
