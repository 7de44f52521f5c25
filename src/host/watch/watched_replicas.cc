#include "host/watch/watched_replicas.h"

#include <sys/syscall.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "host/launcher/protocol.h"
#include "host/watch/file_sights.h"
#include "host/watch/preloaded_calls.h"
#include "host/watch/watched_files.h"
#include "host/watch/watched_output.h"
#include "host/watch/watched_process.h"

namespace caip::host {
namespace {

/// Hands the call to the kernel, except io_uring, which would write unseen; programs that know it
/// can do without.
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
    entry.calls->End();
  }
  lock.unlock();
  for (const auto& [watcher, key] : left) watcher->Gone(key);
  lock.lock();
  std::erase_if(entries_, [](const auto& item) { return !item.second.thread.joinable(); });
  changed_.wait(lock, [this] { return entries_.empty(); });
  lock.unlock();
  JoinParted();
}

Result<uint32_t> WatchedReplicas::Admit(uint64_t number, const Watching& watching,
                                        engine::ReplicaLaunch& launch, int out, int err) {
  JoinParted();
  const auto out_file = IdentifyFile("/proc/self/fd/" + std::to_string(out));
  const auto err_file = IdentifyFile("/proc/self/fd/" + std::to_string(err));
  if (!out_file || !err_file) return SystemError("cannot look at a pipe", errno);
  {
    const std::lock_guard lock(mutex_);
    entries_[number].replica = {number, launch.key, watching, *out_file, *err_file};
  }
  const bool files = watching.watcher->looks() || !watching.watch.roots.empty();
  if (interposition_ == Interposition::Kind::kPreload) {
    ASSIGN_OR_RETURN(PreloadedWatch preloaded, WatchByPreload(files));
    AddTo(launch.environment, preloaded);
    Listen(number, std::move(preloaded.calls), 0);
    return 0u;
  }
  return (watching.watch.output ? launcher::kWatchOutput : 0) | (files ? launcher::kWatchFiles : 0);
}

void WatchedReplicas::Listen(uint64_t number, std::unique_ptr<CallSource> calls, pid_t init) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return;
  Entry& entry = found->second;  // stays where it is until its thread has parted
  entry.calls = std::move(calls);
  entry.init = init;
  entry.thread = std::thread([this, &entry] {
    Serve(entry);
    Part(entry.replica.number);
  });
}

void WatchedReplicas::Finish(uint64_t number, std::function<void()> done) {
  WatchedReplica replica;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(number);
    if (found != entries_.end() && found->second.thread.joinable()) {
      found->second.done = std::exchange(done, {});
      found->second.calls->End();
      replica = found->second.replica;
    } else if (found != entries_.end()) {
      entries_.erase(found);  // it never came to life
    }
  }
  if (done) return done();
  replica.watching.watcher->Gone(replica.key);
}

/// The replica's thread, until all its processes are dead.
void WatchedReplicas::Serve(Entry& entry) {
  const WatchedReplica& replica = entry.replica;
  const ReplicaWatch& watch = replica.watching.watch;
  ReplicaWatcher& watcher = *replica.watching.watcher;
  WatchedOutput output(replica, output_, watcher);
  std::optional<WatchedFiles> files;
  std::unique_ptr<HeardCall> unanswered;  // and so are all later calls
  while (entry.calls->Wait(!unanswered)) {
    auto heard = entry.calls->Receive();
    if (!heard) continue;  // killed while it waited
    const WatchedCall call(heard->facts, *heard->path);
    if (!files) {
      const pid_t init = entry.init != 0 ? entry.init : InitOf(call);
      files.emplace(replica.key, watch.roots, init, watcher);
    }
    Handled handled = watch.output ? output.Handle(call) : Handled::kNotMine;
    if (handled == Handled::kNotMine && watcher.looks()) {
      if (const auto sight = SightOf(call)) watcher.Seen(replica.key, *sight);
    }
    if (handled == Handled::kNotMine) handled = files->Handle(call);
    if (handled == Handled::kNotMine) Leave(call);
    if (handled == Handled::kNever) unanswered = std::move(heard);
  }
}

void WatchedReplicas::Part(uint64_t number) {
  std::function<void()> done;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(number);
    done = std::move(found->second.done);
    // Without `done` the exit is still to come, and then finds nothing here to wait for.
    parted_.push_back(std::move(found->second.thread));
    entries_.erase(found);
    changed_.notify_all();
  }
  if (done) done();
}

void WatchedReplicas::JoinParted() {
  std::vector<std::thread> parted;
  {
    const std::lock_guard lock(mutex_);
    parted.swap(parted_);
  }
  for (std::thread& thread : parted) thread.join();
}

}  // namespace caip::host
