#pragma once
// A connection of a client to a running emulator, and calls of the ml API through it.

#include <functional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "http/client.h"

namespace caip::client {

/// Receives the body of a 2xx response piece by piece, and returns false to stop.
using BodySink = std::function<bool(std::string_view)>;

/// A connection to an emulator. One thread at a time.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Sends one request to the ml, storage or logging API; `target` is path and query.
  virtual Result<http::ClientResponse> Send(const http::ClientRequest& request,
                                            const BodySink& sink) = 0;
  Result<http::ClientResponse> Send(const http::ClientRequest& request) {
    return Send(request, nullptr);
  }
  /// "http://127.0.0.1:PORT", for messages; "" if there is no address.
  virtual std::string base_url() const = 0;
};

/// A connection to an endpoint that runs for as long as the connection is used.
class FixedConnection final : public Connection {
 public:
  explicit FixedConnection(const std::string& url) : client_(url) {}
  using Connection::Send;
  Result<http::ClientResponse> Send(const http::ClientRequest& request,
                                    const BodySink& sink) override {
    return client_.Send(request, sink);
  }
  std::string base_url() const override { return client_.base(); }

 private:
  http::Client client_;
};

/// Path of a job, percent-encoded. Without a job id, path of the list.
std::string JobsPath(const std::string& project, const std::string& job_id = "");

/// Sends the request and parses the response. A status other than 2xx becomes an Error with the
/// text that gcloud prints after "ERROR: (...) ": "STATUS: message", or for 409 "Resource in
/// projects [P] is the subject of a conflict: message", then the details as YAML. For
/// a body without the form of Google's errors, the text is the status and the body.
Result<Json> CallService(Connection& connection, const http::ClientRequest& request,
                         const std::string& project);

}  // namespace caip::client
