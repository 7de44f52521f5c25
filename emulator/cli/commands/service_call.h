#pragma once
// One call of the ml API from a command: the answer's JSON, or the error in gcloud's words.

#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "emulator/app/connection.h"
#include "emulator/cli/io.h"

namespace caip::cli {

/// "/v1/projects/P/jobs/J", encoded; without job "/v1/projects/P/jobs".
std::string JobsPath(const std::string& project, const std::string& job_id = "");

/// Sends it and reads the answer. An answer that is no 2xx becomes an Error whose message is what
/// gcloud prints behind "ERROR: (...) ": "STATUS: message", or for 409 "Resource in projects [P] is
/// the subject of a conflict: message", then the details as YAML.
Result<Json> CallService(Connection& connection, const http::ClientRequest& request,
                         const std::string& project);

/// Writes "ERROR: (caip.jobs.COMMAND) message" and answers exit code 1.
int FailJobsCommand(const Io& io, std::string_view command, const Error& error);

}  // namespace caip::cli
