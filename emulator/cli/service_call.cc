#include "emulator/cli/service_call.h"

#include "base/encoding.h"
#include "base/json.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/service_error.h"

namespace caip::cli {
namespace {

constexpr int kConflict = 409;

Code CodeOfServiceCall(int status) {
  switch (status) {
    case 400:
      return Code::kInvalidArgument;
    case 404:
      return Code::kNotFound;
    case kConflict:
      return Code::kAlreadyExists;
    default:
      return Code::kUnknown;
  }
}

}  // namespace

std::string JobsPath(const std::string& project, const std::string& job_id) {
  const std::string jobs = "/v1/projects/" + PercentEncoded(project) + "/jobs";
  return job_id.empty() ? jobs : jobs + "/" + PercentEncoded(job_id);
}

Result<Json> CallService(Connection& connection, const http::ClientRequest& request,
                         const std::string& project) {
  ASSIGN_OR_RETURN(const http::ClientResponse response, connection.Send(request));
  if (response.status < 200 || response.status > 299) {
    return Error{CodeOfServiceCall(response.status), ServiceErrorText(response, project)};
  }
  return ParseJson(response.body);
}

int FailJobsCommand(const Io& io, std::string_view command, const Error& error) {
  io.err("ERROR: (caip.jobs." + std::string(command) + ") " + error.message + "\n");
  return kExitFailure;
}

}  // namespace caip::cli
