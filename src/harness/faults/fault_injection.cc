// The part of harness/faults/fault_injector.h that makes faults strike: at moments, and at times.

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/faults/fault_injector_parts.h"

namespace caip::harness {

FaultResponse Director::Strike(const std::vector<size_t>& due) {
  FaultResponse verdict;
  for (const size_t plot : due) {
    const Fault& fault = plots_[plot]->fault;
    ScenePart scene(*this, plot);
    const FaultResponse one = fault.action->Inject(fault, scene);
    if (one.kind != FaultResponse::Kind::kGoOn) verdict = one;
  }
  return verdict;
}

bool Director::KeepDown(const std::string& replica, std::function<void()> start) {
  const std::lock_guard lock(mutex_);
  if (ended_) return false;
  for (const auto& plot : plots_) {
    const bool keeps_down = plot->fault.kind->while_until == WhileUntil::kDown;
    if (!keeps_down || !plot->armed || plot->fault.replica != replica) continue;
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
  for (const Lifetime& life : lifetimes_) next = std::min(next, life.end);
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
    if (!due.empty()) {
      ++under_way_;
      clock_.Hold();
    }
  }
  if (!due.empty()) StrikeApart(due);
  EndMachines(now);
}

// Mutex held. Strikes those of `due` that only have something to say, and takes them out of it.
FaultResponse Director::StrikeInline(std::vector<size_t>& due) {
  FaultResponse verdict;
  std::erase_if(due, [&](size_t plot) {
    const Fault& fault = plots_[plot]->fault;
    if (!IsAnsweredInline(*fault.kind)) return false;
    ScenePart scene(*this, plot);
    verdict = fault.action->Inject(fault, scene);
    return true;
  });
  return verdict;
}

// Counted as under way by the caller, who held the clock for it.
void Director::StrikeApart(std::vector<size_t> due) {
  Leave([this, due = std::move(due)] { EndApart([&] { Strike(due); }); });
}

void Director::EndApart(const std::function<void()>& work) {
  work();
  {
    const std::lock_guard lock(mutex_);
    --under_way_;
  }
  clock_.Release();
  changed_.notify_all();
}

// Mutex held.
void Director::DrawLifetime(const std::string& replica, int boot) {
  if (!options_.vm_lifetime) return;
  Random random = Random(options_.seed).Fork("machine of " + replica + " " + std::to_string(boot));
  const double mean = static_cast<double>(options_.vm_lifetime->count());
  const auto life = static_cast<int64_t>(-mean * std::log1p(-random.Unit()));
  lifetimes_.push_back({clock_.Now() + Duration(life), replica, boot});
}

// Machines whose time is over go away, as the service's did.
void Director::EndMachines(Instant now) {
  std::vector<std::string> over;
  {
    const std::lock_guard lock(mutex_);
    for (const Lifetime& life : lifetimes_) {
      if (life.end > now || live_[life.replica] != life.boot) continue;
      Happening line;
      line.kind = Happening::Kind::kFault;
      line.replica = life.replica;
      line.boot = life.boot;
      line.text = "vm_lifetime";
      line.detail = "the machine's time is over";
      Enter(std::move(line));
      over.push_back(life.replica);
      ++under_way_;
      clock_.Hold();
    }
    std::erase_if(lifetimes_, [&](const Lifetime& life) { return life.end <= now; });
  }
  for (const std::string& replica : over) {
    Leave([this, replica] {
      EndApart([&] { (void)world_->LoseVm(replica, engine::VmLoss::kKill); });
    });
  }
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
  line.detail = plot.fault.kind->name + " " + Describe(plot.fault.when) + ": " + Describe(occasion);
  plot.tally.struck_at.push_back(static_cast<int64_t>(list_.size()) + 1);
  const std::vector<size_t> chained = CountAll(line, Phase::kAfter);
  Enter(line);
  for (const size_t next : chained) {
    EnterFault(next, line);
    ++under_way_;
    clock_.Hold();
    work_.push_back([this, next] { EndApart([this, next] { Strike({next}); }); });
  }
}

}  // namespace caip::harness
