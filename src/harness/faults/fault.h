#pragma once
// A fault of a scenario, and the table of fault kinds.
//
// A new kind is one class and one row in replica_faults.cc, program_faults.cc, network_faults.cc or
// service_faults.cc, its line in docs/scenarios.md, and a new scenarios/schema.json (`caip scenario
// schema`).

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/events.h"
#include "harness/faults/network_fault.h"
#include "harness/faults/power_loss.h"
#include "harness/faults/trigger.h"
#include "harness/scenario/file_cursor.h"

namespace caip::harness {

/// The operations of the emulator that faults use. Any thread except the engine's may call them.
/// All except Signal, Freeze, those of the network, and LoseVm with a notice return before they
/// take effect.
class RunControl {
 public:
  virtual ~RunControl() = default;
  /// Takes the replica's machine away. An error if none of its processes lives. After a notice
  /// (VmLoss::kMaintenance) its processes have SIGTERM.
  virtual Status LoseVm(const std::string& replica, engine::VmLoss kind) = 0;
  /// The same, and its files in volumes lose what was not synced before it starts again.
  virtual Status LosePower(const std::string& replica, PowerLoss lost) = 0;
  /// Ends the replica's program with this exit status, as if by an error of its own. An error if it
  /// was never started.
  virtual Status FailProgram(const std::string& replica, int status) = 0;
  /// Sends the signal to the replica's processes, and returns when they have it. Nothing else
  /// happens to its machine.
  virtual void Signal(const std::string& replica, int signal) = 0;
  /// Stops every process of the replica. Returns when they have stopped, or after some seconds.
  virtual void Freeze(const std::string& replica) = 0;
  /// Resumes the stopped processes.
  virtual void Thaw(const std::string& replica) = 0;
  /// The processes of the replica have ended, which the engine does not know yet: its machine is
  /// replaced, as after a loss. Does not block.
  virtual void ReplaceEnded(const std::string& replica) = 0;
  /// Cancels the job as a user does.
  virtual Status CancelJob() = 0;
  /// Steps the clock that the replica's processes see.
  virtual Status StepClock(const std::string& replica, Duration by) = 0;
  /// Begins a fault of the network. Returns when it is in effect, with a number for its end.
  virtual uint64_t BeginNetworkFault(const NetworkFault& fault) = 0;
  /// Returns when packets pass as before.
  virtual void EndNetworkFault(uint64_t number) = 0;
};

/// The answer to the operation at which a fault was injected. All but kGoOn and kGone are for
/// operations of storage, calls of the job API, installations and log lines only.
struct FaultResponse {
  enum class Kind {
    kGoOn,
    kGone,    // the calling replica is dead and gets no answer
    kRefuse,  // the answer is `status`, and the operation has no effect
    kBreak,   // the answer's body ends after `bytes`
    kStale,   // the result of the last equal listing
    kDrop,    // a log line that never arrives
    kTwice,   // a log line that arrives twice
  } kind = Kind::kGoOn;
  int status = 503;
  uint64_t bytes = 0;
  std::string message = {};  // of a refusal
};

struct Fault;
struct Limits;
struct Scenario;

/// The operations that a fault may use while it is injected.
class FaultContext {
 public:
  virtual ~FaultContext() = default;
  virtual RunControl& run() = 0;
  /// Blocks until the current boot of the replica has ended, or the run has.
  virtual void WaitForEndOfBoot(const std::string& replica) = 0;
  /// Blocks until the fault's `until` has come, or the run has ended.
  virtual void WaitForUntil() = 0;
  /// Calls `then` once the fault's `until` has come or the run has ended. Does not block. The
  /// replica whose event is the `until` waits for `then`.
  virtual void WhenUntilComes(std::function<void()> then) = 0;
  /// Calls `then` after `time` of the wall clock, or when the run ends. Does not block.
  virtual void After(Duration time, std::function<void()> then) = 0;
  /// Blocks for this time, at most until the run ends.
  virtual void Pause(Duration time) = 0;
  /// A seed for the fault's own draws, another one each time.
  virtual uint64_t NextSeed() = 0;
};

/// The action of one fault, with the parameters of its kind. Immutable; any thread.
class FaultAction {
 public:
  virtual ~FaultAction() = default;
  virtual FaultResponse Inject(const Fault& fault, FaultContext& context) const = 0;
  /// True if the fault only changes the answer of the operation that it meets. Such a fault needs a
  /// caller that gets the answer.
  virtual bool only_answers() const { return false; }
  /// True if the replica starts on another machine afterwards.
  virtual bool takes_machine() const { return false; }
  /// True if a replica that ends with an error while the fault leaves no space gets a new machine,
  /// so that its job does not fail.
  virtual bool replaces_failed() const { return false; }
};
using FaultActionPtr = std::shared_ptr<const FaultAction>;

/// The events at which a kind of fault can be injected.
enum class FaultOccasion {
  kAny,               // every event but the calls and installations below
  kStorageOperation,  // before, after, mid
  kInstallation,      // prepare
  kApiCall,           // api
  kLogLine,           // log
};

/// The state of the replica between the fault and its `until`.
enum class WhileUntil {
  kNothingSpecial,  // the kind takes no `until`
  kDown,            // the replacement of its machine is not started
  kFrozen,
  kThreadWaits,     // the thread that met the fault waits; other threads may continue
  kDiskIsFull,      // its disk has no space left, also without an `until`, until it gets a new one
  kVolumesAreFull,  // the job's, also without an `until`, until one of its replicas ends
  kNetworkIsFaulty,
};

/// An ability of the host that a kind of fault depends on.
enum class HostAbility { kFakeClock, kWatchedDisk, kOwnNetwork };

struct FaultKind {
  std::string name;                          // its key in a scenario
  std::string summary;                       // one line for documentation and the schema
  std::vector<std::string> parameters = {};  // keys below it; `replica` and `until` may be in it
  std::vector<std::string> required = {};    // parameters that must be given
  FaultOccasion occasion = FaultOccasion::kAny;
  WhileUntil while_until = WhileUntil::kNothingSpecial;
  std::optional<HostAbility> needs = {};
  /// Reads the parameters of this kind and reports mistakes on the cursor.
  FaultActionPtr (*read)(const Cursor& parameters) = nullptr;
  /// Reports contradictions between the parameters and the trigger on `element`, the fault in the
  /// file. May be null.
  void (*check)(const Fault& fault, const Cursor& element, const Scenario& scenario) = nullptr;
};

/// The kind after which files lose what was not synced.
inline constexpr char kPowerLossName[] = "power_loss";

/// How long a program that a fault made fail runs again. On the service, a job has failed about two
/// minutes after its program (docs/service/vertex.md, section 4).
inline constexpr Duration kFailingRestart = std::chrono::minutes(2);

/// One fault of a scenario.
struct Fault {
  std::string name;                 // unique in its scenario: "kill 1"
  const FaultKind* kind = nullptr;  // null only if the file names no kind
  std::string replica = {};         // "worker-0"; "" for the job's own faults
  std::string peer = {};            // of a fault of the network: a replica, or kStoragePeer
  Trigger when = {};
  std::optional<Trigger> until = {};  // ends the fault
  FaultActionPtr action = {};
  bool if_reached = false;  // the scenario does not fail if the trigger never occurs
};

/// Whether the fault makes a program end with an error of its own.
bool MakesProgramFail(const Fault& fault);
/// How long the program runs again after such a fault, if the API restarts it: as the fault says,
/// or kFailingRestart, but not so long that the limits end the run.
Duration RunsAgain(const Fault& fault, const Limits& limits);

/// All kinds, in the order of the documentation.
const std::vector<FaultKind>& FaultKinds();
/// Null if no kind has this name.
const FaultKind* FindFaultKind(std::string_view name);

/// The kind for reports, with the peer: "network_cut (ps-0)".
std::string KindWithPeer(const Fault& fault);

/// Whether the fault only answers the thread that reported the event. It is injected on that
/// thread.
bool IsAnsweredInline(const FaultKind& kind);

// Faults that code constructs. `name` is the fault's name in reports.
Fault KillFault(std::string name, std::string replica, Trigger when);
Fault CrashFault(std::string name, std::string replica, Trigger when);
Fault PowerLossFault(std::string name, std::string replica, Trigger when, PowerLoss lost);
Fault MaintenanceFault(std::string name, std::string replica, Trigger when);
/// The program runs again for the default time, if the API restarts it.
Fault FailFault(std::string name, std::string replica, Trigger when);
Fault SignalFault(std::string name, std::string replica, Trigger when, int signal);
/// Ends after `lasts`, or by its `until`, which the caller sets.
Fault HangFault(std::string name, std::string replica, Trigger when,
                std::optional<Duration> lasts = {});
/// The caller sets `until`.
Fault HoldFault(std::string name, std::string replica, Trigger when);
/// `replace`: a replica that ends with an error meanwhile gets a new machine.
Fault DiskFullFault(std::string name, std::string replica, Trigger when, bool replace = false);
Fault VolumeFullFault(std::string name, std::string replica, Trigger when);
/// Ends after `lasts`, or by its `until`, or with the run.
Fault NetworkCutFault(std::string name, std::string replica, std::string peer, Trigger when,
                      std::optional<Duration> lasts = {});
/// `how` says what happens to the packets; its names and its seed do not count.
Fault DisturbNetworkFault(const NetworkFault& how, std::string name, std::string replica,
                          std::string peer, Trigger when, std::optional<Duration> lasts = {});
Fault CancelFault(std::string name, Trigger when);
Fault RefuseStorageFault(std::string name, std::string replica, Trigger when, int status = 503);
Fault DelayStorageFault(std::string name, std::string replica, Trigger when, Duration latency);

// The rows of the table, by family.
std::vector<FaultKind> MachineFaultKinds();
std::vector<FaultKind> ProgramFaultKinds();
std::vector<FaultKind> NetworkFaultKinds();
std::vector<FaultKind> ServiceFaultKinds();
std::vector<FaultKind> LogAndClockFaultKinds();

/// A fault of that kind, which must exist.
Fault MakeFault(const char* kind, std::string name, std::string replica, Trigger when,
                FaultActionPtr action);

}  // namespace caip::harness
