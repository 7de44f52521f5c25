#pragma once
// Lines that one process of a replica prints and another passes on: mpirun, or `python | tee`.

#include <sys/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/files.h"
#include "host/watch/call_source.h"
#include "host/watch/watched_call.h"

namespace caip::host {

/// Lets what a process has printed reach the log before its next call is decided about, as it does
/// if the process prints to the replica's own stdout. A replica that is lost at that call would
/// lose the lines otherwise, or not, by chance. Used by the replica's own thread.
class ForwardedOutput {
 public:
  /// Answers a call: Handled::kAnswered or kNever.
  using Answer = std::function<Handled(const WatchedCall& call)>;

  /// `own`: the pipes that are the replica's stdout and stderr. `calls` must outlive it.
  ForwardedOutput(std::vector<FileId> own, CallSource& calls, Answer answer)
      : own_(std::move(own)), calls_(calls), answer_(std::move(answer)) {}

  /// As those of CallSource, with the calls that arrived during Settle.
  bool Wait(bool receive) { return (receive && !later_.empty()) || calls_.Wait(receive); }
  std::unique_ptr<HeardCall> Receive();

  /// Called before each call that is not output of the replica. If the thread has printed, answers
  /// the calls of those that pass it on, until they have no more of it. False: no call may be
  /// answered any more (Handled::kNever). `init`: the ancestor of the replica's processes.
  bool Settle(const WatchedCall& call, pid_t init);

 private:
  /// A process that can print to the replica's stdout or stderr.
  struct Forwarder {
    pid_t process = 0;
    std::vector<Fd> terminals;  // the other ends of terminals to which its children print
  };
  using Forwarders = std::vector<Forwarder>;
  Forwarders ForwardersOf(const WatchedCall& call, pid_t init) const;
  bool IsOwn(const std::optional<FileId>& file) const;
  bool Await(const Forwarders& forwarders);
  bool AnswerWaiting(const Forwarders& forwarders);
  static bool IsBusy(const Forwarder& forwarder);

  const std::vector<FileId> own_;
  CallSource& calls_;
  Answer answer_;
  std::set<pid_t> have_printed_;  // threads, since their last call
  std::deque<std::unique_ptr<HeardCall>> later_;
  int vain_waits_ = 0;  // for forwarders that did not sleep
};

}  // namespace caip::host
