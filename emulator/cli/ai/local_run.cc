// `ai custom-jobs local-run`: runs a trainer as a custom job of one replica, with the variables of
// the service, and prints what it prints. gcloud runs one container without those variables.

#include "client/vertex/local_run.h"

#include "base/clock.h"
#include "base/json.h"
#include "emulator/cli/ai/ai_call.h"
#include "emulator/cli/ai/image_mapping.h"
#include "emulator/cli/ai/log_stream.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

namespace vertex = client::vertex;

constexpr char kLocalTask[] = "workerpool0-0";
constexpr char kLocalRunName[] = "ai.custom-jobs.local-run";

http::ClientRequest CancelRequest(const vertex::JobName& job) {
  http::ClientRequest request{.method = "POST", .target = job.Path() + ":cancel"};
  request.headers.Set("Content-Type", "application/json");
  request.body = "{}";
  return request;
}

// The exit code of a run that has ended.
Result<int> ReportEnd(client::Connection& connection, const vertex::JobName& job,
                      const std::string& image, const Io& io) {
  ASSIGN_OR_RETURN(const Json ended, vertex::CallForJob(connection, {.target = job.Path()}, job));
  if (StringOr(ended, "state") == "JOB_STATE_SUCCEEDED") {
    io.out(ai_texts::LocalRunFinished(image));
    return static_cast<int>(kExitSuccess);
  }
  const Json* error = Member(ended, "error");
  return Fail(
      io, kLocalRunName,
      error ? StringOr(*error, "message") : ai_texts::LocalRunEnded(StringOr(ended, "state")));
}

Result<int> LocalRun(const AiLocalRunCommand& command, const Surroundings& world) {
  vertex::LocalRunRequest request = command.request;
  request.gcloud = command.gcloud;
  ASSIGN_OR_RETURN(const vertex::PreparedLocalRun run,
                   vertex::PrepareLocalRun(request, SystemClock().Now()));
  world.io.err(ai_texts::PackageIsSet(run.directory));
  if (run.job.image && !run.job.image->warning.empty()) world.io.err(run.job.image->warning);
  ASSIGN_OR_RETURN(const auto connection,
                   world.connect(command.emulator, app::Lifetime::kThisCommand));
  if (run.job.image) RETURN_IF_ERROR(MapLocalImage(command.emulator, *run.job.image));
  world.io.err(ai_texts::StartingToRun());
  ASSIGN_OR_RETURN(const Json created, vertex::CreateJob(*connection, run.job));
  const std::string name = StringOr(created, "name");
  const vertex::JobName job{vertex::JobKind::kCustomJob, run.job.location,
                            name.substr(name.rfind('/') + 1)};
  Io as_result = world.io;
  as_result.err = world.io.out;
  as_result.err_is_terminal = false;
  const AiLogRequest log{.job = job,
                         .log_project = run.job.location.project,
                         .task_name = kLocalTask,
                         .only_messages = true,
                         .own_paths = OwnPaths(app::StateDirectory(command.emulator))};
  ASSIGN_OR_RETURN(const int signal, StreamAiLog(*connection, log, as_result));
  if (signal == 0) return ReportEnd(*connection, job, run.image, world.io);
  world.io.err(errors::Interrupted(signal));
  ASSIGN_OR_RETURN(const Json cancelled, vertex::CallForJob(*connection, CancelRequest(job), job));
  (void)cancelled;
  return static_cast<int>(kExitInterrupted);
}

}  // namespace

int RunAiLocalRun(const AiLocalRunCommand& command, const Surroundings& world) {
  const Result<int> code = LocalRun(command, world);
  return code.ok() ? *code : Fail(world.io, kLocalRunName, code.error().message);
}

}  // namespace caip::cli
