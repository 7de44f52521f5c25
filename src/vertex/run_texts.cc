#include "vertex/run_texts.h"

#include "base/text.h"
#include "base/time_text.h"
#include "run/replica_outcome.h"
#include "run/traceback.h"

namespace caip::vertex::texts {
namespace {

std::string Sentence(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

std::string LogsSentence(std::string_view project, std::string_view job_id) {
  return Sentence(
      {"To find out more about why your job exited please check the logs: "
       "https://console.cloud.google.com/logs/viewer?project=",
       project, "&resource=ml_job%2Fjob_id%2F", job_id,
       "&advancedFilter=resource.type%3D%22ml_job%22%0Aresource.labels.job_id%3D%22", job_id,
       "%22"});
}

// 'text' as Python's repr() writes it.
std::string PythonRepr(const std::string& text) {
  const bool has_single = text.find('\'') != std::string::npos;
  const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
  std::string repr(1, quote);
  for (const char c : text) {
    if (c == '\n') {
      repr += "\\n";
    } else if (c == '\t') {
      repr += "\\t";
    } else if (c == '\r') {
      repr += "\\r";
    } else {
      if (c == '\\' || c == quote) repr += '\\';
      repr += c;
    }
  }
  return repr + quote;
}

std::string PythonList(const std::vector<std::string>& words) {
  std::vector<std::string> shown;
  for (const std::string& word : words) shown.push_back(PythonRepr(word));
  return "[" + Join(shown, ", ") + "]";
}

}  // namespace

std::string WaitingForProvisioning() { return "Waiting for job to be provisioned."; }
std::string ProvisioningFramework() {
  return "Vertex AI is provisioning job running framework. First time usage might take couple of "
         "minutes, and subsequent runs can be much faster.";
}
std::string SettingUp() { return "Vertex AI is setting up this job."; }
std::string WaitingForProgram() { return "Waiting for training program to start."; }
std::string JobPreparing() { return "Job is preparing."; }
std::string JobRunning() { return "Job is running."; }
std::string TearingDown() { return "Tearing down training program."; }
std::string TornDown() { return "Finished tearing down training program."; }
std::string JobCompleted() { return "Job completed successfully."; }
std::string JobFailed() { return "Job failed."; }
std::string JobCancelled() { return "Job cancelled."; }

std::string MasterAddressUpdated(std::string_view host) {
  return Sentence({"Updating master address to local address ", host});
}
std::string RunningLauncher() { return "Running run_module.py"; }
std::string RunningModule(std::string_view module) {
  return Sentence({"Running module ", module, "."});
}
std::string RunningCommand(const std::vector<std::string>& command) {
  return "Running command: " + Join(command, " ");
}

// As Python words its CalledProcessError.
std::string CommandFailed(const std::vector<std::string>& command, int status, int signal) {
  const std::string start = "Command '" + PythonList(command) + "' ";
  if (signal == 0) return start + "returned non-zero exit status " + std::to_string(status) + ".";
  const std::string_view name = run::SignalName(signal);
  if (name.empty()) return start + "died with unknown signal " + std::to_string(signal) + ".";
  return start + "died with <Signals." + std::string(name) + ": " + std::to_string(signal) + ">.";
}

std::string TaskSucceeded() { return "Task completed. Exit code (0). Exit reason (SUCCEEDED)"; }
std::string TaskFailed(int status) {
  return "Task completed. Exit code (" + std::to_string(status) +
         "). Exit reason (SUBPROCESS_EXCEPTION)";
}
std::string TerminatedByService() {
  return "Terminated by service. If the job is supposed to continue running, it will be restarted "
         "on other VM shortly.";
}

std::string ReplicaFailed(std::string_view replica, const run::ReplicaFailure& failure,
                          std::string_view project, std::string_view job_id) {
  std::string text = Sentence({"The replica ", replica, " exited with a non-zero status of ",
                               run::texts::StatusInWords(failure.status, failure.signal), ". "});
  if (!failure.traceback.empty()) {
    std::string reduced = run::ReduceTraceback(failure.traceback);
    while (!reduced.empty() && reduced.back() == '\n') reduced.pop_back();
    text += "Termination reason: Error. \n" + reduced + "\n\n";
  }
  return text + LogsSentence(project, job_id);
}

std::string CouldNotStart(std::string_view replica, std::string_view reason,
                          std::string_view project, std::string_view job_id) {
  return Sentence({"The replica ", replica,
                   " exited with a non-zero status of 128. Termination reason: StartError. \n "
                   "Termination log message: ",
                   reason, "\n\n", LogsSentence(project, job_id)});
}

std::string LowOnMemory(std::string_view pool) {
  return Sentence(
      {"Replicas low on memory: ", pool, ". Specify a machine with larger memory and try again."});
}

std::string InternalError() { return "Internal error occurred for the current attempt"; }

std::string OutOfStock(std::string_view region) {
  return Sentence({"Resources are insufficient in region: ", region,
                   ". Try a different region or use a different accelerator."});
}

std::string WaitedTooLong(Duration max_wait) {
  return Sentence({"The job failed because it waited longer than scheduling.maxWaitDuration (",
                   ProtoDuration(max_wait), ") for its machines."});
}

std::string RanTooLong(Duration timeout) {
  return Sentence({"The job was cancelled because it ran longer than scheduling.timeout (",
                   ProtoDuration(timeout), ")."});
}

}  // namespace caip::vertex::texts
