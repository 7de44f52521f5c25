#include "run/lifecycle.h"

#include <cassert>

namespace caip::run {
namespace {

struct StateName {
  JobState state;
  std::string_view name;
};

constexpr StateName kStateNames[] = {
    {JobState::kUnspecified, "STATE_UNSPECIFIED"}, {JobState::kQueued, "QUEUED"},
    {JobState::kPreparing, "PREPARING"},           {JobState::kRunning, "RUNNING"},
    {JobState::kSucceeded, "SUCCEEDED"},           {JobState::kFailed, "FAILED"},
    {JobState::kCancelling, "CANCELLING"},         {JobState::kCancelled, "CANCELLED"},
};

}  // namespace

std::string_view Name(JobState state) {
  for (const StateName& entry : kStateNames) {
    if (entry.state == state) return entry.name;
  }
  assert(false && "a state without a name");
  return "STATE_UNSPECIFIED";
}

std::optional<JobState> JobStateNamed(std::string_view name) {
  for (const StateName& entry : kStateNames) {
    if (entry.name == name) return entry.state;
  }
  return std::nullopt;
}

std::string_view Name(JobEvent event) {
  switch (event) {
    case JobEvent::kScheduled:
      return "scheduled";
    case JobEvent::kReplicasUp:
      return "replicas up";
    case JobEvent::kRetried:
      return "retried";
    case JobEvent::kCancelAsked:
      return "cancel asked";
    case JobEvent::kSucceeded:
      return "succeeded";
    case JobEvent::kGaveUp:
      return "gave up";
    case JobEvent::kAllStopped:
      return "all stopped";
  }
  return "";
}

std::string_view Name(EndCause cause) {
  constexpr std::string_view kNames[] = {"",
                                         "REPLICA_FAILED",
                                         "OUT_OF_MEMORY",
                                         "MACHINE_LOST",
                                         "SERVICE_ERROR",
                                         "OUT_OF_STOCK",
                                         "REFUSED",
                                         "WAITED_TOO_LONG",
                                         "RAN_TOO_LONG",
                                         "CANCELLED",
                                         "TRIALS_FAILED"};
  return kNames[static_cast<int>(cause)];
}

EndCause EndCauseNamed(std::string_view name) {
  for (const EndCause cause : kEndCauses) {
    if (Name(cause) == name) return cause;
  }
  return EndCause::kNone;
}

}  // namespace caip::run
