#include "spec/job.h"

#include <cassert>

namespace caip::spec {
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

const RoleInput& TrainingInput::Of(Role role) const {
  switch (role) {
    case Role::kMaster:
      return master;
    case Role::kWorker:
      return worker;
    case Role::kParameterServer:
      return parameter_server;
    case Role::kEvaluator:
      return evaluator;
  }
  assert(false && "a role without an input");
  return master;
}

}  // namespace caip::spec
