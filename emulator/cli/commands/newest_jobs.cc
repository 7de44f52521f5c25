#include "emulator/cli/commands/newest_jobs.h"

#include <utility>

#include "base/encoding.h"
#include "base/json.h"

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

}  // namespace caip::cli
