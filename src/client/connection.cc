#include "client/connection.h"

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "client/errors.h"
#include "client/yaml_text.h"

namespace caip::client {
namespace {

constexpr int kNotFound = 404;
constexpr int kConflict = 409;

// The job that a path names: "j1" for /v1/projects/p/jobs/j1:cancel; "" if it names none.
std::string JobOfTarget(std::string_view target) {
  constexpr std::string_view kJobs = "/jobs/";
  const size_t jobs = target.find(kJobs);
  if (jobs == std::string_view::npos) return "";
  const std::string_view rest = target.substr(jobs + kJobs.size());
  return PercentDecoded(rest.substr(0, rest.find_first_of("/:?"))).value_or("");
}

std::vector<FieldViolation> ViolationsOf(const Json& details) {
  std::vector<FieldViolation> violations;
  for (const Json& detail : details.is_array() ? details : Json::array()) {
    const Json* list = Member(detail, "fieldViolations");
    for (const Json& one : list && list->is_array() ? *list : Json::array()) {
      violations.push_back({StringOr(one, "field"), StringOr(one, "description")});
    }
  }
  return violations;
}

// The error of the service, in the words in which gcloud shows it.
Error RefusalOf(const http::ClientResponse& response, std::string_view project) {
  const Result<Json> body = ParseJson(response.body);
  const Json* error = body.ok() ? Member(*body, "error") : nullptr;
  if (!error || !error->is_object()) {
    const std::string status = "HTTP status " + std::to_string(response.status);
    return errors::ServiceRefused(response.status, "", status + ": " + response.body, {});
  }
  const std::string message = StringOr(*error, "message");
  const std::string name = StringOr(*error, "status", "UNKNOWN");
  std::string text = response.status == kConflict
                         ? "Resource in projects [" + std::string(project) +
                               "] is the subject of a conflict: " + message
                         : name + ": " + message;
  const Json* details = Member(*error, "details");
  if (details && details->is_array() && !details->empty()) text += "\n" + YamlText(*details);
  while (text.ends_with('\n')) text.pop_back();
  return errors::ServiceRefused(response.status, name, std::move(text),
                                details ? ViolationsOf(*details) : std::vector<FieldViolation>{});
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
    const Error refusal = RefusalOf(response, project);
    const std::string job = JobOfTarget(request.target);
    const bool job_missing = response.status == kNotFound && !job.empty();
    return job_missing ? errors::JobMissing(refusal, job, project) : refusal;
  }
  return ParseJson(response.body);
}

}  // namespace caip::client
