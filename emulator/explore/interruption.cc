#include "emulator/explore/interruption.h"

#include <chrono>
#include <utility>

namespace caip::explore {
namespace {

constexpr int kUnavailable = 503;
constexpr std::chrono::seconds kCutLasts{3};

struct Words {
  const char* name;
  const char* phrase;      // before the crash point
  const char* suffix;      // of a task's name
  const char* fault;       // its key in a scenario
  const char* parameters;  // after the replica
};

const Words& WordsOf(Interruption what) {
  static const Words words[] = {
      {"machine_lost", "the machine goes away ", "", "kill", ""},
      {"process_killed", "the process dies and its disk stays, ", ", its disk is kept", "crash",
       ""},
      {"notice", "SIGTERM announces the loss of the machine ", ", with notice", "maintenance", ""},
      {"storage_error", "storage answers 503 ", ", storage answers 503", "storage_error",
       ", status: 503"},
      {"cut_off", "storage is out of reach for 3 seconds ", ", storage is out of reach",
       "network_cut", ", peer: storage, for: 3s"},
  };
  return words[static_cast<size_t>(what)];
}

}  // namespace

const char* Name(Interruption what) { return WordsOf(what).name; }

std::string Describe(Interruption what, const harness::CrashPoint& point) {
  return WordsOf(what).phrase + harness::Describe(point);
}

const char* SuffixOf(Interruption what) { return WordsOf(what).suffix; }

bool Restarts(Interruption what) {
  return what != Interruption::kStorageError && what != Interruption::kCutOff;
}

harness::Fault MakeInterruption(Interruption what, std::string name,
                                const harness::CrashPoint& point) {
  harness::Trigger when = harness::MakeTrigger(point);
  switch (what) {
    case Interruption::kMachineLost:
      return harness::KillFault(std::move(name), point.replica, std::move(when));
    case Interruption::kProcessKilled:
      return harness::CrashFault(std::move(name), point.replica, std::move(when));
    case Interruption::kNotice:
      return harness::MaintenanceFault(std::move(name), point.replica, std::move(when));
    case Interruption::kCutOff:
      return harness::NetworkCutFault(std::move(name), point.replica,
                                      std::string(harness::kStoragePeer), std::move(when),
                                      kCutLasts);
    case Interruption::kStorageError:
      break;
  }
  return harness::RefuseStorageFault(std::move(name), point.replica, std::move(when), kUnavailable);
}

std::string FaultLines(Interruption what, const harness::CrashPoint& point) {
  const Words& words = WordsOf(what);
  return std::string("  - ") + words.fault + ": {replica: " + point.replica + words.parameters +
         "}\n    if_reached: true\n    when: " + harness::WhenText(point) + "\n";
}

}  // namespace caip::explore
