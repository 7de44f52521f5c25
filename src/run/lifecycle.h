#pragma once
// The states of a job as a table: the next state for each state and event (docs/service/api.md,
// section 8).

#include <array>
#include <optional>
#include <string_view>

namespace caip::run {

enum class JobState {
  kUnspecified,
  kQueued,
  kPreparing,
  kRunning,
  kSucceeded,
  kFailed,
  kCancelling,
  kCancelled,
};

/// "QUEUED", "STATE_UNSPECIFIED", ...
std::string_view Name(JobState state);
std::optional<JobState> JobStateNamed(std::string_view name);
constexpr bool IsTerminal(JobState state) {
  return state == JobState::kSucceeded || state == JobState::kFailed ||
         state == JobState::kCancelled;
}

/// What can happen to a job that may change its state.
enum class JobEvent {
  kScheduled,    // its delay is over and the machines and devices exist
  kReplicasUp,   // every replica of the cluster has started
  kRetried,      // a fault that is not permanent: the whole job starts again
  kCancelAsked,  // by the user, or because a limit is over
  kSucceeded,    // the lead ended with 0, and everything is stopped
  kGaveUp,       // a permanent fault or no retry left, and everything is stopped
  kAllStopped,   // after a cancel: no replica is left
};
inline constexpr JobEvent kJobEvents[] = {
    JobEvent::kScheduled, JobEvent::kReplicasUp, JobEvent::kRetried,   JobEvent::kCancelAsked,
    JobEvent::kSucceeded, JobEvent::kGaveUp,     JobEvent::kAllStopped};
inline constexpr JobState kJobStates[] = {
    JobState::kUnspecified, JobState::kQueued, JobState::kPreparing,  JobState::kRunning,
    JobState::kSucceeded,   JobState::kFailed, JobState::kCancelling, JobState::kCancelled};

struct Transition {
  JobState from;
  JobEvent on;
  JobState to;
};

inline constexpr std::array kTransitions = {
    Transition{JobState::kQueued, JobEvent::kScheduled, JobState::kPreparing},
    Transition{JobState::kQueued, JobEvent::kCancelAsked, JobState::kCancelling},
    Transition{JobState::kQueued, JobEvent::kGaveUp, JobState::kFailed},

    Transition{JobState::kPreparing, JobEvent::kReplicasUp, JobState::kRunning},
    Transition{JobState::kPreparing, JobEvent::kRetried, JobState::kPreparing},
    Transition{JobState::kPreparing, JobEvent::kCancelAsked, JobState::kCancelling},
    Transition{JobState::kPreparing, JobEvent::kGaveUp, JobState::kFailed},

    Transition{JobState::kRunning, JobEvent::kRetried, JobState::kPreparing},
    Transition{JobState::kRunning, JobEvent::kCancelAsked, JobState::kCancelling},
    Transition{JobState::kRunning, JobEvent::kSucceeded, JobState::kSucceeded},
    Transition{JobState::kRunning, JobEvent::kGaveUp, JobState::kFailed},

    // A job whose outcome was decided before the cancel took effect keeps that outcome.
    Transition{JobState::kCancelling, JobEvent::kSucceeded, JobState::kSucceeded},
    Transition{JobState::kCancelling, JobEvent::kGaveUp, JobState::kFailed},
    Transition{JobState::kCancelling, JobEvent::kAllStopped, JobState::kCancelled},
};

/// The state after `state` on `event`; nullopt where the event does not apply.
constexpr std::optional<JobState> Next(JobState state, JobEvent event) {
  for (const Transition& transition : kTransitions) {
    if (transition.from == state && transition.on == event) return transition.to;
  }
  return std::nullopt;
}

constexpr bool NoTransitionLeavesATerminalState() {
  for (const Transition& transition : kTransitions) {
    if (IsTerminal(transition.from)) return false;
  }
  return true;
}

constexpr bool NoPairAppearsTwice() {
  for (size_t i = 0; i < kTransitions.size(); ++i) {
    for (size_t k = i + 1; k < kTransitions.size(); ++k) {
      if (kTransitions[i].from == kTransitions[k].from && kTransitions[i].on == kTransitions[k].on)
        return false;
    }
  }
  return true;
}

constexpr bool EveryLiveStateCanBeCancelledAndCanFail() {
  for (JobState state : kJobStates) {
    if (state == JobState::kUnspecified || IsTerminal(state)) continue;
    if (!Next(state, JobEvent::kGaveUp)) return false;
    if (state != JobState::kCancelling && !Next(state, JobEvent::kCancelAsked)) return false;
  }
  return true;
}

static_assert(NoTransitionLeavesATerminalState());
static_assert(NoPairAppearsTwice());
static_assert(EveryLiveStateCanBeCancelledAndCanFail());

/// Why a job ended without success. An API may give its clients a code for it.
enum class EndCause {
  kNone,           // the job has not ended, or it succeeded
  kReplicaFailed,  // the program of a replica failed, could not start, or could not be installed
  kOutOfMemory,
  kMachineLost,   // no attempt was left
  kServiceError,  // no attempt was left
  kOutOfStock,
  kRefused,  // this host can never run it
  kWaitedTooLong,
  kRanTooLong,
  kCancelled,  // by a client
  kTrialsFailed,
};
inline constexpr EndCause kEndCauses[] = {
    EndCause::kNone,        EndCause::kReplicaFailed, EndCause::kOutOfMemory,
    EndCause::kMachineLost, EndCause::kServiceError,  EndCause::kOutOfStock,
    EndCause::kRefused,     EndCause::kWaitedTooLong, EndCause::kRanTooLong,
    EndCause::kCancelled,   EndCause::kTrialsFailed};
/// "REPLICA_FAILED", ...; "" for kNone. Stores keep these names.
std::string_view Name(EndCause cause);
/// kNone for another text: a store of an earlier version has no causes.
EndCause EndCauseNamed(std::string_view name);

/// "kReplicasUp" as "replicas up": for messages of ours and for tests.
std::string_view Name(JobEvent event);

}  // namespace caip::run
