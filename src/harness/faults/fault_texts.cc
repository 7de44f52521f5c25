#include "harness/faults/fault_texts.h"

#include "base/text.h"
#include "harness/scenario/scenario_texts.h"

namespace caip::harness::texts {

std::string TwoEvents() {
  return "a trigger has one event. Put the second event into a separate fault.";
}

std::string EventMissing(const std::vector<std::string>& known) {
  return "an event is missing. Write one of " + Join(known, ", ") + ".";
}

std::string TwoOperations() {
  return "a trigger has one operation. Put the second operation into a separate fault.";
}

std::string OperationMissing(const std::vector<std::string>& known) {
  return "an operation is missing. Write one of " + Join(known, ", ") + ".";
}

std::string BytesMissing() {
  return "`bytes` is missing. Set it to the number of bytes after which the fault is injected.";
}

std::string UnknownState(std::string_view state, const std::vector<std::string>& known) {
  return "'" + std::string(state) + "' is not a state of a job; the states are " +
         Join(known, ", ");
}

std::string UnknownApiCall(std::string_view method, const std::vector<std::string>& known) {
  return "'" + std::string(method) + "' is not a call of the job API; the calls are " +
         Join(known, ", ") + Suggestion(method, known);
}

std::string OccurrenceNotValid() {
  return "must be a count from 1 (3), a range (2..5), `every`, or `every 3`";
}

std::string ProbabilityOutOfRange() { return "must be above 0 and at most 1"; }

std::string MeaninglessWithAt() {
  return "has no meaning with `at`, which happens once. Remove one of the two.";
}

std::string ReplicaNotValid(std::string_view name, bool or_any) {
  return "'" + std::string(name) +
         "' is not a valid replica. Write master-0, worker-1, ps-0 or evaluator-0, in a custom job "
         "workerpool0-0, and in a trial master-0/2." +
         (or_any ? " `any` stands for every replica." : "");
}

std::string TwoFaultKinds() {
  return "a fault has one kind. Put the second kind into a separate fault.";
}

std::string FaultKindMissing(const std::vector<std::string>& known) {
  return "a fault needs a kind. Write one of " + Join(known, ", ") + ".";
}

std::string ParameterMissing(std::string_view kind, std::string_view parameter) {
  return std::string(kind) + " needs `" + std::string(parameter) + "`";
}

std::string WhenMissing() {
  return "`when` is missing. Write it like `when: {before: {create: GLOB}}`.";
}

std::string EventDoesNotFit(std::string_view kind, std::string_view needed) {
  return std::string(kind) + " needs " + std::string(needed);
}

std::string NotAtThisEvent(std::string_view kind) {
  return std::string(kind) + " cannot be injected at this event";
}

std::string FaultNameNotPrintable() { return "must contain only printable characters"; }

std::string FaultNameTaken(std::string_view name) {
  return "another fault already has the name '" + std::string(name) + "'";
}

std::string FaultWithTwoEnds(std::string_view kind) {
  return "a " + std::string(kind) +
         " ends by `until` or by `for`, not by both. Remove one of the two.";
}

std::string HangWithoutEnd() { return "a hang must end. Write `until: TRIGGER` or `for: 2s`."; }

std::string UnknownSignal(std::string_view name, const std::vector<std::string>& known) {
  return "'" + std::string(name) + "' is not a signal that a fault can send; use one of " +
         Join(known, ", ") + ".";
}

std::string UnknownLoss(std::string_view lost) {
  return "'" + std::string(lost) +
         "' is not something that can be lost; use contents, older_contents, newest_contents or "
         "names.";
}

std::string PowerLossWithoutFiles() {
  return "the job keeps its state in objects, which a failure of the power does not change. Set "
         "`trainer: {volumes: [DIRECTORY]}` or `semantics: posix`, or use kill.";
}

std::string VolumeFullWithoutFiles() {
  return "the job keeps its state in objects, and has no volume that could be full. Set `trainer: "
         "{volumes: [DIRECTORY]}` or `semantics: posix`, or use disk_full for the replica's own "
         "disk.";
}

std::string PowerLossOfSeveral() {
  return "the job has several replicas, which share their volumes. Use power_loss in a job with "
         "one "
         "replica, or use kill.";
}

std::string TransientStatus(int status) {
  return "status " + std::to_string(status) +
         " of a Python package is that of a signal, after which the service tries the job again. "
         "Use "
         "`crash`, or another status.";
}

std::string RunsAgainOfTraining() {
  return "belongs to custom jobs. The service starts no program of a training job again after an "
         "error.";
}

std::string HoldWhereNoReplicaWaits(std::string_view trigger) {
  return "a hold needs an event at which a replica waits, and `" + std::string(trigger) +
         "` is not one. Write before, after, mid, log or step, or use hang instead.";
}

std::string ClockStepZero() { return "must not be 0. Write it like 1h or -30s."; }

std::string TwoStorageErrors() {
  return "an operation fails in one way. Put the second way into a separate fault.";
}

std::string BreakAfterWithoutRead() {
  return "break_after needs a read. Write `before: {read: GLOB}` or `after: {read: GLOB}`.";
}

std::string StaleListingWithoutList() {
  return "stale_listing needs a list. Write `before: {list: GLOB}`.";
}

std::string OnlyWithObjectSemantics() {
  return "needs `semantics: object`. In a directory, only calls can fail. Use `status` for that.";
}

std::string PeerNotValid(std::string_view name) {
  return "'" + std::string(name) +
         "' is not a valid peer. Write a replica (ps-0), or `storage` for Cloud Storage.";
}

std::string FractionOutOfRange() { return "must be above 0 and at most 1, as in 0.1"; }

std::string PacketDelayZero() { return "must not be 0. Write it like 50ms or 2s."; }

std::string NetworkFaultWithPorts() {
  return "faults of the network need replicas on machines of their own. With `addressing: ports` "
         "replicas are processes that share the network of this host. Remove `addressing`.";
}

std::string UntilIsTime() { return "`at` cannot end a fault. Name an event."; }

std::string UnknownFault(std::string_view name) {
  return "no fault is named '" + std::string(name) + "'";
}

std::string NeverHappens(std::string_view why) { return "can never happen: " + std::string(why); }

std::string FaultWaitsForItself() { return NeverHappens("the fault waits for itself"); }

std::string FaultsWaitForEachOther(const std::vector<std::string>& names) {
  return NeverHappens(Join(names, " and ") + " wait for each other");
}

std::string MidOfAnObject() {
  return NeverHappens(
      "an object appears as a whole. `mid` needs `semantics: posix`, or a file of the replica's "
      "disk (disk:PATH).");
}

std::string NotWatchedOnDisks(std::string_view operation) {
  return NeverHappens("caip does not watch `" + std::string(operation) +
                      "` on a replica's disk. Use create, overwrite, write, rename, truncate, "
                      "link, symlink, mkdir or delete.");
}

std::string RenameOfAnObject() {
  return NeverHappens(
      "an object store cannot rename. Use copy and delete, or set `semantics: posix`.");
}

std::string OnlyOfFiles(std::string_view operation) {
  return NeverHappens("an object store has no `" + std::string(operation) +
                      "`. Set `semantics: posix`, or name a file of a volume.");
}

std::string UntilNeverComes(std::string_view replica, bool is_down) {
  return NeverHappens(std::string(replica) + (is_down ? " is down" : " waits") +
                      " until then, and no other replica causes this event");
}

std::string UntilMayNeverCome(std::string_view replica) {
  return "may never happen: with `replica: any` in `when`, " + std::string(replica) +
         " itself may wait, and no other replica causes this event. Name the replica that waits.";
}

std::string StorageIsDirectory() {
  return NeverHappens(
      "storage is a directory with `semantics: posix`, and no network leads to it. Use "
      "storage_error.");
}

std::string OwnPeer(std::string_view replica) {
  return NeverHappens(std::string(replica) + " reaches itself without a network");
}

std::string PeerInOtherTrial() { return NeverHappens("replicas of two trials share no network"); }

std::string InstallationWithoutPackages() { return NeverHappens("the job has no packages"); }

}  // namespace caip::harness::texts
