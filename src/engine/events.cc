#include "engine/events.h"

namespace caip::engine {
namespace {

std::string Of(const ReplicaKey& key) {
  return run::Name(key.replica) + " boot " + std::to_string(key.boot);
}

std::string_view NameOf(TimerKind kind) {
  switch (kind) {
    case TimerKind::kQueueOver:
      return "queue over";
    case TimerKind::kMaxWait:
      return "max wait";
    case TimerKind::kMaxRunning:
      return "max running";
    case TimerKind::kProvisioned:
      return "provisioned";
    case TimerKind::kGraceOver:
      return "grace over";
    case TimerKind::kReplaced:
      return "replaced";
    case TimerKind::kFailing:
      return "failing";
    case TimerKind::kSaveAgain:
      return "save again";
  }
  return "";
}

std::string_view NameOf(VmLoss kind) {
  switch (kind) {
    case VmLoss::kKill:
      return "kill";
    case VmLoss::kCrash:
      return "crash";
    case VmLoss::kMaintenance:
      return "maintenance";
  }
  return "";
}

std::string Of(TimerKind kind, const run::ReplicaId& replica) {
  const std::string name(NameOf(kind));
  return replica.role.empty() ? name : name + " " + run::Name(replica);
}

struct EventWriter {
  std::string operator()(const Submitted&) const { return "submitted"; }
  std::string operator()(const Recovered&) const { return "recovered"; }
  std::string operator()(const Granted&) const { return "granted"; }
  std::string operator()(const Refused& e) const { return "refused: " + e.reason; }
  std::string operator()(const Prepared& e) const {
    return "prepared attempt " + std::to_string(e.attempt) + (e.failure ? ", failed" : "");
  }
  std::string operator()(const ReplicaStarted& e) const { return "started " + Of(e.key); }
  std::string operator()(const ReplicaExit& e) const {
    return "exit " + Of(e.key) + " code " + std::to_string(e.exit_code) + " signal " +
           std::to_string(e.signal);
  }
  std::string operator()(const VmLost& e) const {
    return "vm lost " + run::Name(e.replica) + " by " + std::string(NameOf(e.kind));
  }
  std::string operator()(const CancelAsked& e) const { return "cancel asked: " + e.reason; }
  std::string operator()(const Reported& e) const {
    return "trial " + e.trial + " reported " + std::to_string(e.reports.size());
  }
  std::string operator()(const TrialMoved& e) const {
    return "trial " + e.trial + " is " + std::string(run::Name(e.job.state));
  }
  std::string operator()(const ValuesChosen& e) const {
    return (e.values ? "values chosen for trial " : "no values left for trial ") + e.trial;
  }
  std::string operator()(const StopAsked&) const { return "stop asked"; }
  std::string operator()(const DocumentReplaced&) const { return "document replaced"; }
  std::string operator()(const TimerFired& e) const {
    return "timer " + Of(e.kind, e.replica) + " stamp " + std::to_string(e.stamp);
  }
};

struct EffectWriter {
  std::string operator()(const SaveJob& e) const {
    return "save " + std::string(run::Name(e.record.job.state));
  }
  std::string operator()(const WriteLog& e) const {
    return "log " + e.line.task + ": " + e.line.message;
  }
  std::string operator()(const FlushLog&) const { return "flush log"; }
  std::string operator()(const Enqueue& e) const {
    return std::string("enqueue") + (e.resumed ? " resumed" : "");
  }
  std::string operator()(const BecomeReady&) const { return "become ready"; }
  std::string operator()(const LeaveQueue&) const { return "leave queue"; }
  std::string operator()(const PreparePackages& e) const {
    return "prepare packages attempt " + std::to_string(e.request.attempt);
  }
  std::string operator()(const AbandonPackages&) const { return "abandon packages"; }
  std::string operator()(const LaunchReplica& e) const {
    return "launch " + Of(e.launch.key) + (e.launch.fresh_disk ? " fresh disk" : " kept disk");
  }
  std::string operator()(const SignalReplica& e) const {
    return "signal " + std::to_string(e.signal) + " to " + Of(e.key);
  }
  std::string operator()(const KillReplica& e) const { return "kill " + Of(e.key); }
  std::string operator()(const StartTimer& e) const {
    return "start timer " + Of(e.fires.kind, e.fires.replica);
  }
  std::string operator()(const StopTimer& e) const { return "stop timer " + Of(e.kind, e.replica); }
  std::string operator()(const ChooseValues& e) const {
    return "choose values for trial " + e.trial;
  }
  std::string operator()(const BeginTrial& e) const {
    return "begin trial " + e.record.job.key.trial + (e.is_new ? "" : " again");
  }
  std::string operator()(const TellTrial& e) const {
    return (e.what.index() == 0 ? "cancel trial " : "stop trial ") + e.trial;
  }
  std::string operator()(const SaveReports& e) const {
    return "save " + std::to_string(e.reports.size()) + " reports of trial " + e.trial.trial;
  }
  std::string operator()(const ReturnResources&) const { return "return resources"; }
  std::string operator()(const Forget&) const { return "forget"; }
};

}  // namespace

std::string Describe(const Event& event) { return std::visit(EventWriter{}, event); }

std::string Describe(const Effect& effect) { return std::visit(EffectWriter{}, effect); }

}  // namespace caip::engine
