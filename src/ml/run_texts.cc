#include "ml/run_texts.h"

#include <cassert>

#include "base/time_text.h"
#include "run/texts.h"
#include "run/traceback.h"

namespace caip::ml::texts {
namespace {

std::string Text(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

// "The replica master 0", "The replicas worker 0, worker 1".
std::string Subject(const std::vector<const ReplicaFailure*>& group) {
  std::string text = group.size() == 1 ? "The replica " : "The replicas ";
  const char* separator = "";
  for (const ReplicaFailure* failure : group) {
    text += separator + ProseName(failure->replica);
    separator = ", ";
  }
  return text;
}

std::string Predicate(const ReplicaFailure& failure) {
  return run::texts::FailurePredicate(
      {.status = failure.status, .signal = failure.signal, .out_of_memory = failure.out_of_memory});
}

// Replicas that failed in the same way, in the order of their first.
std::vector<std::vector<const ReplicaFailure*>> Grouped(
    const std::vector<ReplicaFailure>& failures) {
  std::vector<std::vector<const ReplicaFailure*>> groups;
  for (const ReplicaFailure& failure : failures) {
    auto group = groups.begin();
    while (group != groups.end() && Predicate(*group->front()) != Predicate(failure)) ++group;
    if (group == groups.end()) group = groups.emplace(group);
    group->push_back(&failure);
  }
  return groups;
}

// The first traceback of a group stands for all: they say the same, nearly always.
std::string_view TracebackOf(const std::vector<const ReplicaFailure*>& group) {
  for (const ReplicaFailure* failure : group) {
    if (!failure->traceback.empty()) return failure->traceback;
  }
  return {};
}

// One group's sentence and what follows it, ready for the next sentence.
std::string GroupText(const std::vector<const ReplicaFailure*>& group) {
  const ReplicaFailure& first = *group.front();
  const std::string sentence = Subject(group) + Predicate(first);
  const std::string_view traceback = TracebackOf(group);
  if (!traceback.empty()) {
    std::string reduced = run::ReduceTraceback(traceback);
    while (!reduced.empty() && reduced.back() == '\n') reduced.pop_back();
    return sentence + ". \n" + reduced + "\n\n";
  }
  if (first.out_of_memory) return sentence + ". ";
  return sentence + ". Termination reason: Error. ";
}

}  // namespace

std::string ValidatingJob() { return "Validating job requirements..."; }
std::string JobValidated() { return "Job creation request has been successfully validated."; }
std::string JobQueued(std::string_view job_id) { return Text({"Job ", job_id, " is queued."}); }
std::string WaitingForProvisioning() { return "Waiting for job to be provisioned."; }
std::string WaitingForProgram() { return "Waiting for training program to start."; }
std::string JobPreparing() { return "Job is preparing."; }
std::string JobRunning() { return "Job is running."; }
std::string TearingDown() { return "Tearing down training program."; }
std::string TornDown() { return "Finished tearing down training program."; }
std::string JobCompleted() { return "Job completed successfully."; }
std::string JobFailed() { return "Job failed."; }
std::string JobCancelled() { return "Job cancelled."; }

std::string RunningModule(std::string_view module) {
  return Text({"Running module ", module, "."});
}

std::string RunningCommand(std::string_view command) {
  return Text({"Running command: ", command});
}

std::string ModuleCompleted() { return "Module completed; cleaning up."; }
std::string CleanedUp() { return "Clean up finished."; }
std::string TaskCompleted() { return "Task completed successfully."; }

std::string TerminatedByService() {
  return "Terminated by service. If the job is supposed to continue running, it will be restarted "
         "on other VM shortly.";
}

std::string ReplicasFailed(const std::vector<ReplicaFailure>& failures, std::string_view project,
                           std::string_view job_id) {
  assert(!failures.empty());
  std::string text;
  for (const auto& group : Grouped(failures)) text += GroupText(group);
  return text + LogsSentence(project, job_id);
}

std::string LogsSentence(std::string_view project, std::string_view job_id) {
  return Text(
      {"To find out more about why your job exited please check the logs: "
       "https://console.cloud.google.com/logs/viewer?project=",
       project, "&resource=ml_job%2Fjob_id%2F", job_id,
       "&advancedFilter=resource.type%3D%22ml_job%22%0Aresource.labels.job_id%3D%22", job_id,
       "%22"});
}

std::string OutOfStock(std::string_view region) {
  return Text({"Resources are insufficient in region: ", region,
               ". Try a different region or use a different accelerator."});
}

std::string WaitedTooLong(Duration max_wait_time) {
  return Text({"The job was cancelled because it waited longer than scheduling.maxWaitTime (",
               ProtoDuration(max_wait_time), ") to run."});
}

std::string RanTooLong(Duration max_running_time) {
  return Text({"The job was cancelled because it ran longer than scheduling.maxRunningTime (",
               ProtoDuration(max_running_time), ")."});
}

}  // namespace caip::ml::texts
