#include "host/watch/watched_replicas.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "host/errors.h"
#include "host/launcher/protocol.h"
#include "host/watch/call_source.h"
#include "host/watch/forwarded_output.h"
#include "host/watch/watched_call.h"
#include "host/watch/watched_files.h"
#include "host/watch/watched_process.h"

namespace caip::host {
namespace {

// Lets the kernel carry out the call, except those of io_uring, which would write without a watched
// call. Programs that use io_uring work without it.
void Leave(const WatchedCall& call) {
  call.number() == SYS_io_uring_setup ? call.Fail(ENOSYS) : call.GoOn();
}

}  // namespace

WatchedReplicas::~WatchedReplicas() {
  std::unique_lock lock(mutex_);
  std::vector<std::pair<ReplicaWatcher*, engine::ReplicaKey>> left;
  for (auto& [number, entry] : entries_) {
    if (!entry.thread.joinable()) continue;
    left.emplace_back(entry.replica.watching.watcher, entry.replica.key);
    End(entry);
  }
  lock.unlock();
  for (const auto& [watcher, key] : left) watcher->Gone(key);
  lock.lock();
  std::erase_if(entries_, [](const auto& item) { return !item.second.thread.joinable(); });
  changed_.wait(lock, [this] { return entries_.empty(); });
  lock.unlock();
  JoinEnded();
}

Result<uint32_t> WatchedReplicas::Admit(uint64_t number, const Watching& watching,
                                        engine::ReplicaLaunch& launch, int out, int err,
                                        const std::optional<WatchSocket>& socket) {
  JoinEnded();
  const auto out_file = IdentifyFile("/proc/self/fd/" + std::to_string(out));
  const auto err_file = IdentifyFile("/proc/self/fd/" + std::to_string(err));
  const int error = errno;
  {
    const std::lock_guard lock(mutex_);
    entries_[number].replica = {number, launch.key, watching, out_file.value_or(FileId{}),
                                err_file.value_or(FileId{})};
  }
  // The library needs this host's C library, which an image may not have.
  const bool preloads = interposition_ == Interposition::Kind::kPreload;
  if (preloads && launch.image) return errors::NoPreloadInImages();
  if (!out_file || !err_file) return errors::CannotLookAtPipe(error);
  const bool files = watching.watcher->wants_files() || watching.watch.any_files();
  if (preloads) {
    ASSIGN_OR_RETURN(PreloadedWatch preloaded, WatchByPreload(files, socket));
    AddTo(launch.environment, preloaded);
    if (socket && socket->file != socket->shown) {
      launch.device_nodes.push_back({socket->file.string(), socket->shown});
    }
    Listen(number, std::move(preloaded.calls), 0);
    return 0u;
  }
  return (watching.watch.output ? launcher::kWatchOutput : 0) | (files ? launcher::kWatchFiles : 0);
}

void WatchedReplicas::Listen(uint64_t number, std::unique_ptr<CallSource> calls, pid_t init) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return;
  Entry& entry = found->second;  // valid until its thread removes it
  entry.calls = std::move(calls);
  entry.init = init;
  entry.thread = std::thread([this, &entry] {
    Serve(entry);
    EndServing(entry.replica.number);
  });
}

void WatchedReplicas::NoteStarted(uint64_t number, pid_t init) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(number);
  if (found == entries_.end() || found->second.init != 0) return;
  found->second.init = init;
  changed_.notify_all();
}

// The caller holds the mutex.
void WatchedReplicas::End(Entry& entry) {
  entry.is_ending = true;
  entry.calls->End();
  changed_.notify_all();
}

void WatchedReplicas::Finish(uint64_t number, std::function<void()> done) {
  std::optional<WatchedReplica> replica;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(number);
    if (found != entries_.end()) replica = found->second.replica;
    if (replica && found->second.thread.joinable()) {
      found->second.done = std::exchange(done, {});
      End(found->second);
    } else if (replica) {
      entries_.erase(found);  // it has not started, or its thread has ended
    }
  }
  if (replica) replica->watching.watcher->Gone(replica->key);
  if (done) done();
}

namespace {

/// Decides about the calls of one replica. Used by the replica's own thread.
class ServedCalls {
 public:
  /// The arguments must outlive it. `init` is the ancestor of the replica's processes.
  ServedCalls(const WatchedReplica& replica, pid_t init, CallSource& calls, ReplicaOutput& output)
      : replica_(replica),
        watch_(replica.watching.watch),
        watcher_(*replica.watching.watcher),
        init_(init),
        root_(ReplicaRoot::Of(init)),
        output_(replica, output, watcher_),
        forwarded_({replica.out, replica.err}, calls,
                   [this](const WatchedCall& call) { return Answer(call); }),
        files_(replica.key, watch_, root_, init, watcher_) {}

  ForwardedOutput& forwarded() { return forwarded_; }

  Handled Handle(const WatchedCall& call) {
    if (!watch_.output) return AnswerOther(call);
    // A file that was closed before the line is reported before it.
    const bool may_report = files_.MayHaveClosed(call) && output_.Takes(call);
    if (may_report && files_.ReportClosed(call).kind == Verdict::Kind::kNever) {
      return Handled::kNever;
    }
    const Handled handled = output_.Handle(call);
    if (handled != Handled::kNotMine) return handled;
    return forwarded_.Settle(call, init_) ? AnswerOther(call) : Handled::kNever;
  }

 private:
  // kAnswered or kNever, as AnswerOther.
  Handled Answer(const WatchedCall& call) {
    const Handled handled = output_.Handle(call);
    return handled == Handled::kNotMine ? AnswerOther(call) : handled;
  }

  Handled AnswerOther(const WatchedCall& call) {
    if (watcher_.wants_files()) {
      if (const auto access = ParseFileAccess(call, root_)) watcher_.Seen(replica_.key, *access);
    }
    const Handled handled = files_.Handle(call);
    if (handled != Handled::kNotMine) return handled;
    Leave(call);
    return Handled::kAnswered;
  }

  const WatchedReplica& replica_;
  const ReplicaWatch& watch_;
  ReplicaWatcher& watcher_;
  const pid_t init_;
  ReplicaRoot root_;
  WatchedOutput output_;
  ForwardedOutput forwarded_;
  WatchedFiles files_;
};

}  // namespace

// 0: the replica has ended without a start.
pid_t WatchedReplicas::AwaitInit(const Entry& entry) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return entry.init != 0 || entry.is_ending; });
  return entry.init;
}

// The main function of a replica's thread. Returns when all processes of the replica are dead.
void WatchedReplicas::Serve(Entry& entry) {
  const pid_t init = AwaitInit(entry);
  if (init == 0) return;
  entry.replica.watching.watcher->Started(entry.replica.key, init);
  ServedCalls served(entry.replica, init, *entry.calls, output_);
  std::unique_ptr<HeardCall> unanswered;  // if set, later calls are not answered either
  while (served.forwarded().Wait(!unanswered)) {
    auto heard = served.forwarded().Receive();
    if (!heard) continue;  // its thread was killed while it waited
    const Handled handled = served.Handle(WatchedCall(heard->facts, *heard->path));
    if (handled == Handled::kNever) unanswered = std::move(heard);
  }
}

void WatchedReplicas::EndServing(uint64_t number) {
  std::function<void()> done;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(number);
    Entry& entry = found->second;
    done = std::move(entry.done);
    ended_threads_.push_back(std::move(entry.thread));
    entry.calls.reset();
    // Otherwise Finish comes later, and reports the end to the watcher.
    if (entry.is_ending) entries_.erase(found);
    changed_.notify_all();
  }
  if (done) done();
}

void WatchedReplicas::JoinEnded() {
  std::vector<std::thread> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(ended_threads_);
  }
  for (std::thread& thread : ended) thread.join();
}

namespace {

constexpr size_t kOutputPieceBytes = 1u << 20;  // of a large write, passed on as one piece

}  // namespace

Handled WatchedOutput::Handle(const WatchedCall& call) {
  const auto stream = StreamOf(call);
  if (!stream) return Handled::kNotMine;
  if (call.number() == SYS_write || call.number() == SYS_writev) return Write(call, *stream);
  call.Fail(EINVAL);  // programs then use write()
  return Handled::kAnswered;
}

std::optional<host::OutputStream> WatchedOutput::StreamOf(const WatchedCall& call) const {
  switch (call.number()) {
    case SYS_write:
    case SYS_writev:
    case SYS_sendfile:
      return StreamOf(call, 0);
    case SYS_splice:
      return StreamOf(call, 2);
    default:
      return std::nullopt;
  }
}

// Compares the pipes, so that duplicated descriptors count.
std::optional<host::OutputStream> WatchedOutput::StreamOf(const WatchedCall& call,
                                                          int argument) const {
  const auto file = call.Identify(call.descriptor(argument));
  if (file && *file == replica_.out) return host::OutputStream::kStdout;
  if (file && *file == replica_.err) return host::OutputStream::kStderr;
  return std::nullopt;
}

Handled WatchedOutput::Write(const WatchedCall& call, host::OutputStream stream) {
  int64_t taken = 0;
  for (const iovec& buffer : call.Buffers()) {
    for (size_t done = 0; done < buffer.iov_len; done += kOutputPieceBytes) {
      auto piece = call.Read(reinterpret_cast<uint64_t>(buffer.iov_base) + done,
                             std::min(kOutputPieceBytes, buffer.iov_len - done));
      if (!call.IsWaiting()) return Handled::kAnswered;
      if (!piece && taken == 0)
        return Handled::kNotMine;  // not mapped: the kernel reports the error
      if (!piece) return AnswerWrite(call, taken);
      taken += static_cast<int64_t>(piece->size());
      output_.Feed(replica_.number, stream, *std::move(piece));
    }
  }
  return taken == 0 ? Handled::kNotMine : AnswerWrite(call, taken);
}

Handled WatchedOutput::AnswerWrite(const WatchedCall& call, int64_t taken) {
  if (watcher_.OutputSeen(replica_.key) == ReplicaWatcher::Answer::kNever) return Handled::kNever;
  call.Return(taken);
  return Handled::kAnswered;
}

}  // namespace caip::host
