// `ai custom-jobs|hp-tuning-jobs stream-logs`: the log of a job until the job ends. gcloud reads
// the job only once, so its command never ends for a job that runs (docs/vertex.md).

#include "emulator/cli/ai/ai_call.h"
#include "emulator/cli/ai/log_stream.h"
#include "emulator/cli/errors.h"

namespace caip::cli {
namespace {

// The names that the service answers have the project's number. The log is then looked for in the
// project of the command line's context, as gcloud does.
std::string LogProjectOf(const client::vertex::JobName& job, const GcloudFlags& flags) {
  const std::string& named = job.location.project;
  const bool is_number = named.find_first_not_of("0123456789") == std::string::npos;
  const auto own = client::ProjectOf(flags);
  return is_number && own.ok() ? *own : named;
}

Status StreamAiLogs(const AiStreamLogsCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const AiCall call, BeginAiCall(command, world));
  // The log is the result of this command.
  Io as_result = world.io;
  as_result.err = world.io.out;
  as_result.err_is_terminal = world.io.out_is_terminal;
  const AiLogRequest request{.job = call.job,
                             .log_project = LogProjectOf(call.job, command.gcloud),
                             .task_name = command.task_name,
                             .allow_multiline_logs = command.allow_multiline_logs,
                             .own_paths = OwnPaths(app::StateDirectory(command.emulator))};
  ASSIGN_OR_RETURN(const int signal, StreamAiLog(*call.connection, request, as_result));
  if (signal != 0) world.io.err(errors::Interrupted(signal));
  return Ok{};
}

}  // namespace

int RunAiStreamLogs(const AiStreamLogsCommand& command, const Surroundings& world) {
  return ExitCodeOfAi(StreamAiLogs(command, world), command.kind, "stream-logs", world.io);
}

}  // namespace caip::cli
