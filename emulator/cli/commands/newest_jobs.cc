#include "emulator/cli/commands/newest_jobs.h"

#include <algorithm>
#include <utility>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"

namespace caip::cli {
namespace {

// Names the language of --filter in the error, because users of gcloud write gcloud's own language.
Error WithLanguage(Error error, const std::string& filter) {
  if (error.code == Code::kInvalidArgument && !filter.empty()) {
    error.message +=
        "\n--filter uses the service's language (jobId:census* AND state=FAILED). gcloud's own "
        "language is not supported.";
  }
  return error;
}

// The value at "trainingInput.region" as text; "" if it is missing.
std::string SortedTextAt(const Json& job, const std::string& key) {
  const Json* value = &job;
  for (const std::string& name : Split(key, '.')) {
    value = Member(*value, name);
    if (!value) return "";
  }
  return value->is_string() ? value->get<std::string>() : value->dump();
}

}  // namespace

Result<std::vector<Json>> NewestJobs(client::Connection& connection, const std::string& project,
                                     const JobSelection& selection) {
  std::vector<Json> jobs;
  std::string token;
  do {
    const std::string target = client::JobsPath(project) +
                               "?pageSize=100&filter=" + PercentEncoded(selection.filter) +
                               "&pageToken=" + PercentEncoded(token);
    Result<Json> page = client::CallService(connection, {.target = target}, project);
    if (!page.ok()) return WithLanguage(page.error(), selection.filter);
    if (Member(*page, "jobs") != nullptr) {
      for (Json& job : (*page)["jobs"]) jobs.push_back(std::move(job));
    }
    token = StringOr(*page, "nextPageToken");
  } while (!token.empty() && jobs.size() < selection.count);
  return jobs;
}

Result<std::vector<Json>> JobsOfBothApis(client::Connection& connection,
                                         const std::string& project) {
  ASSIGN_OR_RETURN(std::vector<Json> jobs, NewestJobs(connection, project));
  std::reverse(jobs.begin(), jobs.end());
  const std::string target = "/emulator/v1/projects/" + PercentEncoded(project) + "/customJobs";
  ASSIGN_OR_RETURN(const Json answer, client::CallService(connection, {.target = target}, project));
  const Json* listed = Member(answer, "jobs");
  const std::vector<Json> of_vertex =
      listed ? listed->get<std::vector<Json>>() : std::vector<Json>{};
  jobs.insert(jobs.end(), of_vertex.rbegin(), of_vertex.rend());
  return jobs;
}

// Sorts stably by the last key first, so that the first key decides.
void SortResources(std::vector<Json>& jobs, const std::vector<std::string>& keys) {
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    const bool descends = key->starts_with('~');
    const std::string name = key->substr(descends ? 1 : 0);
    std::stable_sort(jobs.begin(), jobs.end(), [&](const Json& a, const Json& b) {
      return descends ? SortedTextAt(b, name) < SortedTextAt(a, name)
                      : SortedTextAt(a, name) < SortedTextAt(b, name);
    });
  }
}

}  // namespace caip::cli
