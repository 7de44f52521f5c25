#include "harness/faults/fault_injector.h"

#include <algorithm>
#include <utility>

#include "harness/faults/hold_circle.h"

namespace caip::harness {
namespace {

// Faults that no replica waits for may wait for each other.
constexpr int kInjectorThreads = 3;

// A process that ends with its operation gets no answer.
bool CanInject(const Fault& fault, const Event& event) {
  const StorageEvent* storage = FindOperation(event);
  return !storage || !storage->is_unanswered || !fault.action->only_answers();
}

// Whatever its code: also one that a shell gives to a signal.
bool IsOwnError(const ExitEvent& exit) {
  return exit.signal == 0 && exit.exit_code != 0 && exit.lost.empty();
}

bool HasReached(const std::map<std::string, int>& boots, const std::string& replica, int boot) {
  const auto found = boots.find(replica);
  return found != boots.end() && found->second >= boot;
}

}  // namespace

FaultInjector::ScheduledFault::ScheduledFault(Fault f, Random random)
    : fault(std::move(f)),
      when(fault.when, fault.replica, random.Fork("when")),
      seeds(random.Fork("seeds")) {
  if (fault.until) until.emplace(*fault.until, "any", random.Fork("until"));
  tally.name = fault.name;
  tally.if_reached = fault.if_reached;
  tally.what = KindWithPeer(fault) + " " + Describe(fault.when);
}

FaultInjector::FaultInjector(FaultInjectorOptions options, Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  const Random random(options_.seed);
  for (const Fault& fault : options_.faults) {
    faults_.push_back(std::make_unique<ScheduledFault>(fault, random.Fork("fault " + fault.name)));
  }
  for (int i = 0; i < kInjectorThreads && HasFaults(); ++i) {
    threads_.emplace_back([this] { RunQueue(); });
  }
}

FaultInjector::~FaultInjector() {
  End();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Mutex held. A boot that is over may proceed, because it gets no answer anyway.
bool FaultInjector::MayProceed(const std::string& replica, int boot) const {
  if (ended_ || IsOver(replica, boot)) return true;
  const auto booted = booted_.find(replica);
  if (booted == booted_.end() || booted->second > boot) return true;
  const auto live = live_.find(replica);
  const bool up = live != live_.end() && live->second == boot;
  return up && running_ && in_flight_ == 0;
}

// Mutex held. The operations of a dead boot do not take effect.
bool FaultInjector::IsOver(const std::string& replica, int boot) const {
  return boot != 0 && (HasReached(over_, replica, boot) || HasReached(dead_, replica, boot));
}

/// A thread that injects faults or ends them. Made with the mutex held, destroyed without.
class FaultInjector::Busy {
 public:
  explicit Busy(FaultInjector& injector) : injector_(injector) { ++injector_.busy_; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() {
    {
      const std::lock_guard lock(injector_.mutex_);
      --injector_.busy_;
    }
    injector_.changed_.notify_all();
  }

 private:
  FaultInjector& injector_;
};

FaultResponse FaultInjector::ReportAndWait(Event event, Phase phase) {
  const FaultResponse gone{FaultResponse::Kind::kGone, 0, 0, {}};
  const std::string replica = event.replica;
  std::optional<Busy> busy;
  Due due;
  {
    std::unique_lock lock(mutex_);
    if (event.boot == 0 && !replica.empty()) event.boot = booted_[replica];
    changed_.wait(lock, [&] { return MayProceed(replica, event.boot); });
    if (ended_) return {};
    if (IsOver(replica, event.boot)) return gone;
    due = CountTriggers(event, phase);
    if (phase == Phase::kAfter) Append(event);
    for (const size_t index : due.faults) AppendFault(index, Describe(event));
    busy.emplace(*this);
  }
  changed_.notify_all();
  for (const auto& end : due.ends) end();
  const FaultResponse response = Inject(due.faults);
  const std::lock_guard lock(mutex_);
  return IsOver(replica, event.boot) ? gone : response;
}

FaultResponse FaultInjector::Report(Event event) {
  Due due;
  FaultResponse response;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return {};
    const bool is_line = FindPrintedLine(event) != nullptr;
    const std::string replica = event.replica;
    if (is_line && booted_.contains(replica)) {
      event.boot = booted_[replica];
      if (IsHeldBack(event)) {
        HeldBackLine held{std::move(event), {}, {}};
        due = CountTriggers(held.line, Phase::kAfter);
        EndInFlight(std::move(due.ends));
        held.met = held.due = std::move(due.faults);
        response = AnswerInline(held.due);
        held_back_[replica].push_back(std::move(held));
        return response;
      }
    }
    Append(event);
    due = CountTriggers(event, Phase::kAfter);
    for (auto& loss : LossesAtStep(event, due)) due.ends.push_back(std::move(loss));
    for (const size_t index : due.faults) AppendFault(index, Describe(event));
    response = AnswerInline(due.faults);
    if (is_line) due = LeaveToPrinter(replica, std::move(due));
    EndInFlight(std::move(due.ends));
    if (!due.faults.empty()) BeginInFlight();
  }
  changed_.notify_all();
  if (!due.faults.empty()) InjectOnOwnThread(due.faults);
  return response;
}

bool FaultInjector::WaitForLineFaults(const std::string& replica, int boot) {
  std::optional<Busy> busy;
  Due due;
  {
    std::unique_lock lock(mutex_);
    lock_step_ = true;
    changed_.wait(lock, [&] { return MayProceed(replica, boot); });
    if (ended_) return true;
    if (IsOver(replica, boot)) return false;  // what is due may be due to the next boot's lines
    busy.emplace(*this);
    due = std::exchange(due_by_lines_[replica], {});
  }
  for (const auto& end : due.ends) end();
  Inject(due.faults);
  const std::lock_guard lock(mutex_);
  return ended_ || !IsOver(replica, boot);  // another job may have a boot of the same number then
}

size_t FaultInjector::CountActs() const {
  const std::lock_guard lock(mutex_);
  return acts_;
}

bool FaultInjector::IsDiskFull(const std::string& replica) const {
  const std::lock_guard lock(mutex_);
  return !ended_ && std::ranges::any_of(faults_, [&](const auto& scheduled) {
    return scheduled->fills_disk && scheduled->fault.replica == replica;
  });
}

bool FaultInjector::AreVolumesFull() const {
  const std::lock_guard lock(mutex_);
  const auto fills = [](const auto& scheduled) { return scheduled->fills_volumes; };
  return !ended_ && std::ranges::any_of(faults_, fills);
}

// Mutex held. Whether the replica gets a new machine if it ends with an error now.
bool FaultInjector::ReplacesFailed(const std::string& replica) const {
  return std::ranges::any_of(faults_, [&](const auto& scheduled) {
    const bool is_full =
        scheduled->fills_volumes || (scheduled->fills_disk && scheduled->fault.replica == replica);
    return is_full && scheduled->fault.action->replaces_failed();
  });
}

void FaultInjector::ReportEnd(Event end) {
  std::optional<Busy> busy;
  {
    const std::lock_guard lock(mutex_);
    const auto* exit = end.As<ExitEvent>();
    const bool is_error = exit->exit_code != 0 || exit->signal != 0;
    if (!ended_ && is_error && ReplacesFailed(end.replica)) busy.emplace(*this);
  }
  if (busy) run_->ReplaceEnded(end.replica);
  Report(std::move(end));
}

void FaultInjector::ReportProcessesDead(const std::string& replica, int boot) {
  {
    const std::lock_guard lock(mutex_);
    dead_[replica] = boot;
  }
  changed_.notify_all();
}

std::optional<uint64_t> FaultInjector::NextCut(const StorageEvent& write, uint64_t count) const {
  const std::lock_guard lock(mutex_);
  std::optional<uint64_t> next;
  for (const auto& scheduled : faults_) {
    const auto* when = scheduled->fault.when.As<StorageTrigger>();
    if (!when || when->phase != Phase::kMid || !when->MatchesObject(write.object)) continue;
    const bool within = when->bytes > write.bytes && when->bytes < write.bytes + count;
    if (within && (!next || when->bytes < *next)) next = when->bytes;
  }
  return next;
}

// Mutex held. Updates the job's state and the boots of its replicas from the event.
void FaultInjector::NoteBoot(const Event& event) {
  if (const auto* entered = event.As<StateEvent>()) {  // a job that is being cancelled still runs
    if (entered->state == "RUNNING") running_ = true;
    if (entered->state == "QUEUED" || entered->state == "PREPARING") {
      running_ = false;
      failed_programs_.clear();  // all machines are new
      lost_machines_.clear();
    }
  }
  if (const auto* start = event.As<StartEvent>()) {
    booted_[event.replica] = event.boot;
    const bool has_failed = failed_programs_.erase(event.replica) > 0;
    const bool is_lost = lost_machines_.erase(event.replica) > 0;
    if (start->fresh_disk && (is_lost || !has_failed)) new_machines_.insert(event.replica);
    for (auto& scheduled : faults_) {
      if (start->fresh_disk && scheduled->fault.replica == event.replica)
        scheduled->fills_disk = false;
    }
  }
  if (event.Is<LiveEvent>()) {
    live_[event.replica] = event.boot;
    NoteMachine(event.replica, event.boot);
  }
  const auto* exit = event.As<ExitEvent>();
  if (!exit) return;
  if (IsOwnError(*exit)) failed_programs_.insert(event.replica);
  // The boot's last lines come before its end, even if no event reported that it was up.
  for (HeldBackLine& held : std::exchange(held_back_[event.replica], {})) {
    Append(std::move(held.line));
  }
  TakeOverFromDeadPrinter(event.replica);
  live_[event.replica] = 0;
  over_[event.replica] = event.boot;
  for (auto& scheduled : faults_) scheduled->fills_volumes = false;
}

// Mutex held.
void FaultInjector::Append(Event event) {
  event.time = clock_.Now();
  NoteBoot(event);
  if (event.Is<StepEvent>()) CountStep(event.replica);
  event.number = static_cast<int64_t>(list_.size()) + 1;
  acts_ += IsAct(event) ? 1 : 0;
  if (event.Is<StateEvent>()) {
    last_state_ = static_cast<size_t>(event.number);
    state_changed_.notify_all();
  }
  list_.push_back(std::move(event));
  if (watcher_) watcher_(list_.back());
  if (running_) AppendHeldBackLines();
}

// Mutex held. The caller ends the faults whose `until` is this event, and injects those that are
// due.
FaultInjector::Due FaultInjector::CountTriggers(const Event& event, Phase phase) {
  Due due;
  for (size_t i = 0; i < faults_.size(); ++i) {
    ScheduledFault& scheduled = *faults_[i];
    if (scheduled.until && scheduled.until->Meet(event, phase)) {
      scheduled.over = true;
      scheduled.armed = scheduled.fills_disk = scheduled.fills_volumes = false;
      scheduled.tally.until_came = true;
      for (auto& then : std::exchange(scheduled.when_over, {})) due.ends.push_back(std::move(then));
    }
    const bool is_met = CanMeet(scheduled.fault, event) && scheduled.when.Meet(event, phase);
    if (is_met && CanInject(scheduled.fault, event)) due.faults.push_back(i);
    scheduled.tally.seen = scheduled.when.seen();
  }
  return due;
}

void FaultInjector::End() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (auto& scheduled : faults_) {
      for (auto& then : std::exchange(scheduled->when_over, {})) work_.push_back(std::move(then));
    }
    for (auto& [replica, due] : due_by_lines_) {
      for (auto& end : std::exchange(due.ends, {})) work_.push_back(std::move(end));
    }
    for (auto& [deadline, end] : timed_ends_) work_.push_back(std::move(end));
    timed_ends_.clear();
  }
  changed_.notify_all();
  state_changed_.notify_all();
}

void FaultInjector::Drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] {
    return threads_.empty() || (busy_ == 0 && in_flight_ == 0 && work_.empty());
  });
}

bool FaultInjector::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::vector<Event> FaultInjector::events() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

std::vector<Event> FaultInjector::Since(size_t known) const {
  const std::lock_guard lock(mutex_);
  const auto begin = list_.begin() + static_cast<ptrdiff_t>(std::min(known, list_.size()));
  return {begin, list_.end()};
}

std::vector<FaultTally> FaultInjector::tallies() const {
  const std::lock_guard lock(mutex_);
  std::vector<FaultTally> tallies;
  std::vector<size_t> lasting;
  for (size_t i = 0; i < faults_.size(); ++i) {
    tallies.push_back(faults_[i]->tally);
    if (!faults_[i]->tally.until_came) lasting.push_back(i);
  }
  for (const size_t i : lasting) {
    tallies[i].circle = FindHoldCircle(options_.faults, lasting, i);
  }
  return tallies;
}

size_t FaultInjector::WaitForState(size_t known, Duration at_most) const {
  std::unique_lock lock(mutex_);
  state_changed_.wait_for(lock, at_most, [&] { return ended_ || last_state_ > known; });
  return list_.size();
}

}  // namespace caip::harness
