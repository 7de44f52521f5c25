#pragma once
// What a client needs of a running emulator, wherever it runs.

#include <string>
#include <string_view>

#include "base/json_fwd.h"
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

// One call of the ml API: the answer's JSON, or the error in gcloud's words.

/// "/v1/projects/P/jobs/J", encoded; without a job "/v1/projects/P/jobs".
std::string JobsPath(const std::string& project, const std::string& job_id = "");

/// Sends the request and reads the answer. An answer that is not a 2xx becomes an Error with the
/// text that gcloud prints after "ERROR: (...) ": "STATUS: message", or for 409 "Resource in
/// projects [P] is the subject of a conflict: message", then the details as YAML. The text of a
/// body that does not have the form of Google's errors is the status and the body.
Result<Json> CallService(Connection& connection, const http::ClientRequest& request,
                         const std::string& project);

}  // namespace caip::client
