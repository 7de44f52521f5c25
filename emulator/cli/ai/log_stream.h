#pragma once
// The log of a job of Vertex AI, from its start until the job ends.

#include <optional>
#include <string>

#include "base/result.h"
#include "client/connection.h"
#include "client/vertex/job_name.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/own_paths.h"

namespace caip::cli {

/// A log to follow.
struct AiLogRequest {
  client::vertex::JobName job;
  std::string log_project;                    // an id; logs are found by ids alone
  std::optional<std::string> task_name = {};  // unset: all tasks
  bool allow_multiline_logs = false;          // false: one row for each line of a message
  bool only_messages = false;                 // no columns, as the trainer wrote them
  OwnPaths own_paths = {};
};

/// Writes the log to io.err, as gcloud does, until the job has ended. Returns the signal that ended
/// the command before; 0 if the job has ended.
Result<int> StreamAiLog(client::Connection& connection, const AiLogRequest& request, const Io& io);

}  // namespace caip::cli
