#include "host/watch/forwarded_output.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "host/watch/watched_process.h"

namespace caip::host {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr int kPause_ms = 1;
constexpr int kVainWaitsMax = 3;  // they may compute as well, and never sleep

// The replica's own stdout and stderr are handled elsewhere (WatchedOutput).
bool PrintsToAnother(const WatchedCall& call) {
  if (call.number() != SYS_write && call.number() != SYS_writev) return false;
  return call.descriptor(0) == STDOUT_FILENO || call.descriptor(0) == STDERR_FILENO;
}

std::optional<FileId> FileOf(pid_t process, int descriptor) {
  return IdentifyFile("/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor));
}

}  // namespace

std::unique_ptr<HeardCall> ForwardedOutput::Receive() {
  if (later_.empty()) return calls_.Receive();
  auto first = std::move(later_.front());
  later_.pop_front();
  return first;
}

bool ForwardedOutput::Settle(const WatchedCall& call, pid_t init) {
  const bool had_printed = have_printed_.erase(call.thread()) > 0;
  if (PrintsToAnother(call)) have_printed_.insert(call.thread());
  if (!had_printed) return true;
  if (vain_waits_ == kVainWaitsMax) return true;
  const Forwarders forwarders = ForwardersOf(call, init);
  return forwarders.empty() || Await(forwarders);
}

// False: no call may be answered any more.
bool ForwardedOutput::Await(const Forwarders& forwarders) {
  const MonotonicTime end = MonotonicNow() + kPatience;
  while (MonotonicNow() < end) {
    if (calls_.IsCallWaiting(0)) {
      if (!AnswerWaiting(forwarders)) return false;
    } else if (std::ranges::any_of(forwarders, IsBusy)) {
      (void)calls_.IsCallWaiting(kPause_ms);
    } else if (!calls_.IsCallWaiting(0)) {  // else one of them sleeps because of its call
      return true;
    }
  }
  ++vain_waits_;
  return true;
}

// Answers the call that waits if one of them made it. False: it may not be answered.
bool ForwardedOutput::AnswerWaiting(const Forwarders& forwarders) {
  auto heard = calls_.Receive();
  if (!heard) return true;
  const WatchedCall call(heard->facts, *heard->path);
  const pid_t caller = ProcessOf(call);
  const bool is_theirs =
      std::ranges::any_of(forwarders, [&](const Forwarder& one) { return one.process == caller; });
  const Handled handled = is_theirs ? answer_(call) : Handled::kNotMine;
  if (handled != Handled::kAnswered) later_.push_back(std::move(heard));
  return handled != Handled::kNever;
}

bool ForwardedOutput::IsOwn(const std::optional<FileId>& file) const {
  return file && std::ranges::find(own_, *file) != own_.end();
}

ForwardedOutput::Forwarders ForwardedOutput::ForwardersOf(const WatchedCall& call,
                                                          pid_t init) const {
  Forwarders found;
  if (IsOwn(call.Identify(STDOUT_FILENO))) return found;
  const pid_t caller = ProcessOf(call);
  for (const pid_t process : DescendantsOf(init)) {
    const bool prints =
        IsOwn(FileOf(process, STDOUT_FILENO)) || IsOwn(FileOf(process, STDERR_FILENO));
    if (process != caller && prints) found.push_back({process, TerminalMastersOf(process)});
  }
  return found;
}

// Poll waits until the kernel has moved what was printed to the end from which it is read. A
// process that was woken runs, for the kernel, even if no processor is free for it.
bool ForwardedOutput::IsBusy(const Forwarder& forwarder) {
  for (const Fd& terminal : forwarder.terminals) {
    pollfd printed{terminal.get(), POLLIN, 0};
    if (::poll(&printed, 1, 0) > 0 && (printed.revents & POLLIN)) return true;
  }
  return IsRunning(forwarder.process);
}

}  // namespace caip::host
