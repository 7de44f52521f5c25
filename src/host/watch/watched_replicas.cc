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

/// To the kernel; but io_uring would write behind our back, and programs that know it can do
/// without.
void Leave(const WatchedCall& call) {
  call.number() == SYS_io_uring_setup ? call.Fail(ENOSYS) : call.GoOn();
}

}  // namespace

WatchedReplicas::~WatchedReplicas() {
  std::unique_lock lock(mutex_);
  std::vector<engine::ReplicaKey> left;
  for (auto& [number, entry] : entries_) {
    if (!entry.thread.joinable()) continue;
    left.push_back(entry.replica.key);
    entry.calls->End();
  }
  lock.unlock();
  for (const engine::ReplicaKey& key : left) watcher_.Gone(key);
  lock.lock();
  std::erase_if(entries_, [](const auto& item) { return !item.second.thread.joinable(); });
  changed_.wait(lock, [this] { return entries_.empty(); });
  lock.unlock();
  JoinParted();
}

Result<uint32_t> WatchedReplicas::Admit(uint64_t number, engine::ReplicaLaunch& launch, int out,
                                        int err) {
  JoinParted();
  const auto out_file = IdentifyFile("/proc/self/fd/" + std::to_string(out));
  const auto err_file = IdentifyFile("/proc/self/fd/" + std::to_string(err));
  if (!out_file || !err_file) return SystemError("cannot look at a pipe", errno);
  {
    const std::lock_guard lock(mutex_);
    entries_[number].replica = {number, launch.key, launch.watch, *out_file, *err_file};
  }
  const bool files = watcher_.looks() || !launch.watch.roots.empty();
  if (interposition_ == Interposition::Kind::kPreload) {
    ASSIGN_OR_RETURN(PreloadedWatch preloaded, WatchByPreload(files));
    AddTo(launch.environment, preloaded);
    Listen(number, std::move(preloaded.calls), 0);
    return 0u;
  }
  return (launch.watch.output ? launcher::kWatchOutput : 0) | (files ? launcher::kWatchFiles : 0);
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
  engine::ReplicaKey key;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(number);
    if (found != entries_.end() && found->second.thread.joinable()) {
      found->second.done = std::exchange(done, {});
      found->second.calls->End();
      key = found->second.replica.key;
    } else if (found != entries_.end()) {
      entries_.erase(found);  // it never came to life
    }
  }
  if (done) return done();
  watcher_.Gone(key);
}

void WatchedReplicas::TellOfSight(const WatchedCall& call, const engine::ReplicaKey& key) const {
  if (const auto sight = SightOf(call)) watcher_.Seen(key, *sight);
}

/// The replica's thread, until all its processes are dead.
void WatchedReplicas::Serve(Entry& entry) {
  const WatchedReplica& replica = entry.replica;
  WatchedOutput output(replica, output_, watcher_);
  std::optional<WatchedFiles> files;
  std::unique_ptr<HeardCall> unanswered;  // and so are all behind it
  while (entry.calls->Wait(!unanswered)) {
    auto heard = entry.calls->Receive();
    if (!heard) continue;  // killed while it waited
    const WatchedCall call(heard->facts, *heard->path);
    if (!files) {
      const pid_t init = entry.init != 0 ? entry.init : InitOf(call);
      files.emplace(replica.key, replica.watch.roots, init, watcher_);
    }
    Handled handled = replica.watch.output ? output.Handle(call) : Handled::kNotMine;
    if (handled == Handled::kNotMine && watcher_.looks()) TellOfSight(call, replica.key);
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
    // Not told yet: its exit is still to come, and finds nothing here that it would wait for.
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
