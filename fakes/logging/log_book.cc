#include "fakes/logging/log_book.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "fakes/logging/chunk_packer.h"
#include "fakes/logging/entry_text.h"
#include "fakes/logging/errors.h"
#include "fakes/logging/log_file.h"

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

/// The queue, the storing thread and a second connection for readers.
class LogBook::Core {
 public:
  Core(LogFile writing, LogFile reading, uint64_t last_id)
      : file_(std::move(writing)), reading_(std::move(reading)), packer_(last_id) {
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
    queue_.push_back(std::move(entries));
    lock.unlock();
    if (was_empty || was_little) work_.notify_one();
  }

  Status Flush() {
    std::unique_lock lock(mutex_);
    const uint64_t wanted = appended_;
    const uint64_t failures = failures_;
    flush_to_ = std::max(flush_to_, wanted);
    work_.notify_one();
    done_.wait(lock, [&] { return stored_ >= wanted || failures_ > failures; });
    return stored_ >= wanted ? Status(Ok{}) : health_;
  }

  Status Health() const {
    const std::lock_guard lock(mutex_);
    return health_;
  }

  Result<std::vector<Entry>> Query(const EntryQuery& query) const {
    ChunkQuery chunks{query.project, query.job_id, query.after_id,
                      query.from,    query.until,  query.newest_first};
    std::vector<Entry> found;
    if (query.limit == 0) return found;
    std::optional<Error> damage;
    const std::lock_guard lock(reading_mutex_);
    RETURN_IF_ERROR(reading_.Read(chunks, [&](const Chunk& chunk) {
      std::vector<Entry> entries;
      if (!Unpack(chunk, entries)) {
        damage = errors::ChunkDamaged(reading_.path(), chunk.first_id);
        return false;
      }
      if (query.newest_first) std::reverse(entries.begin(), entries.end());
      for (Entry& entry : entries) {
        if (IsAskedFor(entry, query)) found.push_back(std::move(entry));
        if (found.size() == query.limit) return false;
      }
      return true;
    }));
    if (damage) return *damage;
    return found;
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
  static bool IsAskedFor(const Entry& entry, const EntryQuery& query) {
    return entry.insert_id > query.after_id && entry.timestamp >= query.from &&
           entry.timestamp < query.until && (query.task.empty() || entry.task == query.task) &&
           (!query.matches || query.matches(entry));
  }

  uint64_t LastIdInFile(const std::string& project, const std::string& job_id) const {
    const std::lock_guard lock(reading_mutex_);
    const auto last = reading_.Last(project, job_id);
    return last.ok() ? last->id : 0;
  }

  /// The storing thread.
  void Store() {
    steady_clock::time_point last_commit{};
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      work_.wait_until(lock, last_commit + kBetweenCommits, [this] {
        return stopping_ || queued_bytes_ >= kCommitBytes || flush_to_ > stored_;
      });
      const std::deque<std::vector<Entry>> batch = std::exchange(queue_, {});
      const size_t bytes = std::exchange(queued_bytes_, 0);
      lock.unlock();
      last_commit = steady_clock::now();
      const bool stored = StoreBatch(batch);
      lock.lock();
      if (!stored) return;
      waiting_bytes_ -= bytes;
      stored_ += batch.size();
      done_.notify_all();
    }
  }

  /// Tries until it succeeds. False: the book is being closed and the disk is still full.
  bool StoreBatch(const std::deque<std::vector<Entry>>& batch) {
    for (;;) {
      const auto chunks = packer_.Pack(batch, [this](const auto& project, const auto& job_id) {
        return file_.Last(project, job_id);
      });
      const Status status = chunks.ok() ? file_.Store(*chunks) : Status(chunks.error());
      if (status.ok()) {
        packer_.Stored(*chunks);
        Announce(*chunks);
        return true;
      }
      std::unique_lock lock(mutex_);
      health_ = status;
      ++failures_;
      done_.notify_all();
      if (stopping_) return false;
      retry_.wait_for(lock, kBetweenAttempts);
    }
  }

  void Announce(const std::vector<Chunk>& chunks) {
    {
      const std::lock_guard lock(mutex_);
      health_ = Ok{};
      for (const Chunk& chunk : chunks) {
        last_ids_[{chunk.project, chunk.job_id}] = chunk.last_id;
      }
    }
    more_.notify_all();
  }

  LogFile file_;  // the storing thread's
  mutable std::mutex reading_mutex_;
  mutable LogFile reading_;  // guarded by reading_mutex_
  ChunkPacker packer_;       // the storing thread's

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  std::condition_variable done_;
  std::condition_variable retry_;
  mutable std::condition_variable more_;
  std::deque<std::vector<Entry>> queue_;
  size_t queued_bytes_ = 0;   // in queue_
  size_t waiting_bytes_ = 0;  // in queue_ and in the batch that is being stored
  uint64_t appended_ = 0;     // calls of Append
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
  ASSIGN_OR_RETURN(LogFile reading, LogFile::Open(file));
  ASSIGN_OR_RETURN(const uint64_t last_id, writing.LastId());
  auto core = std::make_unique<Core>(std::move(writing), std::move(reading), last_id);
  return std::unique_ptr<LogBook>(new LogBook(std::move(core)));
}

LogBook::LogBook(std::unique_ptr<Core> core) : core_(std::move(core)) {}
LogBook::~LogBook() = default;

void LogBook::Append(std::vector<Entry> entries) { core_->Append(std::move(entries)); }
Status LogBook::Flush() { return core_->Flush(); }
Status LogBook::Health() const { return core_->Health(); }

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

std::string InsertIdText(uint64_t insert_id) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llu", static_cast<unsigned long long>(insert_id));
  return text;
}

uint64_t InsertIdOf(const std::string& text) {
  if (text.empty() || text.size() > 16) return 0;
  uint64_t insert_id = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return 0;
    insert_id = insert_id * 10 + static_cast<uint64_t>(digit - '0');
  }
  return insert_id;
}

}  // namespace caip::logging
