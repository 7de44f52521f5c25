// `ai custom-jobs|hp-tuning-jobs describe|list|cancel` (docs/vertex.md).

#include "base/encoding.h"
#include "base/json.h"
#include "emulator/cli/ai/ai_call.h"
#include "emulator/cli/commands/newest_jobs.h"
#include "emulator/cli/print/resource_text.h"

namespace caip::cli {
namespace {

namespace vertex = client::vertex;

// The job as gcloud parses it. Custom jobs have no doubles.
Json AsParsed(vertex::JobKind kind, Json job) {
  return kind == vertex::JobKind::kTuningJob ? vertex::WithTuningDoubles(std::move(job)) : job;
}

Status DescribeAiJob(const AiDescribeCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const AiCall call, BeginAiCall(command, world));
  ASSIGN_OR_RETURN(const Json job,
                   vertex::CallForJob(*call.connection, {.target = call.job.Path()}, call.job));
  ASSIGN_OR_RETURN(const std::string text, FormatResource(AsParsed(command.kind, job),
                                                          command.gcloud.format.value_or("yaml")));
  world.io.out(text);
  return Ok{};
}

Status CancelAiJob(const AiCancelCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const AiCall call, BeginAiCall(command, world));
  http::ClientRequest request{.method = "POST", .target = call.job.Path() + ":cancel"};
  request.headers.Set("Content-Type", "application/json");
  request.body = "{}";
  ASSIGN_OR_RETURN(const Json answer, vertex::CallForJob(*call.connection, request, call.job));
  world.io.err(ai_texts::CancelSent(call.job));
  ASSIGN_OR_RETURN(const std::string text,
                   FormatResource(answer, command.gcloud.format.value_or("none")));
  world.io.out(text);
  return Ok{};
}

// The jobs that match, as many as are wanted.
Result<std::vector<Json>> ReadAiJobs(client::Connection& connection,
                                     const vertex::Location& location, vertex::JobKind kind,
                                     const std::string& filter, size_t wanted) {
  const std::string collection(vertex::WordsOf(kind).collection);
  std::vector<Json> jobs;
  std::string token;
  do {
    std::string target = location.Path(kind) + "?pageSize=100";
    if (!filter.empty()) target += "&filter=" + PercentEncoded(filter);
    if (!token.empty()) target += "&pageToken=" + PercentEncoded(token);
    Result<Json> page = client::CallService(connection, {.target = target}, location.project);
    if (!page.ok()) {
      const bool is_filter = page.error().code == Code::kInvalidArgument && !filter.empty();
      return is_filter ? ai_texts::WithFilterLanguage(page.error()) : page.error();
    }
    if (Member(*page, collection) != nullptr) {
      for (Json& job : (*page)[collection]) jobs.push_back(AsParsed(kind, std::move(job)));
    }
    token = StringOr(*page, "nextPageToken");
  } while (!token.empty() && jobs.size() < wanted);
  return jobs;
}

Status ListAiJobs(const AiListCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const vertex::Location location,
                   vertex::LocationOf(command.gcloud, command.region));
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  world.io.err(ai_texts::UsingEndpoint(connection->base_url()));
  const size_t limit = command.limit ? static_cast<size_t>(*command.limit) : SIZE_MAX;
  const size_t wanted = command.sort_by.empty() ? limit : SIZE_MAX;
  ASSIGN_OR_RETURN(std::vector<Json> jobs, ReadAiJobs(*connection, location, command.kind,
                                                      command.filter.value_or(""), wanted));
  SortResources(jobs, command.sort_by);
  if (jobs.size() > limit) jobs.resize(limit);
  if (command.uri) {
    std::string uris;
    for (const Json& job : jobs) {
      uris += connection->base_url() + "/v1/" + StringOr(job, "name") + "\n";
    }
    world.io.out(uris);
    return Ok{};
  }
  ASSIGN_OR_RETURN(
      const std::string text,
      FormatPlainResources(Json(jobs), command.gcloud.format.value_or("yaml"), command.page_size));
  world.io.out(text);
  if (jobs.empty() && !command.gcloud.format) world.io.err("Listed 0 items.\n");
  return Ok{};
}

}  // namespace

int RunAiDescribe(const AiDescribeCommand& command, const Surroundings& world) {
  return ExitCodeOfAi(DescribeAiJob(command, world), command.kind, "describe", world.io);
}

int RunAiList(const AiListCommand& command, const Surroundings& world) {
  return ExitCodeOfAi(ListAiJobs(command, world), command.kind, "list", world.io);
}

int RunAiCancel(const AiCancelCommand& command, const Surroundings& world) {
  return ExitCodeOfAi(CancelAiJob(command, world), command.kind, "cancel", world.io);
}

}  // namespace caip::cli
