#pragma once
// The commands on jobs of Vertex AI as values: `ai custom-jobs` and `ai hp-tuning-jobs`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/vertex/local_run.h"
#include "client/vertex/preparation.h"
#include "emulator/app/settings/emulator_flags.h"
#include "emulator/cli/commands/gcloud_flags.h"

namespace caip::cli {

/// What both create commands take besides the job.
struct AiCreateOptions {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  bool dry_run = false;        // only print the request's JSON
  bool validate_only = false;  // also check it by the service's rules; create nothing
};

/// `ai custom-jobs create`.
struct CustomJobCreateCommand : AiCreateOptions {
  client::vertex::CustomJobRequest request;
};

/// `ai hp-tuning-jobs create`.
struct TuningJobCreateCommand : AiCreateOptions {
  client::vertex::TuningJobRequest request;
};

/// What the commands on one job take: its id, or its full name.
struct AiJobCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  client::vertex::JobKind kind = client::vertex::JobKind::kCustomJob;
  std::optional<std::string> region;
  std::string job;
};

/// `ai custom-jobs|hp-tuning-jobs describe JOB`.
struct AiDescribeCommand : AiJobCommand {};

/// `ai custom-jobs|hp-tuning-jobs cancel JOB`.
struct AiCancelCommand : AiJobCommand {};

/// `ai custom-jobs|hp-tuning-jobs stream-logs JOB`.
struct AiStreamLogsCommand : AiJobCommand {
  int64_t polling_interval = 60;  // seconds; has no effect, lines are shown at once
  std::optional<std::string> task_name;
  bool allow_multiline_logs = false;
};

/// `ai custom-jobs|hp-tuning-jobs list`.
struct AiListCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  client::vertex::JobKind kind = client::vertex::JobKind::kCustomJob;
  std::optional<std::string> region;
  std::optional<std::string> filter;
  std::optional<int64_t> limit;
  std::optional<int64_t> page_size;
  std::vector<std::string> sort_by;  // "~field" sorts in descending order
  bool uri = false;
};

/// `ai custom-jobs local-run`.
struct AiLocalRunCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  client::vertex::LocalRunRequest request;
};

struct Surroundings;

int RunCustomJobCreate(const CustomJobCreateCommand& command, const Surroundings& world);
int RunTuningJobCreate(const TuningJobCreateCommand& command, const Surroundings& world);
int RunAiDescribe(const AiDescribeCommand& command, const Surroundings& world);
int RunAiList(const AiListCommand& command, const Surroundings& world);
int RunAiCancel(const AiCancelCommand& command, const Surroundings& world);
int RunAiLocalRun(const AiLocalRunCommand& command, const Surroundings& world);
int RunAiStreamLogs(const AiStreamLogsCommand& command, const Surroundings& world);

}  // namespace caip::cli
