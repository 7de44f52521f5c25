#include "host/watched_replicas.h"

#include <poll.h>
#include <sys/syscall.h>

#include <cerrno>
#include <utility>

#include "host/watched_files.h"
#include "host/watched_output.h"

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
    if (entry.thread.joinable()) left.push_back(entry.replica.key);
  }
  lock.unlock();
  for (const engine::ReplicaKey& key : left) watcher_.Gone(key);
  lock.lock();
  std::erase_if(entries_, [](const auto& item) { return !item.second.thread.joinable(); });
  changed_.wait(lock, [this] { return entries_.empty(); });
  lock.unlock();
  JoinParted();
}

void WatchedReplicas::Expect(WatchedReplica replica) {
  JoinParted();
  const std::lock_guard lock(mutex_);
  entries_[replica.number].replica = std::move(replica);
}

void WatchedReplicas::Listen(uint64_t number, Fd listener, pid_t init) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return;
  Entry& entry = found->second;  // stays where it is until its thread has parted
  entry.listener = std::move(listener);
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
      key = found->second.replica.key;
    } else if (found != entries_.end()) {
      entries_.erase(found);  // it never came to life
    }
  }
  if (done) return done();
  watcher_.Gone(key);
}

/// The replica's thread, until all its processes are dead.
void WatchedReplicas::Serve(Entry& entry) {
  const int listener = entry.listener.get();
  const WatchedReplica& replica = entry.replica;
  WatchedOutput output(replica, output_, watcher_);
  WatchedFiles files(replica.key, replica.watch.roots, entry.init, watcher_);
  bool answers = true;
  for (;;) {
    pollfd calls{listener, static_cast<short>(answers ? POLLIN : 0), 0};
    if (::poll(&calls, 1, -1) < 0) continue;
    if (answers && (calls.revents & POLLIN)) {
      const auto notice = ReceiveCall(listener);
      if (!notice) continue;  // killed while it waited
      const WatchedCall call(listener, *notice);
      Handled handled = replica.watch.output ? output.Handle(call) : Handled::kNotMine;
      if (handled == Handled::kNotMine) handled = files.Handle(call);
      if (handled == Handled::kNotMine) Leave(call);
      answers = handled != Handled::kNever;
    } else if (calls.revents & (POLLHUP | POLLERR | POLLNVAL)) {
      return;
    }
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
