// How the side store writes staged changes to disk: threads share a transaction and its sync.

#include <semaphore.h>

#include <algorithm>
#include <utility>

#include "fakes/gcs/store/side_store.h"
#include "fakes/gcs/store/side_tables.h"

namespace caip::gcs {

// A thread that waits for a commit. Wake is the last call.
struct SideStore::Waiter {
  Waiter(uint64_t count, const std::function<void()>& finish_it)
      : wanted(count), finish(finish_it) {
    ::sem_init(&woken_, 0, 0);
  }
  ~Waiter() { ::sem_destroy(&woken_); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void Wait() {
    while (::sem_wait(&woken_) != 0) {
    }
  }
  void Wake() { ::sem_post(&woken_); }

  const uint64_t wanted;  // the staged_count_ that it waits for
  const std::function<void()>& finish;
  bool is_committed = false;
  bool is_finished = false;  // `finish` has been called

 private:
  sem_t woken_;  // POSIX allows to destroy it as soon as the wait has ended
};

// The first thread commits for all threads that are waiting. Those that stage changes meanwhile
// sleep until it has ended. Then one of them wakes and commits, while the first thread finishes the
// work of the others, if it has such work itself.
Status SideStore::Flush(const std::function<void()>& finish) {
  return FlushStaged(nullptr, finish);
}

Status SideStore::FlushOr(const ObjectState& otherwise, const std::function<void()>& finish) {
  return FlushStaged(&otherwise, finish);
}

Status SideStore::FlushStaged(const ObjectState* otherwise, const std::function<void()>& finish) {
  std::unique_lock lock(mutex_);
  const uint64_t wanted = staged_count_;
  while (flushed_count_ < wanted && flushing_) {
    Waiter waiter(wanted, finish);
    waiters_.push_back(&waiter);
    lock.unlock();
    waiter.Wait();
    if (waiter.is_committed) {
      if (finish && !waiter.is_finished) finish();
      return Ok{};
    }
    lock.lock();
  }
  if (flushed_count_ < wanted) return WriteStaged(lock, otherwise, finish);
  lock.unlock();
  if (finish) finish();
  return Ok{};
}

Status SideStore::WriteStaged(std::unique_lock<std::mutex>& lock, const ObjectState* otherwise,
                              const std::function<void()>& finish) {
  flushing_ = true;
  TakeStaged();
  const uint64_t reached = staged_count_;
  const int64_t last_generation = last_generation_;
  lock.unlock();
  const Status status = Write(writing_, last_generation);
  lock.lock();
  if (status.ok()) {
    flushed_count_ = reached;
  } else {
    PutBack(std::move(writing_));
    if (otherwise) StageInstead(*otherwise);
  }
  const Batch written = std::exchange(writing_, {});
  flushing_ = false;
  const auto later = std::stable_partition(waiters_.begin(), waiters_.end(),
                                           [&](const Waiter* w) { return w->wanted <= reached; });
  const std::vector<Waiter*> done(waiters_.begin(), later);
  waiters_.erase(waiters_.begin(), later);
  Waiter* const next = waiters_.empty() ? nullptr : waiters_.front();
  if (next) waiters_.erase(waiters_.begin());
  lock.unlock();  // else each thread that wakes would wait for the mutex at once
  if (next) next->Wake();
  ReleaseWaiters(done, status.ok(), static_cast<bool>(finish));
  if (status.ok() && finish) finish();
  return status;
}

// The caller holds the mutex.
void SideStore::TakeStaged() {
  writing_ = std::exchange(staged_, {});
  for (const ObjectKey& key : held_) {
    if (auto held = writing_.objects.extract(key)) staged_.objects.insert(std::move(held));
  }
}

// A thread without work to finish may hold a bucket's lock, for which the work of others waits. So
// it finishes nothing for them, and goes before them. After a failure, each tries itself.
void SideStore::ReleaseWaiters(const std::vector<Waiter*>& waiters, bool is_committed,
                               bool finishes) {
  std::vector<Waiter*> with_work;
  for (Waiter* const waiter : waiters) {
    waiter->is_committed = is_committed;
    if (finishes && is_committed && waiter->finish) {
      with_work.push_back(waiter);
    } else {
      waiter->Wake();
    }
  }
  for (Waiter* const waiter : with_work) {
    waiter->finish();
    waiter->is_finished = true;
    waiter->Wake();
  }
}

// Stages the records of a failed write again, unless newer ones are staged.
void SideStore::PutBack(Batch failed) {
  const auto is_removed = [&](const std::string& bucket) {
    return staged_.removed_buckets.contains(bucket);
  };
  for (auto& [key, object] : failed.objects) {
    if (!is_removed(key.first)) staged_.objects.try_emplace(key, object);
  }
  for (auto& [key, version] : failed.versions) {
    if (!is_removed(std::get<0>(key))) staged_.versions.try_emplace(key, version);
  }
  for (auto& [name, bucket] : failed.buckets) {
    if (!is_removed(name)) staged_.buckets.try_emplace(name, bucket);
  }
  staged_.removed_buckets.merge(failed.removed_buckets);
  staged_.small.merge(failed.small);
  staged_.commits.merge(failed.commits);
  staged_.synced = std::max(staged_.synced, failed.synced);
}

// The caller holds the mutex. If the object has nothing staged, its bucket was removed meanwhile.
void SideStore::StageInstead(const ObjectState& otherwise) {
  const auto staged = staged_.objects.find({otherwise.bucket, otherwise.name});
  if (staged == staged_.objects.end()) return;
  const RecordPtr refused = std::exchange(staged->second, otherwise.record);
  std::erase_if(staged_.small, [&](const auto& item) { return item.second.record == refused; });
  if (otherwise.record) {
    known_objects_.Put(otherwise.record);
  } else {
    known_objects_.Forget(otherwise.bucket, otherwise.name);
  }
  ++staged_count_;
}

Status SideStore::Write(const Batch& batch, int64_t last_generation) {
  Writer& writer = *writer_;
  RETURN_IF_ERROR(writer.database.Run("BEGIN IMMEDIATE"));
  bool ok = true;
  for (const std::string& name : batch.removed_buckets) {
    ok = ok && Writer::Run(writer.remove_bucket.Bind(1, name)) &&
         Writer::Run(writer.remove_objects.Bind(1, name)) &&
         Writer::Run(writer.remove_versions.Bind(1, name));
  }
  for (const auto& [name, bucket] : batch.buckets) {
    ok = ok && Writer::Run(writer.put_bucket.Bind(1, name).Bind(2, BucketRecordText(bucket)));
  }
  for (const auto& [key, object] : batch.objects) {
    ok = ok && (object ? writer.Put(*object)
                       : Writer::Run(writer.remove_object.Bind(1, key.first).Bind(2, key.second)));
  }
  for (const auto& [key, version] : batch.versions) {
    const auto& [bucket, name, generation] = key;
    ok = ok && (version ? writer.PutVersion(*version)
                        : Writer::Run(writer.remove_version.Bind(1, bucket).Bind(2, name).Bind(
                              3, generation)));
  }
  for (const auto& [sequence, small] : batch.small) {
    ok = ok && writer.PutSmall(sequence, *small.record, small.bytes);
  }
  for (const auto& [generation, commit] : batch.commits) {
    ok = ok && (commit ? writer.PutCommit(*commit)
                       : Writer::Run(writer.remove_commit.Bind(1, generation)));
  }
  if (batch.synced > 0) {
    ok = ok && Writer::Run(writer.remove_small.Bind(1, static_cast<int64_t>(batch.synced)));
  }
  ok = ok && Writer::Run(writer.put_counter.Bind(1, "generation").Bind(2, last_generation)) &&
       Writer::Run(writer.put_counter.Bind(1, "boot").Bind(2, boot_));
  Status status = ok ? writer.database.Run("COMMIT") : Status(writer.database.LastFailure());
  if (!status.ok()) (void)writer.database.Run("ROLLBACK");
  return status;
}

}  // namespace caip::gcs
