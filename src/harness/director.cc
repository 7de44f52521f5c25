#include "harness/director.h"

#include <algorithm>
#include <utility>

namespace caip::harness {
namespace {

// Strikes that nobody waits for may wait for each other's ends.
constexpr int kThreads = 3;

}  // namespace

/// A fault, its counts, and who waits for its end.
struct Director::Plot {
  Plot(Fault f, Random random)
      : fault(std::move(f)), when(fault.when, fault.replica, random.Fork("when")) {
    if (fault.until) until.emplace(*fault.until, "any", random.Fork("until"));
  }
  Fault fault;
  TriggerCount when;
  std::optional<TriggerCount> until;
  FaultTally tally;
  bool over = false;   // its `until` has come, may be before it struck
  bool armed = false;  // struck, and not over
  std::vector<std::function<void()>> when_over;
};

class Director::ScenePart final : public Scene {
 public:
  ScenePart(Director& director, size_t plot) : director_(director), plot_(plot) {}

  World& world() override { return *director_.world_; }
  void WaitForEnd(const std::string& replica) override {
    std::unique_lock lock(director_.mutex_);
    const int boot = director_.booted_[replica];
    director_.changed_.wait(lock, [&] {
      return director_.ended_ || director_.live_[replica] == 0 ||
             director_.booted_[replica] != boot || director_.gone_[replica] == boot;
    });
  }
  void WaitForUntil(const Fault&) override {
    std::unique_lock lock(director_.mutex_);
    const Plot& plot = *director_.plots_[plot_];
    director_.changed_.wait(lock, [&] { return director_.ended_ || !plot.armed; });
  }
  void WhenOver(const Fault& fault, std::function<void()> then) override {
    if (fault.lasts) {
      const Duration time = *fault.lasts;
      director_.Leave([this_director = &director_, time, then = std::move(then)] {
        std::unique_lock lock(this_director->mutex_);
        this_director->changed_.wait_for(lock, time, [&] { return this_director->ended_; });
        lock.unlock();
        then();
      });
      return;
    }
    {
      const std::lock_guard lock(director_.mutex_);
      Plot& plot = *director_.plots_[plot_];
      if (plot.armed) {
        plot.when_over.push_back(std::move(then));
        return;
      }
    }
    then();
  }
  void Pause(Duration time) override {
    std::unique_lock lock(director_.mutex_);
    director_.changed_.wait_for(lock, time, [&] { return director_.ended_; });
  }

 private:
  Director& director_;
  size_t plot_;
};

Director::Director(std::vector<Fault> faults, uint64_t seed, Clock& clock) : clock_(clock) {
  const Random random(seed);
  for (Fault& fault : faults) {
    auto plot = std::make_unique<Plot>(std::move(fault), random.Fork("fault " + fault.name));
    plot->tally.name = plot->fault.name;
    plot->tally.what = plot->fault.kind + " " + Describe(plot->fault.when);
    plots_.push_back(std::move(plot));
  }
  for (int i = 0; i < kThreads && !plots_.empty(); ++i) threads_.emplace_back([this] { Work(); });
}

Director::~Director() {
  End();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Mutex held. A boot that is over by now is let through: it gets no answer anyway.
bool Director::MayGoOn(const Happening& h) const {
  if (ended_ || IsOver(h)) return true;
  const auto booted = booted_.find(h.replica);
  if (booted == booted_.end() || booted->second > h.boot) return true;
  const auto live = live_.find(h.replica);
  const bool up = live != live_.end() && live->second == h.boot;
  return up && running_ && under_way_ == 0;
}

Verdict Director::Meet(Happening happening, Phase phase) {
  std::vector<size_t> due;
  {
    std::unique_lock lock(mutex_);
    if (happening.boot == 0 && !happening.replica.empty())
      happening.boot = booted_[happening.replica];
    changed_.wait(lock, [&] { return MayGoOn(happening); });
    if (ended_) return {};
    if (IsOver(happening)) return {Verdict::Kind::kGone, 0, 0};
    due = CountAll(happening, phase);
    if (phase == Phase::kAfter) Enter(happening);
    for (const size_t plot : due) EnterFault(plot, happening);
  }
  changed_.notify_all();
  const Verdict verdict = Strike(due);
  const std::lock_guard lock(mutex_);
  return IsOver(happening) ? Verdict{Verdict::Kind::kGone, 0, 0} : verdict;
}

// Mutex held. The dead do nothing more: what they began is not done.
bool Director::IsOver(const Happening& happening) const {
  if (happening.boot == 0) return false;
  const auto ended = [&](const std::map<std::string, int>& boots) {
    const auto found = boots.find(happening.replica);
    return found != boots.end() && found->second >= happening.boot;
  };
  return ended(over_) || ended(gone_);
}

void Director::Note(Happening happening) {
  using Kind = Happening::Kind;
  std::vector<size_t> due;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    const bool is_line = happening.kind == Kind::kLog || happening.kind == Kind::kStep;
    if (is_line && booted_.contains(happening.replica)) {
      const int boot = booted_[happening.replica];
      happening.boot = boot;
      const bool over = over_[happening.replica] == boot;
      if (!over && (live_[happening.replica] != boot || !running_)) {
        early_[happening.replica].push_back(std::move(happening));
        return;
      }
    }
    const std::string replica = happening.replica;
    Enter(happening);
    due = CountAll(happening, Phase::kAfter);
    for (const size_t plot : due) EnterFault(plot, happening);
    if (is_line && lock_step_) {
      auto& left = unsettled_[replica];
      left.insert(left.end(), due.begin(), due.end());
      due.clear();
    }
    if (!due.empty()) {
      ++under_way_;
      clock_.Hold();
    }
  }
  changed_.notify_all();
  if (due.empty()) return;
  Leave([this, due] {
    Strike(due);
    {
      const std::lock_guard lock(mutex_);
      --under_way_;
    }
    clock_.Release();
    changed_.notify_all();
  });
}

bool Director::Settle(const std::string& replica, int boot) {
  const Happening moment{.replica = replica, .boot = boot};
  std::vector<size_t> due;
  {
    std::unique_lock lock(mutex_);
    lock_step_ = true;
    changed_.wait(lock, [&] { return MayGoOn(moment); });
    due = std::exchange(unsettled_[replica], {});
  }
  Strike(due);
  const std::lock_guard lock(mutex_);
  return !IsOver(moment);
}

void Director::Gone(const std::string& replica, int boot) {
  {
    const std::lock_guard lock(mutex_);
    gone_[replica] = boot;
  }
  changed_.notify_all();
}

std::optional<uint64_t> Director::NextCut(const Happening& moment, uint64_t count) const {
  const std::lock_guard lock(mutex_);
  std::optional<uint64_t> next;
  for (const auto& plot : plots_) {
    const Trigger& when = plot->fault.when;
    const bool within = when.bytes > moment.bytes && when.bytes < moment.bytes + count;
    if (when.phase != Phase::kMid || !within || !GlobMatches(when.pattern, moment.object)) continue;
    if (!next || when.bytes < *next) next = when.bytes;
  }
  return next;
}

// Mutex held.
void Director::Enter(Happening happening) {
  using Kind = Happening::Kind;
  if (happening.kind == Kind::kState) running_ = happening.text == "RUNNING";
  if (happening.kind == Kind::kStart) booted_[happening.replica] = happening.boot;
  if (happening.kind == Kind::kLive) live_[happening.replica] = happening.boot;
  happening.number = static_cast<int64_t>(list_.size()) + 1;
  happening.time = clock_.Now();
  const bool is_exit = happening.kind == Kind::kExit;
  const std::string replica = happening.replica;
  if (is_exit) {  // its last lines come before its end, also if it was never seen to be up
    for (Happening& line : std::exchange(early_[replica], {})) Enter(std::move(line));
    happening.number = static_cast<int64_t>(list_.size()) + 1;
    live_[replica] = 0;
    over_[replica] = happening.boot;
  }
  list_.push_back(std::move(happening));
  if (watcher_) watcher_(list_.back());
  if (!running_) return;
  for (auto& [name, lines] : early_) {
    if (lines.empty() || live_[name] == 0) continue;
    for (Happening& line : std::exchange(lines, {})) {
      const std::vector<size_t> due = CountAll(line, Phase::kAfter);
      Enter(line);
      for (const size_t plot : due) EnterFault(plot, line);
      auto& left = unsettled_[name];
      left.insert(left.end(), due.begin(), due.end());
    }
  }
}

// Mutex held. Which faults are due now; those whose `until` this is are over.
std::vector<size_t> Director::CountAll(const Happening& happening, Phase phase) {
  std::vector<size_t> due;
  for (size_t i = 0; i < plots_.size(); ++i) {
    Plot& plot = *plots_[i];
    if (plot.until && plot.until->Meet(happening, phase)) {
      plot.over = true;
      plot.armed = false;
      plot.tally.until_came = true;
      for (auto& then : std::exchange(plot.when_over, {})) work_.push_back(std::move(then));
    }
    if (plot.when.Meet(happening, phase)) due.push_back(i);
    plot.tally.seen = plot.when.seen();
  }
  return due;
}

// Mutex held.
void Director::EnterFault(size_t index, const Happening& occasion) {
  Plot& plot = *plots_[index];
  plot.armed = plot.until.has_value() && !plot.over;
  plot.tally.until_came = !plot.armed;
  Happening line;
  line.kind = Happening::Kind::kFault;
  line.replica = plot.fault.replica;
  line.boot = plot.fault.replica.empty() ? 0 : booted_[plot.fault.replica];
  line.text = plot.fault.name;
  line.detail = plot.fault.kind + " " + Describe(plot.fault.when) + ": " + Describe(occasion);
  plot.tally.struck_at.push_back(static_cast<int64_t>(list_.size()) + 1);
  const std::vector<size_t> chained = CountAll(line, Phase::kAfter);
  Enter(line);
  for (const size_t next : chained) {
    EnterFault(next, line);
    ++under_way_;
    clock_.Hold();
    work_.push_back([this, next] {
      Strike({next});
      {
        const std::lock_guard lock(mutex_);
        --under_way_;
      }
      clock_.Release();
      changed_.notify_all();
    });
  }
}

Verdict Director::Strike(const std::vector<size_t>& due) {
  Verdict verdict;
  for (const size_t plot : due) {
    const Fault& fault = plots_[plot]->fault;
    ScenePart scene(*this, plot);
    const Verdict one = FindFaultKind(fault.kind)->strike(fault, scene);
    if (one.kind != Verdict::Kind::kGoOn) verdict = one;
  }
  return verdict;
}

bool Director::KeepDown(const std::string& replica, std::function<void()> start) {
  const std::lock_guard lock(mutex_);
  for (const auto& plot : plots_) {
    const bool takes_away = plot->fault.kind == "kill" || plot->fault.kind == "crash";
    if (!takes_away || !plot->armed || plot->fault.replica != replica) continue;
    plot->when_over.push_back(std::move(start));
    return true;
  }
  return false;
}

Instant Director::NextAt() const {
  const std::lock_guard lock(mutex_);
  Instant next = kNever;
  if (submitted_ == kNever || ended_) return next;
  for (const auto& plot : plots_) {
    const Trigger& when = plot->fault.when;
    if (when.kind != Trigger::Kind::kAt || !plot->tally.struck_at.empty()) continue;
    next = std::min(next, submitted_ + when.at);
  }
  return next;
}

void Director::SubmittedAt(Instant instant) {
  const std::lock_guard lock(mutex_);
  submitted_ = instant;
}

void Director::TimeIs(Instant now) {
  std::vector<size_t> due;
  {
    const std::lock_guard lock(mutex_);
    if (submitted_ == kNever || ended_) return;
    for (size_t i = 0; i < plots_.size(); ++i) {
      const Plot& plot = *plots_[i];
      if (plot.fault.when.kind != Trigger::Kind::kAt || !plot.tally.struck_at.empty()) continue;
      if (submitted_ + plot.fault.when.at > now) continue;
      EnterFault(i, {.kind = Happening::Kind::kState, .text = "as it was"});
      due.push_back(i);
    }
    if (due.empty()) return;
    ++under_way_;
  }
  clock_.Hold();
  Leave([this, due] {
    Strike(due);
    {
      const std::lock_guard lock(mutex_);
      --under_way_;
    }
    clock_.Release();
    changed_.notify_all();
  });
}

void Director::End() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (auto& plot : plots_) {
      for (auto& then : std::exchange(plot->when_over, {})) work_.push_back(std::move(then));
    }
  }
  changed_.notify_all();
}

bool Director::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::vector<Happening> Director::happenings() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

std::vector<Happening> Director::Since(size_t known) const {
  const std::lock_guard lock(mutex_);
  const auto begin = list_.begin() + static_cast<ptrdiff_t>(std::min(known, list_.size()));
  return {begin, list_.end()};
}

std::vector<FaultTally> Director::tallies() const {
  const std::lock_guard lock(mutex_);
  std::vector<FaultTally> tallies;
  for (const auto& plot : plots_) tallies.push_back(plot->tally);
  return tallies;
}

size_t Director::WaitForMore(size_t known, Duration at_most) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [&] { return ended_ || list_.size() > known; });
  return list_.size();
}

void Director::Leave(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void Director::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !work_.empty(); });
    if (work_.empty()) return;
    const std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace caip::harness
