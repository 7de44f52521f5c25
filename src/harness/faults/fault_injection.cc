// The part of harness/faults/fault_injector.h that injects faults, at events and at times.

#include <algorithm>
#include <utility>

#include "harness/faults/fault_injector.h"
#include "harness/scenario/job_kind.h"

namespace caip::harness {
namespace {

// "/2" of "master-0/2"; "" outside trials.
std::string MachineTrialOf(const std::string& replica) {
  const size_t slash = replica.find('/');
  return slash == replica.npos ? "" : replica.substr(slash);
}

}  // namespace

/// The context of one fault of the injector.
class FaultInjector::Context final : public FaultContext {
 public:
  Context(FaultInjector& injector, size_t index) : injector_(injector), index_(index) {}

  RunControl& run() override { return *injector_.run_; }
  void WaitForEndOfBoot(const std::string& replica) override {
    std::unique_lock lock(injector_.mutex_);
    const int boot = injector_.booted_[replica];
    injector_.changed_.wait(lock, [&] {
      return injector_.ended_ || injector_.live_[replica] == 0 ||
             injector_.booted_[replica] != boot || injector_.dead_[replica] == boot;
    });
  }
  void WaitForUntil() override {
    std::unique_lock lock(injector_.mutex_);
    const ScheduledFault& scheduled = *injector_.faults_[index_];
    injector_.changed_.wait(lock, [&] { return injector_.ended_ || !scheduled.armed; });
  }
  void WhenUntilComes(std::function<void()> then) override {
    {
      const std::lock_guard lock(injector_.mutex_);
      ScheduledFault& scheduled = *injector_.faults_[index_];
      if (scheduled.armed && !injector_.ended_) {  // after the end, no thread calls it any more
        scheduled.when_over.push_back(std::move(then));
        return;
      }
    }
    then();
  }
  void After(Duration time, std::function<void()> then) override {
    injector_.EndAfter(time, std::move(then));
  }
  void Pause(Duration time) override {
    std::unique_lock lock(injector_.mutex_);
    injector_.changed_.wait_for(lock, time, [&] { return injector_.ended_; });
  }
  uint64_t NextSeed() override {
    const std::lock_guard lock(injector_.mutex_);
    return injector_.faults_[index_]->seeds.Next();
  }

 private:
  FaultInjector& injector_;
  size_t index_;
};

FaultResponse FaultInjector::Inject(const std::vector<size_t>& due) {
  FaultResponse response;
  for (const size_t index : due) {
    const Fault& fault = faults_[index]->fault;
    Context context(*this, index);
    const FaultResponse one = fault.action->Inject(fault, context);
    Inject(TakeFollowers(index));
    if (one.kind != FaultResponse::Kind::kGoOn) response = one;
  }
  return response;
}

std::vector<size_t> FaultInjector::TakeFollowers(size_t index) {
  const std::lock_guard lock(mutex_);
  return std::exchange(faults_[index]->followers, {});
}

bool FaultInjector::DelayStart(const std::string& replica, std::function<void()> start) {
  const std::lock_guard lock(mutex_);
  if (ended_) return false;
  for (const auto& scheduled : faults_) {
    const Fault& fault = scheduled->fault;
    const bool keeps_down = fault.kind->while_until == WhileUntil::kDown;
    if (!keeps_down || !scheduled->armed || fault.replica != replica) continue;
    scheduled->when_over.push_back(std::move(start));
    return true;
  }
  return false;
}

Instant FaultInjector::NextTime() const {
  const std::lock_guard lock(mutex_);
  Instant next = kNever;
  if (submitted_ == kNever || ended_) return next;
  for (const auto& scheduled : faults_) {
    const auto* time = scheduled->fault.when.As<TimeTrigger>();
    if (!time || !scheduled->tally.injected_at.empty()) continue;
    next = std::min(next, submitted_ + time->at);
  }
  if (options_.step_time) return next;
  for (const Lifetime& life : lifetimes_) next = std::min(next, life.end);
  return next;
}

void FaultInjector::SetSubmitted(Instant instant) {
  const std::lock_guard lock(mutex_);
  submitted_ = instant;
}

void FaultInjector::AdvanceTo(Instant now) {
  std::vector<size_t> due;
  {
    const std::lock_guard lock(mutex_);
    if (submitted_ == kNever || ended_) return;
    for (size_t i = 0; i < faults_.size(); ++i) {
      const ScheduledFault& scheduled = *faults_[i];
      const auto* time = scheduled.fault.when.As<TimeTrigger>();
      if (!time || !scheduled.tally.injected_at.empty()) continue;
      if (submitted_ + time->at > now) continue;
      AppendFault(i, "time reached");
      due.push_back(i);
    }
    if (!due.empty()) BeginInFlight();
  }
  if (!due.empty()) InjectOnOwnThread(due);
  if (!options_.step_time) LoseExpiredMachines(now);
}

// Mutex held. Injects those of `due` that only give an answer, and removes them from it.
FaultResponse FaultInjector::AnswerInline(std::vector<size_t>& due) {
  FaultResponse response;
  std::erase_if(due, [&](size_t index) {
    const Fault& fault = faults_[index]->fault;
    if (!IsAnsweredInline(*fault.kind)) return false;
    Context context(*this, index);
    response = fault.action->Inject(fault, context);
    return true;
  });
  return response;
}

// Mutex held.
void FaultInjector::BeginInFlight() {
  ++in_flight_;
  clock_.Hold();
}

// The caller has called BeginInFlight().
void FaultInjector::InjectOnOwnThread(std::vector<size_t> due) {
  Enqueue([this, due = std::move(due)] { RunInFlight([&] { Inject(due); }); });
}

// Mutex held. No replica waits for these ends, so all do.
void FaultInjector::EndInFlight(std::vector<std::function<void()>> ends) {
  for (auto& end : ends) {
    BeginInFlight();
    work_.push_back([this, end = std::move(end)] { RunInFlight(end); });
  }
}

void FaultInjector::RunInFlight(const std::function<void()>& work) {
  work();
  {
    const std::lock_guard lock(mutex_);
    --in_flight_;
  }
  clock_.Release();
  changed_.notify_all();
}

// Mutex held. A program that starts again on its machine does not make the machine younger.
void FaultInjector::NoteMachine(const std::string& replica, int boot) {
  if (!options_.vm_lifetime) return;
  if (new_machines_.erase(replica) == 0) {
    for (Lifetime& life : lifetimes_) {
      if (life.replica == replica) life.boot = boot;
    }
    return;
  }
  std::erase_if(lifetimes_, [&](const Lifetime& life) { return life.replica == replica; });
  Random random = Random(options_.seed).Fork("machine of " + replica + " " + std::to_string(boot));
  const Duration age = Draw(*options_.vm_lifetime, random);
  lifetimes_.push_back({MachineTime(replica) + age, replica, boot});
}

// Mutex held. The time by which the replica's machine ages.
Instant FaultInjector::MachineTime(const std::string& replica) const {
  if (!options_.step_time) return clock_.Now();
  const auto found = trained_.find(MachineTrialOf(replica));
  return Instant{} + (found == trained_.end() ? 0 : found->second) * *options_.step_time;
}

// Mutex held.
void FaultInjector::CountStep(const std::string& replica) {
  if (IsFirstReplica(replica.substr(0, replica.find('/')))) ++trained_[MachineTrialOf(replica)];
}

// Mutex held. The replicas whose machines have reached their age. `now`: emulated time; nullopt:
// that by which each machine ages.
std::vector<std::string> FaultInjector::TakeExpired(std::optional<Instant> now) {
  std::vector<std::string> expired;
  std::erase_if(lifetimes_, [&](const Lifetime& life) {
    if (life.end > now.value_or(MachineTime(life.replica))) return false;
    if (live_[life.replica] == life.boot) expired.push_back(life.replica);
    return true;
  });
  for (const std::string& replica : expired) {
    lost_machines_.insert(replica);
    Event line{.replica = replica, .boot = live_[replica]};
    line.body = FaultEvent{kLifetimeOver, "the lifetime of the machine is over"};
    Append(std::move(line));
  }
  return expired;
}

// Mutex held. The losses of the machines that are too old after the step. Each returns when the
// machine is gone. A program that fails at the step fails first: a lost machine would hide that.
std::vector<std::function<void()>> FaultInjector::LossesAtStep(const Event& event, const Due& due) {
  std::vector<std::function<void()>> losses;
  if (!options_.step_time || !event.Is<StepEvent>()) return losses;
  const auto fails = [this](size_t index) { return MakesProgramFail(faults_[index]->fault); };
  if (std::ranges::any_of(due.faults, fails)) return losses;
  for (const std::string& replica : TakeExpired(std::nullopt)) {
    losses.push_back([this, replica] {
      const Status lost = run_->LoseVm(replica, engine::VmLoss::kKill);
      if (lost.ok()) Context(*this, 0).WaitForEndOfBoot(replica);
    });
  }
  return losses;
}

void FaultInjector::LoseExpiredMachines(Instant now) {
  std::vector<std::string> expired;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    expired = TakeExpired(now);
    for (size_t i = 0; i < expired.size(); ++i) BeginInFlight();
  }
  for (const std::string& replica : expired) {
    Enqueue([this, replica] {
      RunInFlight([&] { (void)run_->LoseVm(replica, engine::VmLoss::kKill); });
    });
  }
}

void FaultInjector::Enqueue(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  changed_.notify_all();
}

// No thread waits for the end of one fault, because the others must be injected meanwhile.
void FaultInjector::EndAfter(Duration time, std::function<void()> then) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) {
      work_.push_back(std::move(then));
    } else {
      timed_ends_.emplace(MonotonicNow() + time, std::move(then));
    }
  }
  changed_.notify_all();
}

// Mutex held.
void FaultInjector::EnqueueDueEnds() {
  const auto later = timed_ends_.upper_bound(MonotonicNow());
  for (auto end = timed_ends_.begin(); end != later; ++end) work_.push_back(std::move(end->second));
  timed_ends_.erase(timed_ends_.begin(), later);
}

// Waits for work or for the end of a timed fault. False: the thread has nothing left to do.
bool FaultInjector::WaitForWork(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    EnqueueDueEnds();
    if (!work_.empty()) return true;
    if (stopping_) return false;
    if (timed_ends_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const MonotonicTime earliest = timed_ends_.begin()->first;  // a copy: others may remove it
    changed_.wait_until(lock, earliest);
  }
}

void FaultInjector::RunQueue() {
  std::unique_lock lock(mutex_);
  while (WaitForWork(lock)) {
    const std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    ++busy_;
    lock.unlock();
    work();
    lock.lock();
    --busy_;
    changed_.notify_all();
  }
}

// Mutex held. Faults that wait for this one are in flight from here on. Those that wait for a fault
// of the network find it in effect: a machine that is lost after a cut cannot say goodbye.
void FaultInjector::AppendFault(size_t index, const std::string& occasion) {
  ScheduledFault& scheduled = *faults_[index];
  const Fault& fault = scheduled.fault;
  if (fault.action->takes_machine()) lost_machines_.insert(fault.replica);
  scheduled.armed = scheduled.until.has_value() && !scheduled.over;
  scheduled.tally.until_came = !scheduled.armed;
  scheduled.fills_disk = fault.kind->while_until == WhileUntil::kDiskIsFull && !scheduled.over;
  scheduled.fills_volumes =
      fault.kind->while_until == WhileUntil::kVolumesAreFull && !scheduled.over;
  Event line{.replica = fault.replica};
  line.boot = fault.replica.empty() ? 0 : booted_[fault.replica];
  line.body =
      FaultEvent{fault.name, KindWithPeer(fault) + " " + Describe(fault.when) + ": " + occasion};
  scheduled.tally.injected_at.push_back(static_cast<int64_t>(list_.size()) + 1);
  Due chained = CountTriggers(line, Phase::kAfter);
  Append(line);
  EndInFlight(std::move(chained.ends));
  for (const size_t next : chained.faults) {
    AppendFault(next, Describe(line));
    if (fault.kind->while_until == WhileUntil::kNetworkIsFaulty) {
      scheduled.followers.push_back(next);
      continue;
    }
    BeginInFlight();
    work_.push_back([this, next] { RunInFlight([this, next] { Inject({next}); }); });
  }
}

}  // namespace caip::harness
