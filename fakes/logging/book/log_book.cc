#include "fakes/logging/book/log_book.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/json.h"
#include "fakes/logging/book/chunk_packer.h"
#include "fakes/logging/book/entry_text.h"
#include "fakes/logging/book/errors.h"
#include "fakes/logging/book/log_file.h"
#include "fakes/logging/book/log_purge.h"
#include "fakes/logging/book/log_readers.h"

namespace caip::logging {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenCommits{20};
constexpr std::chrono::milliseconds kBetweenAttempts{200};  // while the disk is full
constexpr size_t kCommitBytes = 4u << 20;                   // then no waiting for more

size_t BytesOf(const std::vector<Entry>& entries) {
  size_t bytes = 0;
  for (const Entry& entry : entries) bytes += sizeof entry + entry.message.size();
  return bytes;
}

}  // namespace

/// What is to be done to the file, in one go.
struct Batch {
  std::deque<std::vector<Entry>> entries;
  std::vector<WrittenEntry> written;
  std::vector<LogKey> deletions;
  uint64_t calls = 0;  // whose work it is

  bool empty() const { return calls == 0; }
};

/// The queue and the storing thread.
class LogBook::Core {
 public:
  Core(LogFile writing, uint64_t last_id, int64_t last_written)
      : file_(std::move(writing)),
        readers_(file_.path()),
        packer_(last_id),
        last_written_(last_written),
        next_insert_id_(static_cast<uint64_t>(last_written) + 1) {
    writer_ = std::thread([this] { Store(); });
  }

  ~Core() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    retry_.notify_all();
    writer_.join();
  }

  void Append(std::vector<Entry> entries) {
    if (entries.empty()) return;
    const size_t bytes = BytesOf(entries);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return waiting_bytes_ < kWaitingBytesMax; });
    const bool was_empty = queue_.empty();
    const bool was_little = waiting_bytes_ < kCommitBytes;
    waiting_bytes_ += bytes;
    queued_bytes_ += bytes;
    ++appended_;
    ++queue_.calls;
    queue_.entries.push_back(std::move(entries));
    lock.unlock();
    if (was_empty || was_little) work_.notify_one();
  }

  Status Write(std::vector<WrittenEntry> entries) {
    return StoreAtOnce([&](Batch& batch) {
      std::move(entries.begin(), entries.end(), std::back_inserter(batch.written));
    });
  }

  Status DeleteLog(const LogKey& log) {
    ASSIGN_OR_RETURN(const bool is_there, readers_.With([&](LogFile& file) -> Result<bool> {
      ASSIGN_OR_RETURN(const auto ids, ReadLogIds(file, log.parent, log.log_id, 1, true));
      return !ids.empty() && ids.front() == log.log_id;
    }));
    if (!is_there) return errors::LogNotFound(log.log_id);
    return StoreAtOnce([&](Batch& batch) { batch.deletions.push_back(log); });
  }

  std::string NewInsertId() { return WrittenInsertIdText(next_insert_id_++); }

  Status Flush() {
    std::unique_lock lock(mutex_);
    return WaitUntilStored(lock, appended_);
  }

  Status Health() const {
    const std::lock_guard lock(mutex_);
    return health_;
  }

  Result<std::vector<Entry>> Query(const EntryQuery& query) const {
    std::vector<Entry> found;
    if (query.limit == 0) return found;
    const Status read = readers_.With([&](LogFile& file) {
      return file.ReadAtOnce([&] { return ReadEntries(file, query, found); });
    });
    if (!read.ok()) return read.error();
    return found;
  }

  Result<ListPage> List(const ListQuery& query) const {
    return readers_.With([&](LogFile& file) { return ListEntries(file, query); });
  }

  Result<std::vector<std::string>> LogIds(const std::string& parent, const std::string& after,
                                          size_t limit) const {
    return readers_.With(
        [&](LogFile& file) { return ReadLogIds(file, parent, after, limit, false); });
  }

  uint64_t WaitForChange(uint64_t seen, std::chrono::milliseconds timeout) const {
    std::unique_lock lock(mutex_);
    more_.wait_until(lock, steady_clock::now() + timeout, [&] { return stored_ != seen; });
    return stored_;
  }

  bool WaitForMore(const std::string& project, const std::string& job_id, uint64_t after_id,
                   std::chrono::milliseconds timeout, const std::function<bool()>& other) const {
    const auto deadline = steady_clock::now() + timeout;
    std::unique_lock lock(mutex_);
    const auto job = std::pair(project, job_id);
    if (!last_ids_.count(job)) {  // nothing stored since we opened the file
      lock.unlock();
      const uint64_t in_file = LastIdInFile(project, job_id);
      lock.lock();
      last_ids_.try_emplace(job, in_file);
    }
    const uint64_t& last_id = last_ids_.at(job);
    more_.wait_until(lock, deadline, [&] { return last_id > after_id || (other && other()); });
    return last_id > after_id;
  }

  void WakeFollowers() const {
    { const std::lock_guard lock(mutex_); }  // nobody is between the look and the wait
    more_.notify_all();
  }

 private:
  static Status ReadEntries(LogFile& file, const EntryQuery& query, std::vector<Entry>& found) {
    ASSIGN_OR_RETURN(const DeletedLogs deleted, ReadDeleted(file));
    std::optional<Error> damage;
    const ChunkQuery chunks{query.project, query.job_id, query.after_id,
                            query.from,    query.until,  query.newest_first};
    RETURN_IF_ERROR(file.Read(chunks, [&](const Chunk& chunk) {
      std::vector<Entry> entries;
      if (!Unpack(chunk, entries)) {
        damage = errors::ChunkDamaged(file.path(), chunk.first_id);
        return false;
      }
      if (query.newest_first) std::reverse(entries.begin(), entries.end());
      for (Entry& entry : entries) {
        if (IsAskedFor(entry, query, deleted)) found.push_back(std::move(entry));
        if (found.size() == query.limit) return false;
      }
      return true;
    }));
    return damage ? Status(*damage) : Status(Ok{});
  }

  static bool IsAskedFor(const Entry& entry, const EntryQuery& query, const DeletedLogs& deleted) {
    return entry.insert_id > query.after_id && entry.timestamp >= query.from &&
           entry.timestamp < query.until && (query.task.empty() || entry.task == query.task) &&
           !IsDeleted(entry, deleted) && (!query.matches || query.matches(entry));
  }

  static bool IsDeleted(const Entry& entry, const DeletedLogs& deleted) {
    if (deleted.empty()) return false;
    const auto found =
        deleted.find({ParentOfProject(entry.project), LogIdOfTask(entry.task, entry.job_id)});
    return found != deleted.end() && entry.insert_id <= found->second.last_id;
  }

  uint64_t LastIdInFile(const std::string& project, const std::string& job_id) const {
    const auto last = readers_.With([&](LogFile& file) { return file.Last(project, job_id); });
    return last.ok() ? last->id : 0;
  }

  /// Adds to the batch and waits until that is stored.
  Status StoreAtOnce(const std::function<void(Batch&)>& add) {
    std::unique_lock lock(mutex_);
    ++appended_;
    ++queue_.calls;
    add(queue_);
    return WaitUntilStored(lock, appended_);
  }

  Status WaitUntilStored(std::unique_lock<std::mutex>& lock, uint64_t wanted) {
    const uint64_t failures = failures_;
    flush_to_ = std::max(flush_to_, wanted);
    work_.notify_one();
    done_.wait(lock, [&] { return stored_ >= wanted || failures_ > failures; });
    return stored_ >= wanted ? Status(Ok{}) : health_;
  }

  /// The storing thread.
  void Store() {
    steady_clock::time_point last_commit{};
    std::unique_lock lock(mutex_);
    for (;;) {
      if (purging_ && queue_.empty() && !stopping_) {
        lock.unlock();
        Purge();
        lock.lock();
        continue;
      }
      work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      work_.wait_until(lock, last_commit + kBetweenCommits, [this] {
        return stopping_ || queued_bytes_ >= kCommitBytes || flush_to_ > stored_;
      });
      const Batch batch = std::exchange(queue_, {});
      const size_t bytes = std::exchange(queued_bytes_, 0);
      lock.unlock();
      last_commit = steady_clock::now();
      const bool stored = StoreBatch(batch);
      lock.lock();
      if (!stored) return;
      waiting_bytes_ -= bytes;
      stored_ += batch.calls;
      done_.notify_all();
      more_.notify_all();
    }
  }

  /// Tries until it succeeds. False: the book is being closed and the disk is still full.
  bool StoreBatch(const Batch& batch) {
    for (;;) {
      const auto chunks = packer_.Pack(batch.entries, [this](const auto& project, const auto& job) {
        return file_.Last(project, job);
      });
      const Status status =
          chunks.ok() ? file_.Write([&] { return PutBatch(batch, *chunks); }) : chunks.error();
      if (status.ok()) {
        last_written_ += static_cast<int64_t>(batch.written.size());
        packer_.Stored(*chunks);
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
  Status PutBatch(const Batch& batch, const std::vector<Chunk>& chunks) {
    uint64_t last_id = packer_.last_id();
    int64_t last_written = last_written_;
    for (const Chunk& chunk : chunks) {
      RETURN_IF_ERROR(file_.Insert(chunk));
      RETURN_IF_ERROR(known_logs_.NoteLogsOf(file_, chunk));
      last_id = chunk.last_id;
    }
    for (const WrittenEntry& entry : batch.written) {
      RETURN_IF_ERROR(InsertWritten(file_, ++last_written, entry));
      RETURN_IF_ERROR(known_logs_.Note(file_, {entry.parent, entry.log_id}));
    }
    for (const LogKey& log : batch.deletions) {
      RETURN_IF_ERROR(MarkDeleted(file_, log, {last_id, last_written}));
      known_logs_.Forget();
      purging_ = true;
    }
    return Ok{};
  }

  void Purge() {
    const auto more = purge_.Step(file_);
    purging_ = more.ok() && *more;  // what a full disk hinders goes on at the next start
  }

  void Announce(const std::vector<Chunk>& chunks) {
    const std::lock_guard lock(mutex_);
    health_ = Ok{};
    for (const Chunk& chunk : chunks) {
      last_ids_[{chunk.project, chunk.job_id}] = chunk.last_id;
    }
  }

  LogFile file_;  // the storing thread's
  mutable LogReaders readers_;
  ChunkPacker packer_;  // this and the next four are the storing thread's
  KnownLogs known_logs_;
  LogPurge purge_;
  int64_t last_written_;
  bool purging_ = true;  // the last life may have left something
  std::atomic<uint64_t> next_insert_id_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  std::condition_variable done_;
  std::condition_variable retry_;
  mutable std::condition_variable more_;
  Batch queue_;
  size_t queued_bytes_ = 0;   // in queue_
  size_t waiting_bytes_ = 0;  // in queue_ and in the batch that is being stored
  uint64_t appended_ = 0;     // calls of Append, Write and DeleteLog
  uint64_t stored_ = 0;       // of those
  uint64_t flush_to_ = 0;
  uint64_t failures_ = 0;
  Status health_ = Ok{};
  mutable std::map<std::pair<std::string, std::string>, uint64_t> last_ids_;
  bool stopping_ = false;
  std::thread writer_;
};

Result<std::unique_ptr<LogBook>> LogBook::Open(const Path& file) {
  ASSIGN_OR_RETURN(LogFile writing, LogFile::Open(file));
  ASSIGN_OR_RETURN(const uint64_t last_id, writing.LastId());
  ASSIGN_OR_RETURN(const int64_t last_written, LastWrittenId(writing));
  auto core = std::make_unique<Core>(std::move(writing), last_id, last_written);
  return std::unique_ptr<LogBook>(new LogBook(std::move(core)));
}

LogBook::LogBook(std::unique_ptr<Core> core) : core_(std::move(core)) {}
LogBook::~LogBook() = default;

void LogBook::Append(std::vector<Entry> entries) { core_->Append(std::move(entries)); }
Status LogBook::Flush() { return core_->Flush(); }
Status LogBook::Health() const { return core_->Health(); }

Status LogBook::Write(std::vector<WrittenEntry> entries) {
  return core_->Write(std::move(entries));
}
Status LogBook::DeleteLog(const LogKey& log) { return core_->DeleteLog(log); }
std::string LogBook::NewInsertId() { return core_->NewInsertId(); }

Result<ListPage> LogBook::List(const ListQuery& query) const { return core_->List(query); }

Result<std::vector<std::string>> LogBook::LogIds(const std::string& parent,
                                                 const std::string& after, size_t limit) const {
  return core_->LogIds(parent, after, limit);
}

uint64_t LogBook::WaitForChange(uint64_t seen, std::chrono::milliseconds timeout) const {
  return core_->WaitForChange(seen, timeout);
}

Result<std::vector<Entry>> LogBook::Query(const EntryQuery& query) const {
  return core_->Query(query);
}

Result<std::vector<Entry>> LogBook::ReadAfter(const std::string& project, const std::string& job_id,
                                              uint64_t after_id, size_t limit) const {
  EntryQuery query;
  query.project = project;
  query.job_id = job_id;
  query.after_id = after_id;
  query.limit = limit;
  return core_->Query(query);
}

bool LogBook::WaitForMore(const std::string& project, const std::string& job_id, uint64_t after_id,
                          std::chrono::milliseconds timeout,
                          const std::function<bool()>& other) const {
  return core_->WaitForMore(project, job_id, after_id, timeout, other);
}

void LogBook::WakeFollowers() const { core_->WakeFollowers(); }

}  // namespace caip::logging
