#include "harness/faults/fault_injector.h"

#include <algorithm>
#include <utility>

#include "harness/faults/fault_injector_parts.h"

namespace caip::harness {
namespace {

// Strikes that nobody waits for may wait for each other's ends.
constexpr int kThreads = 3;

// What only has something to say to whoever does the operation needs somebody who hears it, and a
// process that ends with its operation (its exit code is set, then) does not.
bool CanStrike(const Fault& fault, const Happening& happening) {
  const bool ends = happening.kind == Happening::Kind::kStorage && happening.exit_code != 0;
  return !ends || !fault.action->only_answers();
}

}  // namespace

Director::Director(DirectorOptions options, Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  const Random random(options_.seed);
  std::vector<Fault> faults = options_.faults;
  for (Fault& fault : faults) {
    auto plot = std::make_unique<Plot>(std::move(fault), random.Fork("fault " + fault.name));
    plot->tally.name = plot->fault.name;
    plot->tally.what = plot->fault.kind->name + " " + Describe(plot->fault.when);
    plots_.push_back(std::move(plot));
  }
  for (int i = 0; i < kThreads && Disturbs(); ++i) threads_.emplace_back([this] { Work(); });
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

FaultResponse Director::Meet(Happening happening, Phase phase) {
  std::vector<size_t> due;
  {
    std::unique_lock lock(mutex_);
    if (happening.boot == 0 && !happening.replica.empty())
      happening.boot = booted_[happening.replica];
    changed_.wait(lock, [&] { return MayGoOn(happening); });
    if (ended_) return {};
    if (IsOver(happening)) return {FaultResponse::Kind::kGone, 0, 0};
    due = CountAll(happening, phase);
    if (phase == Phase::kAfter) Enter(happening);
    for (const size_t plot : due) EnterFault(plot, happening);
  }
  changed_.notify_all();
  const FaultResponse verdict = Strike(due);
  const std::lock_guard lock(mutex_);
  return IsOver(happening) ? FaultResponse{FaultResponse::Kind::kGone, 0, 0} : verdict;
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

FaultResponse Director::Note(Happening happening) {
  using Kind = Happening::Kind;
  std::vector<size_t> due;
  FaultResponse verdict;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return {};
    const bool is_line = happening.kind == Kind::kLog || happening.kind == Kind::kStep;
    if (is_line && booted_.contains(happening.replica)) {
      const int boot = booted_[happening.replica];
      happening.boot = boot;
      const bool over = over_[happening.replica] == boot;
      if (!over && (live_[happening.replica] != boot || !running_)) {
        EarlyLine early{std::move(happening), {}, {}};
        early.met = early.due = CountAll(early.line, Phase::kAfter);
        verdict = StrikeInline(early.due);
        early_[early.line.replica].push_back(std::move(early));
        return verdict;
      }
    }
    const std::string replica = happening.replica;
    Enter(happening);
    due = CountAll(happening, Phase::kAfter);
    for (const size_t plot : due) EnterFault(plot, happening);
    verdict = StrikeInline(due);
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
  if (!due.empty()) StrikeApart(due);
  return verdict;
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
  if (happening.kind == Kind::kState) {  // a job that is being cancelled still runs
    if (happening.text == "RUNNING") running_ = true;
    if (happening.text == "QUEUED" || happening.text == "PREPARING") running_ = false;
  }
  if (happening.kind == Kind::kStart) booted_[happening.replica] = happening.boot;
  if (happening.kind == Kind::kLive) {
    live_[happening.replica] = happening.boot;
    DrawLifetime(happening.replica, happening.boot);
  }
  happening.number = static_cast<int64_t>(list_.size()) + 1;
  happening.time = clock_.Now();
  const bool is_exit = happening.kind == Kind::kExit;
  const std::string replica = happening.replica;
  if (is_exit) {  // its last lines come before its end, also if it was never seen to be up
    for (EarlyLine& early : std::exchange(early_[replica], {})) Enter(std::move(early.line));
    happening.number = static_cast<int64_t>(list_.size()) + 1;
    live_[replica] = 0;
    over_[replica] = happening.boot;
  }
  list_.push_back(std::move(happening));
  if (watcher_) watcher_(list_.back());
  if (!running_) return;
  for (auto& [name, lines] : early_) {
    if (lines.empty() || live_[name] == 0) continue;
    for (EarlyLine& early : std::exchange(lines, {})) {
      Enter(early.line);
      for (const size_t plot : early.met) EnterFault(plot, early.line);
      auto& left = unsettled_[name];
      left.insert(left.end(), early.due.begin(), early.due.end());
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
    if (plot.when.Meet(happening, phase) && CanStrike(plot.fault, happening)) due.push_back(i);
    plot.tally.seen = plot.when.seen();
  }
  return due;
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

}  // namespace caip::harness
