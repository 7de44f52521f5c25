#include "client/connection.h"

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "client/errors.h"
#include "client/yaml_text.h"

namespace caip::client {
namespace {

constexpr int kConflict = 409;

std::string ServiceErrorText(const http::ClientResponse& response, std::string_view project) {
  const Result<Json> body = ParseJson(response.body);
  const Json* error = body.ok() ? Member(*body, "error") : nullptr;
  if (!error || !error->is_object()) {
    return "HTTP status " + std::to_string(response.status) + ": " + response.body;
  }
  const std::string message = StringOr(*error, "message");
  std::string text = response.status == kConflict
                         ? "Resource in projects [" + std::string(project) +
                               "] is the subject of a conflict: " + message
                         : StringOr(*error, "status", "UNKNOWN") + ": " + message;
  const Json* details = Member(*error, "details");
  if (details && details->is_array() && !details->empty()) text += "\n" + YamlText(*details);
  while (text.ends_with('\n')) text.pop_back();
  return text;
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
    return errors::ServiceRefused(response.status, ServiceErrorText(response, project));
  }
  return ParseJson(response.body);
}

}  // namespace caip::client
