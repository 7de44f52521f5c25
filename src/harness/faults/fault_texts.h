#pragma once
// The texts about mistakes in the faults of a scenario: one maker for each mistake, named after it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace caip::harness::texts {

// A trigger.
std::string TwoEvents();
std::string EventMissing(const std::vector<std::string>& known);
std::string TwoOperations();
std::string OperationMissing(const std::vector<std::string>& known);
std::string BytesMissing();
std::string UnknownState(std::string_view state, const std::vector<std::string>& known);
std::string UnknownApiCall(std::string_view method, const std::vector<std::string>& known);
std::string OccurrenceNotValid();
std::string ProbabilityOutOfRange();
std::string MeaninglessWithAt();
std::string ReplicaNotValid(std::string_view name, bool or_any);

// A fault and its parameters.
std::string TwoFaultKinds();
std::string FaultKindMissing(const std::vector<std::string>& known);
std::string ParameterMissing(std::string_view kind, std::string_view parameter);
std::string WhenMissing();
std::string EventDoesNotFit(std::string_view kind, std::string_view needed);
std::string NotAtThisEvent(std::string_view kind);
std::string FaultNameNotPrintable();
std::string FaultNameTaken(std::string_view name);
std::string FaultWithTwoEnds(std::string_view kind);
std::string HangWithoutEnd();
std::string UnknownSignal(std::string_view name, const std::vector<std::string>& known);
std::string UnknownLoss(std::string_view lost);
std::string PowerLossWithoutFiles();
std::string PowerLossOfSeveral();
std::string VolumeFullWithoutFiles();
std::string TransientStatus(int status);
std::string RunsAgainOfTraining();
std::string HoldWhereNoReplicaWaits(std::string_view trigger);
std::string ClockStepZero();
std::string TwoStorageErrors();
std::string BreakAfterWithoutRead();
std::string StaleListingWithoutList();
std::string OnlyWithObjectSemantics();
std::string PeerNotValid(std::string_view name);
std::string FractionOutOfRange();
std::string PacketDelayZero();
std::string NetworkFaultWithPorts();

// Faults that wait for events.
std::string UntilIsTime();
std::string UnknownFault(std::string_view name);

// Faults that can never happen.
std::string NeverHappens(std::string_view why);
std::string FaultWaitsForItself();
std::string FaultsWaitForEachOther(const std::vector<std::string>& names);
std::string MidOfAnObject();
std::string NotWatchedOnDisks(std::string_view operation);
std::string RenameOfAnObject();
std::string OnlyOfFiles(std::string_view operation);
std::string UntilNeverComes(std::string_view replica, bool is_down);
std::string UntilMayNeverCome(std::string_view replica);
std::string InstallationWithoutPackages();
std::string StorageIsDirectory();
std::string OwnPeer(std::string_view replica);
std::string PeerInOtherTrial();

}  // namespace caip::harness::texts
