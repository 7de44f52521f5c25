#include "fakes/logging/book/log_book.h"

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "fakes/logging/book/errors.h"

namespace caip::logging {
namespace {

constexpr std::chrono::milliseconds kBetweenCommits{20};
constexpr std::chrono::milliseconds kBetweenAttempts{200};  // while the disk is full
constexpr size_t kCommitBytes = 4u << 20;                   // enough to commit at once

size_t CountBytes(const std::vector<Entry>& entries) {
  size_t bytes = 0;
  for (const Entry& entry : entries) bytes += sizeof entry + entry.message.size();
  return bytes;
}

bool IsDeleted(const JobLogNames& names, const Entry& entry, const DeletedLogs& deleted) {
  if (deleted.empty()) return false;
  const auto found =
      deleted.find({ProjectParent(entry.project), LogIdOfTask(names, entry.task, entry.job_id)});
  return found != deleted.end() && entry.insert_id <= found->second.last_id;
}

bool IsSelected(const Entry& entry, const EntryQuery& query) {
  return entry.insert_id > query.after_id && entry.timestamp >= query.from &&
         entry.timestamp < query.until && (query.task.empty() || entry.task == query.task) &&
         (!query.matches || query.matches(entry));
}

Status ReadEntries(LogFile& file, const EntryQuery& query, std::vector<Entry>& found) {
  ASSIGN_OR_RETURN(const DeletedLogs deleted, ReadDeleted(file));
  std::optional<Error> damage;
  const ChunkQuery chunks{query.project, query.job_id, query.after_id,
                          query.from,    query.until,  query.newest_first};
  RETURN_IF_ERROR(file.ReadChunks(chunks, [&](const Chunk& chunk) {
    std::vector<Entry> entries;
    if (!Unpack(chunk, entries)) {
      damage = errors::ChunkDamaged(file.path(), chunk.first_id);
      return false;
    }
    if (query.newest_first) std::reverse(entries.begin(), entries.end());
    for (Entry& entry : entries) {
      if (!IsSelected(entry, query) || IsDeleted(file.names(), entry, deleted)) continue;
      found.push_back(std::move(entry));
      if (found.size() == query.limit) return false;
    }
    return true;
  }));
  return damage ? Status(*damage) : Status(Ok{});
}

}  // namespace

Result<std::unique_ptr<LogBook>> LogBook::Open(const Path& path, const JobLogNames& names) {
  ASSIGN_OR_RETURN(LogFile file, OpenLogFile(path, names));
  ASSIGN_OR_RETURN(const uint64_t last_id, file.LastInsertId());
  ASSIGN_OR_RETURN(const int64_t last_written, LastWrittenId(file));
  return std::unique_ptr<LogBook>(new LogBook(std::move(file), last_id, last_written));
}

LogBook::LogBook(LogFile file, uint64_t last_id, int64_t last_written)
    : file_(std::move(file)),
      packer_(last_id),
      last_written_(last_written),
      readers_(file_.path(), file_.names()),
      next_insert_id_(static_cast<uint64_t>(last_written) + 1) {
  thread_ = std::thread([this] { RunStoring(); });
}

LogBook::~LogBook() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  retry_.notify_all();
  thread_.join();
}

void LogBook::Append(std::vector<Entry> entries) {
  if (entries.empty()) return;
  const size_t bytes = CountBytes(entries);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return waiting_bytes_ < kWaitingBytesMax; });
  const bool was_empty = queue_.empty();
  const bool was_below_commit = waiting_bytes_ < kCommitBytes;
  waiting_bytes_ += bytes;
  queued_bytes_ += bytes;
  ++appended_;
  ++queue_.calls;
  queue_.entries.push_back(std::move(entries));
  lock.unlock();
  if (was_empty || was_below_commit) work_.notify_one();
}

Status LogBook::Write(std::vector<WrittenEntry> entries) {
  return StoreAtOnce([&](Batch& batch) {
    std::move(entries.begin(), entries.end(), std::back_inserter(batch.written));
  });
}

std::string LogBook::NewInsertId() { return WrittenInsertIdText(next_insert_id_++); }

Status LogBook::DeleteLog(const LogKey& log) {
  ASSIGN_OR_RETURN(const bool exists, readers_.With([&](LogFile& file) -> Result<bool> {
    ASSIGN_OR_RETURN(const auto ids, ReadLogIds(file, log.parent, log.log_id, 1, true));
    return !ids.empty() && ids.front() == log.log_id;
  }));
  if (!exists) return errors::LogNotFound(log.log_id);
  return StoreAtOnce([&](Batch& batch) { batch.deletions.push_back(log); });
}

Status LogBook::DeleteJob(const std::string& project, const std::string& job_id) {
  return StoreAtOnce([&](Batch& batch) { batch.deleted_jobs.emplace_back(project, job_id); });
}

Status LogBook::Flush() {
  std::unique_lock lock(mutex_);
  return WaitUntilStored(lock, appended_);
}

bool LogBook::IsStored(std::function<void()> stored) {
  const std::lock_guard lock(mutex_);
  if (stored_ >= appended_) return true;
  flush_to_ = appended_;
  awaiting_.push_back({appended_, std::move(stored)});
  work_.notify_one();
  return false;
}

Result<ListPage> LogBook::List(const ListQuery& query) const {
  return readers_.With([&](LogFile& file) { return ListEntries(file, query); });
}

Result<std::vector<std::string>> LogBook::LogIds(const std::string& parent,
                                                 const std::string& after, size_t limit) const {
  return readers_.With(
      [&](LogFile& file) { return ReadLogIds(file, parent, after, limit, false); });
}

Result<std::vector<Entry>> LogBook::Query(const EntryQuery& query) const {
  std::vector<Entry> found;
  if (query.limit == 0) return found;
  const Status read = readers_.With([&](LogFile& file) {
    return file.ReadSnapshot([&] { return ReadEntries(file, query, found); });
  });
  if (!read.ok()) return read.error();
  return found;
}

bool LogBook::WaitForMore(const std::string& project, const std::string& job_id, uint64_t after_id,
                          std::chrono::milliseconds timeout,
                          const std::function<bool()>& other) const {
  const auto deadline = MonotonicNow() + timeout;
  const JobKey job(project, job_id);
  std::unique_lock lock(mutex_);
  Followed& followed = followed_[job];  // from here on, Announce() keeps the last id
  ++followed.followers;
  lock.unlock();
  const uint64_t in_file = LastIdInFile(job);
  lock.lock();
  followed.last_id = std::max(followed.last_id, in_file);
  more_.wait_until(lock, deadline,
                   [&] { return followed.last_id > after_id || (other && other()); });
  const bool more = followed.last_id > after_id;
  if (--followed.followers == 0) followed_.erase(job);
  return more;
}

uint64_t LogBook::WaitForChange(uint64_t seen, std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  more_.wait_for(lock, timeout, [&] { return stored_ != seen; });
  return stored_;
}

void LogBook::WakeFollowers() const {
  { const std::lock_guard lock(mutex_); }  // no follower is between its check and its wait
  more_.notify_all();
}

uint64_t LogBook::LastIdInFile(const JobKey& job) const {
  const auto last =
      readers_.With([&](LogFile& file) { return file.LastOfJob(job.first, job.second); });
  return last.ok() ? last->id : 0;
}

/// Adds to the batch and waits until that is stored.
Status LogBook::StoreAtOnce(const std::function<void(Batch&)>& add) {
  std::unique_lock lock(mutex_);
  ++appended_;
  ++queue_.calls;
  add(queue_);
  return WaitUntilStored(lock, appended_);
}

Status LogBook::WaitUntilStored(std::unique_lock<std::mutex>& lock, uint64_t wanted) {
  const uint64_t failures = failures_;
  flush_to_ = std::max(flush_to_, wanted);
  work_.notify_one();
  done_.wait(lock, [&] { return stored_ >= wanted || failures_ > failures; });
  return stored_ >= wanted ? Status(Ok{}) : health_;
}

void LogBook::RunStoring() {
  std::unique_lock lock(mutex_);
  for (;;) {
    WaitForBatch(lock);
    if (queue_.empty()) return;
    const Batch batch = std::exchange(queue_, {});
    const size_t bytes = std::exchange(queued_bytes_, 0);
    lock.unlock();
    last_commit_ = MonotonicNow();
    const bool stored = StoreBatch(batch);
    lock.lock();
    if (!stored) return;
    waiting_bytes_ -= bytes;
    stored_ += batch.calls;
    done_.notify_all();
    more_.notify_all();
    CallAwaiting(lock);
  }
}

void LogBook::CallAwaiting(std::unique_lock<std::mutex>& lock) {
  while (!awaiting_.empty() && awaiting_.front().calls <= stored_) {
    const std::function<void()> stored = std::move(awaiting_.front().stored);
    awaiting_.pop_front();
    lock.unlock();
    stored();
    lock.lock();
  }
}

/// Waits until a batch is due, and purges while there is none. Leaves the queue empty only when the
/// book is being closed.
void LogBook::WaitForBatch(std::unique_lock<std::mutex>& lock) {
  while (purging_ && queue_.empty() && !stopping_) {
    lock.unlock();
    Purge();
    lock.lock();
  }
  work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  if (queue_.empty()) return;
  work_.wait_until(lock, last_commit_ + kBetweenCommits, [this] {
    return stopping_ || queued_bytes_ >= kCommitBytes || flush_to_ > stored_;
  });
}

/// Tries until it succeeds. False: the book is being closed and the disk is still full.
bool LogBook::StoreBatch(const Batch& batch) {
  for (;;) {
    const auto chunks = packer_.Pack(batch.entries, [this](const auto& project, const auto& job) {
      return file_.LastOfJob(project, job);
    });
    const Status status =
        chunks.ok() ? file_.Write([&] { return PutBatch(batch, *chunks); }) : chunks.error();
    if (status.ok()) {
      last_written_ += static_cast<int64_t>(batch.written.size());
      packer_.MarkStored(*chunks);
      Announce(*chunks);
      return true;
    }
    known_logs_.Forget();
    std::unique_lock lock(mutex_);
    health_ = status;
    ++failures_;
    done_.notify_all();
    if (stopping_) return false;
    retry_.wait_for(lock, kBetweenAttempts);
  }
}

// Inside file_.Write.
Status LogBook::PutBatch(const Batch& batch, const std::vector<Chunk>& chunks) {
  uint64_t last_id = packer_.last_id();
  int64_t last_written = last_written_;
  for (const Chunk& chunk : chunks) {
    RETURN_IF_ERROR(file_.InsertChunk(chunk));
    RETURN_IF_ERROR(known_logs_.RecordLogsOf(file_, chunk));
    last_id = chunk.last_id;
  }
  for (const WrittenEntry& entry : batch.written) {
    RETURN_IF_ERROR(InsertWritten(file_, ++last_written, entry));
    RETURN_IF_ERROR(known_logs_.Record(file_, {entry.parent, entry.log_id}));
  }
  for (const LogKey& log : batch.deletions) {
    RETURN_IF_ERROR(MarkDeleted(file_, log, {last_id, last_written}));
    known_logs_.Forget();
    purging_ = true;
  }
  for (const auto& [project, job_id] : batch.deleted_jobs) {
    RETURN_IF_ERROR(RemoveJob(file_, project, job_id, {last_id, last_written}));
    known_logs_.Forget();
  }
  return Ok{};
}

void LogBook::Purge() {
  const auto more = purge_.Step(file_);
  purging_ = more.ok() && *more;  // after a failure the next start continues
}

void LogBook::Announce(const std::vector<Chunk>& chunks) {
  const std::lock_guard lock(mutex_);
  health_ = Ok{};
  if (followed_.empty()) return;
  for (const Chunk& chunk : chunks) {
    const auto followed = followed_.find({chunk.project, chunk.job_id});
    if (followed != followed_.end()) followed->second.last_id = chunk.last_id;
  }
}

}  // namespace caip::logging
