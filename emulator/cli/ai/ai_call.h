#pragma once
// What the commands on jobs of Vertex AI have in common: the place, the connection, the exit code.

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "client/vertex/preparation.h"
#include "emulator/cli/ai/ai_texts.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/output.h"

namespace caip::cli {

/// A job and a connection to its service.
struct AiCall {
  client::vertex::JobName job;
  std::unique_ptr<client::Connection> connection;
};

/// Finds the job's place and the service, and says which one is used.
inline Result<AiCall> BeginAiCall(const AiJobCommand& command, const Surroundings& world) {
  AiCall call;
  ASSIGN_OR_RETURN(call.job, client::vertex::JobNameOf(command.kind, command.gcloud, command.region,
                                                       command.job));
  ASSIGN_OR_RETURN(call.connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  world.io.err(ai_texts::UsingEndpoint(call.connection->base_url()));
  return call;
}

/// The exit code of "ai.custom-jobs.describe". gcloud exits with 1 for all of these mistakes.
inline int ExitCodeOfAi(const Status& done, client::vertex::JobKind kind, std::string_view command,
                        const Io& io) {
  if (done.ok()) return kExitSuccess;
  const std::string group(client::vertex::WordsOf(kind).command);
  return Fail(io, "ai." + group + "." + std::string(command), done.error().message);
}

}  // namespace caip::cli
