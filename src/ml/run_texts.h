#pragma once
// Every text that the service writes about a run: its log lines and the job's errorMessage
// (docs/service/replica-environment.md, sections 5 to 8). Texts marked "ours" have no attested
// wording.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "ml/cluster.h"

namespace caip::ml::texts {

// Task "service", in the order of a run.
std::string ValidatingJob();
std::string JobValidated();
std::string JobQueued(std::string_view job_id);
std::string WaitingForProvisioning();
std::string WaitingForProgram();
std::string JobPreparing();
std::string JobRunning();
std::string TearingDown();
std::string TornDown();
std::string JobCompleted();
std::string JobFailed();     // inferred
std::string JobCancelled();  // inferred

// A replica's own task, written by the service's launcher.
std::string RunningModule(std::string_view module);
std::string RunningCommand(std::string_view command);
std::string ModuleCompleted();
std::string CleanedUp();
std::string TaskCompleted();  // only on success
std::string TerminatedByService();

/// How one replica failed, for errorMessage.
struct ReplicaFailure {
  ReplicaId replica;
  int status = 0;  // ReportedExitCode
  int signal = 0;  // named after the status; 0 none
  bool out_of_memory = false;
  std::string traceback = {};  // as printed; it is shortened here. "" none
};

/// errorMessage of a job that failed by its replicas, at least one; in their order. `project` is
/// the number, or the id where there is none.
std::string ReplicasFailed(const std::vector<ReplicaFailure>& failures, std::string_view project,
                           std::string_view job_id);

/// "To find out more about why your job exited please check the logs: https://...".
std::string LogsSentence(std::string_view project, std::string_view job_id);

// Other errorMessages.
std::string OutOfStock(std::string_view region);
std::string WaitedTooLong(Duration max_wait_time);  // ours
std::string RanTooLong(Duration max_running_time);  // ours

}  // namespace caip::ml::texts
