#pragma once
// Writes the event list, counts, and makes faults strike where they are due.
//
// Whoever does something tells it here and is kept until what it caused is done, so that a replica
// never runs past the moment in which its machine is to be taken away. What nobody can be kept for
// (a decision of the engine) is told by Note(); the faults that it makes due strike on a thread of
// ours, and until they have, every replica waits at its next moment and time does not leap.

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

namespace caip::harness {

/// A fault as the run had it.
struct FaultTally {
  std::string name;
  std::string what;                // kind and occasion, in words
  int64_t seen = 0;                // moments that its trigger counted
  std::vector<int64_t> struck_at;  // numbers of its lines in the event list
  bool until_came = true;          // of those with `until`
};

struct DirectorOptions {
  std::vector<Fault> faults;
  uint64_t seed = 1;
  std::optional<Duration> vm_lifetime;  // mean of each machine's, emulated; an exponential law
};

/// Any thread.
class Director {
 public:
  /// `clock` outlives it; it is held while a fault is under way that nobody waits for.
  Director(DirectorOptions options, Clock& clock);
  ~Director();
  Director(const Director&) = delete;
  Director& operator=(const Director&) = delete;

  /// Before anything happens.
  void Torment(RunControl& world) { world_ = &world; }

  /// For the replica's own doings. Waits until its boot is known to be up and the job is RUNNING,
  /// enters the happening (of Phase::kAfter only), and returns when all faults it met have struck.
  FaultResponse Meet(Happening happening, Phase phase);
  /// For what cannot be kept waiting. Lines of a replica are entered no sooner than it is up.
  /// Answers what faults that need nobody to wait (a line that gets lost) have to say.
  FaultResponse Note(Happening happening);
  /// Keeps the caller, a thread of the replica, until the faults that its lines met have struck.
  /// False: its boot is over.
  bool Settle(const std::string& replica, int boot);
  /// The processes of that boot are dead; its exit will be told.
  void Gone(const std::string& replica, int boot);
  /// The byte of a file behind `moment.bytes`, within `count`, at which a fault is to strike.
  std::optional<uint64_t> NextCut(const Happening& moment, uint64_t count) const;
  /// A `down` replica is not started before its fault's `until`: true keeps it, and calls `start`
  /// later.
  bool KeepDown(const std::string& replica, std::function<void()> start);

  /// Emulated moments at which faults are due, and what the engine's clock calls at them.
  Instant NextAt() const;
  void SubmittedAt(Instant instant);
  void TimeIs(Instant now);

  /// Nothing strikes any more and nobody is kept.
  void End();
  bool ended() const;

  std::vector<Happening> happenings() const;
  /// Those behind the first `known`.
  std::vector<Happening> Since(size_t known) const;
  std::vector<FaultTally> tallies() const;
  /// Waits until the list is longer than `known`, the director ended, or the time is over.
  size_t WaitForMore(size_t known, Duration at_most) const;
  /// Called for each line as it is entered, in order, under our lock.
  void Watch(std::function<void(const Happening&)> watcher) { watcher_ = std::move(watcher); }

 private:
  class ScenePart;
  struct Plot;
  struct Due {
    size_t plot;
    Happening occasion;
  };

  bool MayGoOn(const Happening& happening) const;
  bool IsOver(const Happening& happening) const;
  void Enter(Happening happening);
  std::vector<size_t> CountAll(const Happening& happening, Phase phase);
  void EnterFault(size_t plot, const Happening& occasion);
  bool Disturbs() const { return !plots_.empty() || options_.vm_lifetime.has_value(); }
  FaultResponse Strike(const std::vector<size_t>& due);
  FaultResponse StrikeInline(std::vector<size_t>& due);
  void StrikeApart(std::vector<size_t> due);
  void EndApart(const std::function<void()>& work);
  void DrawLifetime(const std::string& replica, int boot);
  void EndMachines(Instant now);
  void Leave(std::function<void()> work);
  void Work();

  const DirectorOptions options_;
  Clock& clock_;
  RunControl* world_ = nullptr;
  std::function<void(const Happening&)> watcher_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<std::unique_ptr<Plot>> plots_;
  std::vector<Happening> list_;
  std::map<std::string, int> live_;    // replica -> the boot that is up, 0 none
  std::map<std::string, int> booted_;  // replica -> the boot that was launched last
  std::map<std::string, int> over_;    // replica -> the boot that ended last
  std::map<std::string, int> gone_;    // replica -> the boot whose processes died last
  /// A line of a replica that is not up yet, and the faults that it met: told, and to be struck.
  struct EarlyLine {
    Happening line;
    std::vector<size_t> met;
    std::vector<size_t> due;
  };
  std::map<std::string, std::vector<EarlyLine>> early_;
  std::map<std::string, std::vector<size_t>> unsettled_;
  bool running_ = false;  // the job's state
  bool ended_ = false;
  int under_way_ = 0;  // strikes that nobody waits for
  Instant submitted_ = kNever;
  /// A machine, and when its time is over.
  struct Lifetime {
    Instant end;
    std::string replica;
    int boot;
  };
  std::vector<Lifetime> lifetimes_;
  std::deque<std::function<void()>> work_;
  std::vector<std::thread> threads_;
  bool stopping_ = false;
  bool lock_step_ = false;  // lines are settled by the replica that printed them
};

}  // namespace caip::harness
