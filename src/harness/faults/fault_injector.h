#pragma once
// Writes the event list of a run, counts the events that faults wait for, and injects the faults
// that are due.
//
// Code that watches a replica reports what the replica does and waits until the faults that this
// caused have taken effect. So a replica never runs past the event at which its machine goes away.
// Decisions of the engine do not wait. Report() reports them, and their faults run on threads of
// the injector. Until these faults have taken effect, every replica waits at its next event and
// emulated time does not leap.

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "harness/events/event.h"
#include "harness/faults/fault.h"
#include "harness/faults/machine_lifetime.h"

namespace caip::harness {

/// The counts of a fault in a run.
struct FaultTally {
  std::string name;
  std::string what;                      // kind and trigger as text
  int64_t seen = 0;                      // events that its trigger counted
  std::vector<int64_t> injected_at;      // numbers of the fault's lines in the event list
  bool until_came = true;                // false if the fault has an `until` that has not come
  bool if_reached = false;               // it need not be injected
  std::vector<std::string> circle = {};  // of holds that wait for each other's replicas, from it on
};

struct FaultInjectorOptions {
  std::vector<Fault> faults;
  uint64_t seed = 1;
  std::optional<MachineLifetime> vm_lifetime;
  /// Set: machines age by so much with each step of the first replica of their job or trial, not
  /// with emulated time.
  std::optional<Duration> step_time = {};
};

/// The fault of an event at which the lifetime of a machine was over.
inline constexpr char kLifetimeOver[] = "vm_lifetime";

/// Any thread may call it.
class FaultInjector {
 public:
  /// `clock` must outlive the injector, which holds it while a fault is in flight for which no
  /// replica waits.
  FaultInjector(FaultInjectorOptions options, Clock& clock);
  ~FaultInjector();
  FaultInjector(const FaultInjector&) = delete;
  FaultInjector& operator=(const FaultInjector&) = delete;

  /// Call it before the first event.
  void Attach(RunControl& run) { run_ = &run; }

  /// Reports an action of the replica. Waits until its boot is up and the job is RUNNING, appends
  /// the event (at Phase::kAfter only), and returns when all faults at this event are injected.
  FaultResponse ReportAndWait(Event event, Phase phase);
  /// Reports an event without waiting for its faults. Lines of a replica are appended once its boot
  /// is up. Returns the answer of faults that only give one, such as a lost line.
  FaultResponse Report(Event event);
  /// Blocks a thread of the replica until the faults at its lines are injected. False if its boot
  /// is over.
  bool WaitForLineFaults(const std::string& replica, int boot);
  /// The processes of that boot are dead; its end will be reported.
  void ReportProcessesDead(const std::string& replica, int boot);
  /// The next byte after `write.bytes`, within `count`, at which a fault is due.
  std::optional<uint64_t> NextCut(const StorageEvent& write, uint64_t count) const;
  /// How many events of the list are acts (IsAct).
  size_t CountActs() const;
  /// True while a fault leaves no space on the replica's disk. It begins and ends exactly at the
  /// events of the fault's triggers.
  bool IsDiskFull(const std::string& replica) const;
  /// The same of the job's volumes.
  bool AreVolumesFull() const;
  /// Reports the end of a replica's processes, before the engine learns of it. If they ended with
  /// an error while a fault that replaces failed replicas left no space for their files, their
  /// machine is replaced: as if a person had made space and started them again.
  void ReportEnd(Event end);
  /// True while a fault keeps the replica down. Then `start` is called when that fault is over.
  bool DelayStart(const std::string& replica, std::function<void()> start);

  /// The next emulated time at which a fault is due. The engine's clock calls AdvanceTo() at it.
  Instant NextTime() const;
  void SetSubmitted(Instant instant);
  void AdvanceTo(Instant now);

  /// Afterwards no fault is injected and no thread waits.
  void End();
  /// After End(), waits until nothing that was begun before uses the RunControl or the clock.
  void Drain();
  bool ended() const;

  std::vector<Event> events() const;
  /// The events after the first `known`.
  std::vector<Event> Since(size_t known) const;
  std::vector<FaultTally> tallies() const;
  /// Waits until one of the events after the first `known` is a change of the job's state, the
  /// injector ended, or the time is over. Returns the number of events. Replicas make thousands of
  /// other events in a second, and each would wake the waiting thread.
  size_t WaitForState(size_t known, Duration at_most) const;
  /// Called for each line as it is appended, in order, under the injector's lock.
  void Watch(std::function<void(const Event&)> watcher) { watcher_ = std::move(watcher); }

 private:
  class Context;
  class Busy;
  /// A fault with its counts, and the callbacks for its end.
  struct ScheduledFault {
    ScheduledFault(Fault f, Random random);
    Fault fault;
    TriggerCount when;
    std::optional<TriggerCount> until;
    FaultTally tally;
    bool over = false;   // its `until` has come, possibly before the fault was injected
    bool armed = false;  // injected, and not over
    bool fills_disk = false;
    bool fills_volumes = false;
    Random seeds;                   // for the fault's own draws
    std::vector<size_t> followers;  // faults that are injected as soon as this one has been
    std::vector<std::function<void()>> when_over;
  };

  bool ReplacesFailed(const std::string& replica) const;
  bool MayProceed(const std::string& replica, int boot) const;
  bool IsOver(const std::string& replica, int boot) const;
  bool IsHeldBack(const Event& line) const;
  void Append(Event event);
  void NoteBoot(const Event& event);
  void AppendHeldBackLines();
  /// The faults that an event begins, and what ends others.
  struct Due {
    std::vector<size_t> faults;
    std::vector<std::function<void()>> ends;
  };
  Due CountTriggers(const Event& event, Phase phase);
  bool CanMeet(const Fault& fault, const Event& event) const;
  Due LeaveToPrinter(const std::string& replica, Due due);
  void TakeOverFromDeadPrinter(const std::string& replica);
  void AppendFault(size_t index, const std::string& occasion);
  bool HasFaults() const { return !faults_.empty() || options_.vm_lifetime.has_value(); }
  FaultResponse Inject(const std::vector<size_t>& due);
  std::vector<size_t> TakeFollowers(size_t index);
  FaultResponse AnswerInline(std::vector<size_t>& due);
  void BeginInFlight();
  void InjectOnOwnThread(std::vector<size_t> due);
  void EndInFlight(std::vector<std::function<void()>> ends);
  void RunInFlight(const std::function<void()>& work);
  Instant MachineTime(const std::string& replica) const;
  void CountStep(const std::string& replica);
  void NoteMachine(const std::string& replica, int boot);
  std::vector<std::string> TakeExpired(std::optional<Instant> now);
  std::vector<std::function<void()>> LossesAtStep(const Event& event, const Due& due);
  void LoseExpiredMachines(Instant now);
  void Enqueue(std::function<void()> work);
  void EndAfter(Duration time, std::function<void()> then);
  void EnqueueDueEnds();
  bool WaitForWork(std::unique_lock<std::mutex>& lock);
  void RunQueue();

  const FaultInjectorOptions options_;
  Clock& clock_;
  RunControl* run_ = nullptr;
  std::function<void(const Event&)> watcher_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::condition_variable state_changed_;  // or the injector ended
  std::vector<std::unique_ptr<ScheduledFault>> faults_;
  std::vector<Event> list_;
  size_t acts_ = 0;                    // in the list
  size_t last_state_ = 0;              // number of the last change of the job's state; 0: none
  std::map<std::string, int> live_;    // replica -> the boot that is up; 0: none
  std::map<std::string, int> booted_;  // replica -> the boot that was launched last
  std::map<std::string, int> over_;    // replica -> the boot that ended last
  std::map<std::string, int> dead_;    // replica -> the boot whose processes died last
  /// A line of a replica that is not up yet, and the faults at it.
  struct HeldBackLine {
    Event line;
    std::vector<size_t> met;  // met by the line, appended with it
    std::vector<size_t> due;  // those of `met` that are not injected yet
  };
  std::map<std::string, std::vector<HeldBackLine>> held_back_;
  std::map<std::string, Due> due_by_lines_;
  bool running_ = false;  // whether the job is RUNNING
  bool ended_ = false;
  int in_flight_ = 0;  // faults for which no replica waits
  int busy_ = 0;       // threads that inject faults or end them
  Instant submitted_ = kNever;
  /// The machine of a boot, and the end of its lifetime.
  struct Lifetime {
    Instant end;
    std::string replica;
    int boot;
  };
  std::vector<Lifetime> lifetimes_;
  std::set<std::string> failed_programs_;   // replicas whose next start is on the same machine,
  std::set<std::string> lost_machines_;     // unless a fault or its age has taken it away
  std::set<std::string> new_machines_;      // replicas whose start has a machine without a lifetime
  std::map<std::string, int64_t> trained_;  // reports of first replicas, by the names of trials
  std::deque<std::function<void()>> work_;
  std::multimap<MonotonicTime, std::function<void()>> timed_ends_;  // of faults, by deadline
  std::vector<std::thread> threads_;
  bool stopping_ = false;
  bool lock_step_ = false;  // the replica that printed a line waits for its faults
};

}  // namespace caip::harness
