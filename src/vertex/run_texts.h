#pragma once
// Every text that the service writes about a run: its log lines and the job's error.message
// (docs/service/vertex.md, sections 4, 6 and 10). Texts marked "ours" have no attested wording.

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "run/texts.h"

namespace caip::vertex::texts {

// Task "service", in the order of a run.
std::string WaitingForProvisioning();
std::string ProvisioningFramework();
std::string SettingUp();
std::string WaitingForProgram();
std::string JobPreparing();
std::string JobRunning();
std::string TearingDown();
std::string TornDown();
std::string JobCompleted();
std::string JobFailed();
std::string JobCancelled();  // ours

// A replica's own task, written by the launcher of packages.
std::string MasterAddressUpdated(std::string_view host);
std::string RunningLauncher();
std::string RunningModule(std::string_view module);
std::string RunningCommand(const std::vector<std::string>& command);
std::string CommandFailed(const std::vector<std::string>& command, int status, int signal);
std::string TaskSucceeded();
std::string TaskFailed(int status);
std::string TerminatedByService();

// The message of a job's error. `replica` is "workerpool0-0", `project` the number.
std::string ReplicaFailed(std::string_view replica, const run::ReplicaFailure& failure,
                          std::string_view project, std::string_view job_id);
std::string CouldNotStart(std::string_view replica, std::string_view reason,
                          std::string_view project, std::string_view job_id);
std::string LowOnMemory(std::string_view pool);
std::string InternalError();
std::string OutOfStock(std::string_view region);
std::string WaitedTooLong(Duration max_wait);  // ours
std::string RanTooLong(Duration timeout);      // ours

}  // namespace caip::vertex::texts
