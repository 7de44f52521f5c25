#include "emulator/explore/interruption.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace caip::explore {
namespace {

using harness::NetworkFault;

constexpr int kUnavailable = 503;
constexpr double kFractionLost = 0.3;
constexpr std::chrono::milliseconds kDelay{300};

// "%" stands for the peer.
struct Words {
  const char* name;
  const char* phrase;      // before the crash point
  const char* suffix;      // of a task's name
  const char* fault;       // its key in a scenario
  const char* parameters;  // after the replica
};

const Words& WordsOf(const Interruption& what) {
  static const Words words[] = {
      {"machine_lost", "the machine goes away ", "", "kill", ""},
      {"process_killed", "the process dies and its disk stays, ", ", its disk is kept", "crash",
       ""},
      {"notice", "SIGTERM announces the loss of the machine ", ", with notice", "maintenance", ""},
      {"second_notice", "SIGTERM announces the loss of the machine, and comes twice, ",
       ", with two notices", "maintenance", ""},
      {"hang", "all its processes stop for 3 seconds ", ", its processes stop", "hang",
       ", for: 3s"},
      {"slow_storage", "storage answers 3 seconds late ", ", storage is late", "storage_error",
       ", latency: 3s"},
      {"storage_error", "storage answers 503 ", ", storage answers 503", "storage_error",
       ", status: 503"},
      {"full_volumes", "no space is left for files ", ", no space is left", "volume_full", ""},
      {"full_disk", "no space is left on its disk ", ", its disk is full", "disk_full",
       ", replace: true"},
      {"cut_off", "% is out of reach for 3 seconds ", ", % is out of reach", "network_cut",
       ", peer: %, for: 3s"},
      {"packets_dropped", "what it sends to % is lost for 3 seconds ", ", % hears nothing",
       "network_drop", ", peer: %, for: 3s"},
      {"packets_lost", "3 in 10 packets between it and % are lost for 3 seconds ",
       ", packets to and from % are lost", "network_loss", ", peer: %, fraction: 0.3, for: 3s"},
      {"packets_delayed", "packets between it and % take 300 ms longer for 3 seconds ",
       ", packets to and from % are late", "network_delay", ", peer: %, by: 300ms, for: 3s"},
      {"refused", "% refuses its connections for 3 seconds ", ", % refuses connections",
       "network_refused", ", peer: %, for: 3s"},
      {"power_loss", "the power fails and unsynced bytes are lost, ", ", unsynced bytes are lost",
       "power_loss", ", lost: contents"},
      {"power_loss", "the power fails and unsynced bytes of all but the last file are lost, ",
       ", unsynced bytes of all but the last file are lost", "power_loss",
       ", lost: older_contents"},
      {"power_loss", "the power fails and unsynced bytes of the last file are lost, ",
       ", unsynced bytes of the last file are lost", "power_loss", ", lost: newest_contents"},
      {"power_loss", "the power fails and unsynced names are lost, ", ", unsynced names are lost",
       "power_loss", ", lost: names"},
      {"program_fails", "the program fails and starts once more before its job fails, ",
       ", the program fails", "fail", ""},
  };
  return words[static_cast<size_t>(what.kind)];
}

std::string WithPeer(const char* text, const Interruption& what) {
  return ReplaceAll(text, "%", what.peer);
}

// nullopt for faults that do not concern the network.
std::optional<NetworkFault> NetworkFaultOf(const Interruption& what) {
  using Kind = NetworkFault::Kind;
  switch (what.kind) {
    case Interruption::kCutOff:
      return NetworkFault{.kind = Kind::kCut};
    case Interruption::kDropped:
      return NetworkFault{.kind = Kind::kDrop};
    case Interruption::kLossy:
      return NetworkFault{.kind = Kind::kLoss, .fraction = kFractionLost};
    case Interruption::kDelayed:
      return NetworkFault{.kind = Kind::kDelay, .by = kDelay};
    case Interruption::kRefused:
      return NetworkFault{.kind = Kind::kRefused};
    default:
      return std::nullopt;
  }
}

}  // namespace

const char* Name(const Interruption& what) { return WordsOf(what).name; }

std::string Describe(const Interruption& what, const harness::CrashPoint& point) {
  return WithPeer(WordsOf(what).phrase, what) + harness::Describe(point);
}

std::string SuffixOf(const Interruption& what) { return WithPeer(WordsOf(what).suffix, what); }

std::optional<harness::PowerLoss> PowerLossOf(const Interruption& what) {
  switch (what.kind) {
    case Interruption::kLosesContents:
      return harness::PowerLoss::kContents;
    case Interruption::kLosesOlderContents:
      return harness::PowerLoss::kOlderContents;
    case Interruption::kLosesNewestContents:
      return harness::PowerLoss::kNewestContents;
    case Interruption::kLosesNames:
      return harness::PowerLoss::kNames;
    default:
      return std::nullopt;
  }
}

Interruption FailureOfPower(harness::PowerLoss lost) {
  switch (lost) {
    case harness::PowerLoss::kContents:
      return Interruption::kLosesContents;
    case harness::PowerLoss::kOlderContents:
      return Interruption::kLosesOlderContents;
    case harness::PowerLoss::kNewestContents:
      return Interruption::kLosesNewestContents;
    default:
      return Interruption::kLosesNames;
  }
}

bool Restarts(const Interruption& what) {
  constexpr Interruption::Kind kGoesOn[] = {Interruption::kStorageError, Interruption::kHang,
                                            Interruption::kSlowStorage};
  return std::ranges::find(kGoesOn, what.kind) == std::end(kGoesOn) && !NetworkFaultOf(what);
}

bool MayDoMore(const Interruption& what) {
  constexpr Interruption::Kind kKinds[] = {Interruption::kNotice, Interruption::kSecondNotice,
                                           Interruption::kFullVolumes, Interruption::kFullDisk};
  return std::ranges::find(kKinds, what.kind) != std::end(kKinds);
}

namespace {

harness::Fault MakeFirstFault(const Interruption& what, std::string name,
                              const harness::CrashPoint& point) {
  harness::Trigger when = harness::MakeTrigger(point);
  if (const auto fault = NetworkFaultOf(what)) {
    return harness::DisturbNetworkFault(*fault, std::move(name), point.replica, what.peer,
                                        std::move(when), kNetworkFaultLasts);
  }
  if (const auto lost = PowerLossOf(what)) {
    return harness::PowerLossFault(std::move(name), point.replica, std::move(when), *lost);
  }
  switch (what.kind) {
    case Interruption::kMachineLost:
      return harness::KillFault(std::move(name), point.replica, std::move(when));
    case Interruption::kProcessKilled:
      return harness::CrashFault(std::move(name), point.replica, std::move(when));
    case Interruption::kNotice:
    case Interruption::kSecondNotice:
      return harness::MaintenanceFault(std::move(name), point.replica, std::move(when));
    case Interruption::kProgramFails:
      return harness::FailFault(std::move(name), point.replica, std::move(when));
    case Interruption::kHang:
      return harness::HangFault(std::move(name), point.replica, std::move(when), kHangLasts);
    case Interruption::kFullVolumes:
      return harness::VolumeFullFault(std::move(name), point.replica, std::move(when));
    case Interruption::kFullDisk:
      return harness::DiskFullFault(std::move(name), point.replica, std::move(when), true);
    case Interruption::kSlowStorage:
      return harness::DelayStorageFault(std::move(name), point.replica, std::move(when),
                                        kStorageIsLate);
    default:
      return harness::RefuseStorageFault(std::move(name), point.replica, std::move(when),
                                         kUnavailable);
  }
}

// The trainer may be saving then, because of the first notice. It need not write any more.
harness::Fault MakeSecondNotice(const std::string& first, const harness::CrashPoint& point) {
  harness::Trigger next_change;
  next_change.kind = harness::StorageTrigger{harness::Phase::kAfter, "change", "*"};
  next_change.since = first;
  auto fault = harness::SignalFault("second notice after " + first, point.replica,
                                    std::move(next_change), SIGTERM);
  fault.if_reached = true;
  return fault;
}

}  // namespace

std::vector<harness::Fault> MakeInterruption(const Interruption& what, std::string name,
                                             const harness::CrashPoint& point) {
  std::vector<harness::Fault> faults;
  if (what.kind == Interruption::kSecondNotice) faults.push_back(MakeSecondNotice(name, point));
  faults.push_back(MakeFirstFault(what, std::move(name), point));
  return faults;
}

std::string FaultLines(const Interruption& what, const std::string& name,
                       const harness::CrashPoint& point) {
  const Words& words = WordsOf(what);
  const bool is_twice = what.kind == Interruption::kSecondNotice;
  std::string lines = std::string("  - ") + (is_twice ? "name: " + name + "\n    " : "") +
                      words.fault + ": {replica: " + point.replica +
                      WithPeer(words.parameters, what) +
                      "}\n    if_reached: true\n    when: " + harness::WhenText(point) + "\n";
  if (!is_twice) return lines;
  return lines + "  - signal: {replica: " + point.replica +
         "}\n    if_reached: true\n    when: {after: {change: \"*\"}, since: " + name + "}\n";
}

}  // namespace caip::explore
