#include "emulator/cli/service_call.h"

#include "base/json.h"
#include "base/text.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/yaml_text.h"

namespace caip::cli {
namespace {

constexpr int kConflict = 409;

Code CodeOf(int status) {
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

Error ErrorOf(const http::ClientResponse& response, const std::string& project) {
  const auto body = ParseJson(response.body);
  const Json* error = body.ok() ? Member(*body, "error") : nullptr;
  if (!error) {
    return {CodeOf(response.status), "HTTP status " + std::to_string(response.status) + ": " +
                                         response.body.substr(0, 1000)};
  }
  const std::string message = StringOr(*error, "message");
  std::string text = response.status == kConflict ? "Resource in projects [" + project +
                                                        "] is the subject of a conflict: " + message
                                                  : StringOr(*error, "status") + ": " + message;
  if (const Json* details = Member(*error, "details"); details && !details->empty()) {
    std::string yaml = YamlText(*details);
    while (yaml.ends_with('\n')) yaml.pop_back();
    text += "\n" + yaml;
  }
  return {CodeOf(response.status), std::move(text)};
}

}  // namespace

std::string JobsPath(const std::string& project, const std::string& job_id) {
  const std::string jobs = "/v1/projects/" + PercentEncoded(project) + "/jobs";
  return job_id.empty() ? jobs : jobs + "/" + PercentEncoded(job_id);
}

Result<Json> CallService(Connection& connection, const http::ClientRequest& request,
                         const std::string& project) {
  ASSIGN_OR_RETURN(const http::ClientResponse response, connection.Send(request));
  if (response.status < 200 || response.status > 299) return ErrorOf(response, project);
  return ParseJson(response.body);
}

int FailJobsCommand(const Io& io, std::string_view command, const Error& error) {
  io.err("ERROR: (caip.jobs." + std::string(command) + ") " + error.message + "\n");
  return kExitFailure;
}

}  // namespace caip::cli
