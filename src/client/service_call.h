#pragma once
// One call of the ml API: the answer's JSON, or the error in gcloud's words.

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "client/connection.h"

namespace caip::client {

/// "/v1/projects/P/jobs/J", encoded; without a job "/v1/projects/P/jobs".
std::string JobsPath(const std::string& project, const std::string& job_id = "");

/// Sends the request and reads the answer. An answer that is not a 2xx becomes an Error with the
/// text that gcloud prints after "ERROR: (...) ": "STATUS: message", or for 409 "Resource in
/// projects [P] is the subject of a conflict: message", then the details as YAML. The text of a
/// body that does not have the form of Google's errors is the status and the body.
Result<Json> CallService(Connection& connection, const http::ClientRequest& request,
                         const std::string& project);

}  // namespace caip::client
