#pragma once
// The events that a run receives and the effects that it requests.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/ports.h"
#include "tuning/optimizer.h"

namespace caip::engine {

/// What a timer of a run is for. `stamp` of a timer says which attempt or boot it belongs to.
enum class TimerKind {
  kQueueOver,    // the queue delay has passed
  kMaxWait,      // the run's limit of waiting
  kMaxRunning,   // the run's limit of running
  kProvisioned,  // the machines of this attempt exist
  kGraceOver,    // the time between SIGTERM and SIGKILL has passed
  kReplaced,     // a replica's new machine exists
  kFailing,      // a replica that failed has run again long enough
  kSaveAgain,    // the store refused a record; the engine's own
};

/// How a replica's machine is taken away.
enum class VmLoss {
  kKill,         // gone without warning; the next one has a new disk
  kCrash,        // the replica dies of a signal, its machine stays: the disk is kept
  kMaintenance,  // SIGTERM, grace, SIGKILL; the next machine has a new disk
};

// ---- events --------------------------------------------------------------------------------

/// The job was accepted and is in the store.
struct Submitted {};
/// The emulator restarted and found this run unfinished. None of its processes is alive.
struct Recovered {};
/// The run left the queue: devices and addresses are lent to it.
struct Granted {
  std::vector<std::string> addresses;  // in the order of the plan
  std::vector<std::pair<run::ReplicaId, LentDevices>> devices;
  std::vector<std::string> warnings;
};
/// The run left the queue, but this host can never give it the devices or addresses it needs.
struct Refused {
  std::string reason;
};
struct ReplicaStarted {
  ReplicaKey key;
};
struct VmLost {
  run::ReplicaId replica;
  VmLoss kind = VmLoss::kKill;
};
struct CancelAsked {
  std::string reason;  // for the job's error message
  run::EndCause cause = run::EndCause::kCancelled;
};
/// Sent to a tuning job: the reports of one of its trials.
struct Reported {
  std::string trial;
  std::vector<Report> reports;
};
/// Sent to a tuning job: the new state of one of its trials, which is saved.
struct TrialMoved {
  std::string trial;
  run::Job job;
  bool launched = false;  // a replica of it was started, or was to be
  bool stopped_early = false;
};
/// Sent to a tuning job: the values of its next trial; nullopt if none are left.
struct ValuesChosen {
  std::string trial;
  std::optional<tuning::Point> values;
};
/// Asks a trial to stop early: its result would not be the best.
struct StopAsked {};
/// A client has changed what the API keeps of the job.
struct DocumentReplaced {
  run::Document document;
};
struct TimerFired {
  TimerKind kind;
  run::ReplicaId replica;  // none of a timer of the whole run
  int stamp = 0;
  bool operator==(const TimerFired&) const = default;
};
using Event = std::variant<Submitted, Recovered, Granted, Refused, Prepared, ReplicaStarted,
                           ReplicaExit, VmLost, CancelAsked, Reported, TrialMoved, ValuesChosen,
                           StopAsked, DocumentReplaced, TimerFired>;

// ---- effects -------------------------------------------------------------------------------

/// No later effect may happen before the record is durable.
struct SaveJob {
  JobRecord record;
};
struct WriteLog {
  LogLine line;
};
/// No later effect happens before all lines so far, also of replicas, are durable and visible to
/// readers.
struct FlushLog {};
/// Into the queue; `resumed` runs had their turn before the emulator went down.
struct Enqueue {
  int priority = 0;
  bool resumed = false;
};
/// Its delay is over; it may be granted from now on.
struct BecomeReady {};
struct LeaveQueue {};
struct PreparePackages {
  PrepareRequest request;
  std::vector<std::string> addresses = {};  // of the replicas that start afterwards
};
struct AbandonPackages {};
struct LaunchReplica {
  ReplicaLaunch launch;
};
struct SignalReplica {
  ReplicaKey key;
  int signal = 0;
};
struct KillReplica {
  ReplicaKey key;
};
/// One timer for each kind and replica: a second replaces the first.
struct StartTimer {
  TimerFired fires;
  Instant at;
};
struct StopTimer {
  TimerKind kind;
  run::ReplicaId replica;
};
/// Chooses the values of a trial from `known` only, so they do not depend on how long the choice
/// takes. A run has one choice at a time. ValuesChosen answers.
struct ChooseValues {
  std::string trial;
  std::shared_ptr<const tuning::Optimizer> known;
};
/// Starts a trial of this tuning job as a run of its own: a new trial, or one that was live when
/// the emulator was killed.
struct BeginTrial {
  TrialRecord record;
  Prepared prepared;  // the job's packages are installed once
  bool is_new = true;
};
/// Forwards an event to a trial, if it is live.
struct TellTrial {
  std::string trial;
  std::variant<CancelAsked, StopAsked> what;
};
/// Saves reports. Later effects wait until they are durable.
struct SaveReports {
  RunKey trial;
  std::vector<Report> reports;
};
/// Devices, addresses and disks are given back.
struct ReturnResources {};
/// The run is over; the engine may forget it.
struct Forget {};
using Effect =
    std::variant<SaveJob, WriteLog, FlushLog, Enqueue, BecomeReady, LeaveQueue, PreparePackages,
                 AbandonPackages, LaunchReplica, SignalReplica, KillReplica, StartTimer, StopTimer,
                 ChooseValues, BeginTrial, TellTrial, SaveReports, ReturnResources, Forget>;
using Effects = std::vector<Effect>;

/// One line that says what the event or effect is, for journals: "launch worker-replica-0 boot 2".
std::string Describe(const Event& event);
std::string Describe(const Effect& effect);

}  // namespace caip::engine
