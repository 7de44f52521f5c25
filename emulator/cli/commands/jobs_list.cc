// `caip jobs list` (docs/service/submit.md, section 8): all pages, then sorted and cut by the
// client, as gcloud does. The filter is the service's own, so that it works the same for every
// client.

#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "client/connection.h"
#include "client/gcloud_properties.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/resource_text.h"

namespace caip::cli {
namespace {

// People who know gcloud write `--filter` in its own language.
Error WithLanguage(Error error, const std::string& filter) {
  if (error.code == Code::kInvalidArgument && !filter.empty()) {
    error.message +=
        "\n--filter is in the service's language (jobId:census* AND state=FAILED), not in "
        "gcloud's, "
        "which is applied by the client.";
  }
  return error;
}

Result<Json> AllJobs(client::Connection& connection, const std::string& project,
                     const std::string& filter) {
  Json jobs = Json::array();
  std::string token;
  do {
    const std::string target = client::JobsPath(project) +
                               "?pageSize=100&filter=" + PercentEncoded(filter) +
                               "&pageToken=" + PercentEncoded(token);
    const Result<Json> page = client::CallService(connection, {.target = target}, project);
    if (!page.ok()) return WithLanguage(page.error(), filter);
    const Json* found = Member(*page, "jobs");
    for (const Json& job : found ? *found : Json::array()) jobs.push_back(job);
    token = StringOr(*page, "nextPageToken");
  } while (!token.empty());
  return jobs;
}

// The value at "trainingInput.region" as text; "" where there is none.
std::string ValueAt(const Json& job, const std::string& key) {
  const Json* value = &job;
  for (const std::string& name : Split(key, '.')) {
    value = Member(*value, name);
    if (!value) return "";
  }
  return value->is_string() ? value->get<std::string>() : value->dump();
}

// Stable, by the last key first, so that the first key decides.
void Sort(std::vector<Json>& jobs, const std::vector<std::string>& keys) {
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    const bool descends = key->starts_with('~');
    const std::string name = key->substr(descends ? 1 : 0);
    std::stable_sort(jobs.begin(), jobs.end(), [&](const Json& a, const Json& b) {
      return descends ? ValueAt(b, name) < ValueAt(a, name) : ValueAt(a, name) < ValueAt(b, name);
    });
  }
}

std::string Uris(const std::vector<Json>& jobs, const std::string& base,
                 const std::string& project) {
  std::string text;
  for (const Json& job : jobs)
    text += base + client::JobsPath(project, StringOr(job, "jobId")) + "\n";
  return text;
}

Status List(const ListCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const std::string project, client::ProjectOf(command.gcloud));
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  ASSIGN_OR_RETURN(const Json all, AllJobs(*connection, project, command.filter.value_or("")));
  std::vector<Json> jobs(all.begin(), all.end());
  Sort(jobs, command.sort_by);
  if (command.limit && jobs.size() > static_cast<size_t>(*command.limit)) {
    jobs.resize(static_cast<size_t>(*command.limit));
  }
  if (command.uri) {
    world.io.out(Uris(jobs, connection->base_url(), project));
    return Ok{};
  }
  ASSIGN_OR_RETURN(
      const std::string text,
      FormatResources(Json(jobs), command.gcloud.format.value_or("table"), command.page_size));
  world.io.out(text);
  if (jobs.empty() && !command.gcloud.format) world.io.err("Listed 0 items.\n");
  return Ok{};
}

}  // namespace

int RunList(const ListCommand& command, const Surroundings& world) {
  const Status status = List(command, world);
  return status.ok() ? static_cast<int>(kExitSuccess)
                     : Fail(world.io, "jobs.list", status.error().message);
}

}  // namespace caip::cli
