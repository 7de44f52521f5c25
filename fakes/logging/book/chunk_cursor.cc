// The entries of all jobs of a project in the order of their times.
//
// Each job has chunks of its own. An index holds the times, severities and tasks of each chunk. The
// cursor opens a chunk only when the listing reaches its time, so the cost of a page depends on the
// entries that it shows, not on all stored entries.

#include <algorithm>
#include <cstdlib>
#include <queue>
#include <tuple>

#include "base/json.h"
#include "base/text.h"
#include "fakes/logging/book/chunk_packer.h"
#include "fakes/logging/book/entry_listing.h"
#include "fakes/logging/book/errors.h"
#include "fakes/logging/book/written_rows.h"

namespace caip::logging {
namespace {

constexpr size_t kInsertIdDigits = 16;

/// A chunk as the index describes it.
struct ChunkHead {
  uint64_t first_id = 0;
  uint64_t last_id = 0;
  Instant first_time;
  Instant last_time;
  std::string job_id;
};

/// A chunk whose entries have been read.
struct OpenChunk {
  std::vector<Entry> entries;  // in the order of the listing
  size_t at = 0;
  const Entry& current() const { return entries[at]; }
};

std::string ChunkHeadSelect(const EntryScan& scan, int source) {
  std::string sql =
      "SELECT first_id, last_id, first_time, last_time, job_id, severities, tasks FROM chunks"
      " INDEXED BY ";
  sql += scan.bounds.job_id ? "chunks_of_job_by_time" : "chunks_by_time";
  sql += " WHERE project = ?1 AND first_time >= ?2 AND first_time < ?3 AND last_time >= ?4";
  if (scan.bounds.job_id) sql += " AND job_id = ?5 COLLATE NOCASE";
  sql += " ORDER BY first_time";
  if (scan.newest_first) sql += " DESC";
  return sql + " /* " + std::to_string(source) + " */";
}

Instant Earlier(Instant time, Duration by) {
  return time < Instant::min() + by ? Instant::min() : time - by;
}

bool IsWantedText(const std::optional<std::string>& wanted, const std::string& text) {
  return !wanted || FoldCase(*wanted) == FoldCase(text);
}

class ChunkCursor final : public EntryCursor {
 public:
  ChunkCursor(LogFile& file, const EntryScan& scan, const std::string& project, int source)
      : file_(file),
        scan_(scan),
        project_(project),
        parent_(ProjectParent(project)),
        source_(source),
        from_(Earlier(scan.bounds.from, scan.span)),
        job_id_(scan.bounds.job_id.value_or("")),
        heads_(file, ChunkHeadSelect(scan, source)),
        pending_(IsLater),
        open_(ComesLater{scan.newest_first}) {
    const std::string& after = scan.bounds.after_insert_id;
    if (after.size() == kInsertIdDigits) after_id_ = ParseInsertId(after);
    heads_.Bind(1, project_).Bind(2, from_).Bind(3, scan.bounds.until).Bind(4, scan.bounds.from);
    if (scan.bounds.job_id) heads_.Bind(5, job_id_);
    ReadHead();
  }

  Result<bool> Next() override {
    examined_ = 0;
    if (current_ && ++current_->at < current_->entries.size()) open_.push(current_);
    current_.reset();
    RETURN_IF_ERROR(scan_.newest_first ? OpenNewest() : OpenOldest());
    RETURN_IF_ERROR(heads_.status());
    if (open_.empty()) return false;
    current_ = open_.top();
    open_.pop();
    return true;
  }

  EntryPosition position() const override {
    return {current_->current().timestamp, InsertIdText(current_->current().insert_id), source_};
  }

  bool IsWanted() const override { return IsWanted(current_->current()); }
  size_t examined() const override { return examined_; }
  Result<Json> Read() const override { return LogEntryJson(file_.names(), current_->current()); }

 private:
  bool IsWanted(const Entry& entry) const {
    const EntryBounds& bounds = scan_.bounds;
    return entry.insert_id > after_id_ && (bounds.severities & BitOfSeverity(entry.severity)) &&
           IsWantedText(bounds.task, entry.task) && IsWantedText(bounds.trial, entry.trial) &&
           IsLogWanted(entry.task, entry.job_id, entry.insert_id);
  }

  // Remembers the previous entry's severity: called up to a hundred thousand times for a page, and
  // nearly all entries have the same severity.
  uint32_t BitOfSeverity(const std::string& severity) const {
    if (severity != severity_) {
      severity_ = severity;
      severity_bit_ = SeverityBit(SeverityNumber(severity).value_or(0));
    }
    return severity_bit_;
  }

  using Opened = std::shared_ptr<OpenChunk>;
  struct ComesLater {
    bool newest_first;
    bool operator()(const Opened& left, const Opened& right) const {
      const auto a = std::tie(left->current().timestamp, left->current().insert_id);
      const auto b = std::tie(right->current().timestamp, right->current().insert_id);
      return newest_first ? a < b : b < a;
    }
  };
  static bool IsLater(const ChunkHead& left, const ChunkHead& right) {
    return left.last_time < right.last_time;
  }

  bool IsLogWanted(const std::string& task, const std::string& job_id, uint64_t id) const {
    if (!scan_.bounds.log_id && scan_.deleted.empty()) return true;
    const std::string log_id = LogIdOfTask(file_.names(), task, job_id);
    if (!IsWantedText(scan_.bounds.log_id, log_id)) return false;
    const auto deleted = scan_.deleted.find({parent_, log_id});
    return deleted == scan_.deleted.end() || id > deleted->second.last_id;
  }

  // True if the chunk may have a wanted entry.
  bool IsHeadWanted(uint32_t severities, const std::string& tasks) const {
    if (head_.last_id <= after_id_ || !(scan_.bounds.severities & severities)) return false;
    if (!scan_.bounds.task && !scan_.bounds.log_id && scan_.deleted.empty()) return true;
    const std::vector<std::string> all = Split(tasks, '\n');
    return std::any_of(all.begin(), all.end(), [&](const std::string& task) {
      return IsWantedText(scan_.bounds.task, task) &&
             IsLogWanted(task, head_.job_id, head_.last_id);
    });
  }

  void ReadHead() {
    while ((has_head_ = heads_.Next())) {
      head_ = {static_cast<uint64_t>(heads_.Number(0)), static_cast<uint64_t>(heads_.Number(1)),
               heads_.Time(2), heads_.Time(3), heads_.Text(4)};
      if (IsHeadWanted(static_cast<uint32_t>(heads_.Number(5)), heads_.Text(6))) return;
    }
  }

  // Oldest first: all chunks that begin at or before the current entry must be open.
  Status OpenOldest() {
    while (has_head_ && (open_.empty() || head_.first_time <= open_.top()->current().timestamp)) {
      RETURN_IF_ERROR(Open(head_));
      ReadHead();
    }
    return Ok{};
  }

  // Newest first: all chunks that end at or after the current entry must be open. The index sorts
  // chunks by their first times; such a chunk begins at most one span before the entry.
  Status OpenNewest() {
    for (;;) {
      while (has_head_ && (HasNoChunk() || Earlier(Newest(), scan_.span) <= head_.first_time)) {
        pending_.push(head_);
        ReadHead();
      }
      if (pending_.empty()) return Ok{};
      if (!open_.empty() && open_.top()->current().timestamp > pending_.top().last_time)
        return Ok{};
      RETURN_IF_ERROR(Open(pending_.top()));
      pending_.pop();
    }
  }

  bool HasNoChunk() const { return open_.empty() && pending_.empty(); }
  Instant Newest() const {
    Instant newest = Instant::min();
    if (!open_.empty()) newest = open_.top()->current().timestamp;
    if (!pending_.empty()) newest = std::max(newest, pending_.top().last_time);
    return newest;
  }

  Status Open(const ChunkHead& head) {
    Chunk chunk;
    chunk.first_id = head.first_id;
    chunk.last_id = head.last_id;
    chunk.project = project_;
    chunk.job_id = head.job_id;
    {
      SqlQuery row(file_, "SELECT entries FROM chunks WHERE first_id = ?1");
      if (row.Bind(1, head.first_id).Next()) chunk.entries = row.Text(0);
      RETURN_IF_ERROR(row.status());
    }
    auto opened = std::make_shared<OpenChunk>();
    const auto wants = [this](const Entry& entry) { return IsWanted(entry); };
    if (!UnpackWanted(chunk, wants, opened->entries, examined_)) {
      return errors::ChunkDamaged(file_.path(), chunk.first_id);
    }
    if (scan_.newest_first) std::reverse(opened->entries.begin(), opened->entries.end());
    SkipToBounds(*opened);
    if (opened->at < opened->entries.size()) open_.push(std::move(opened));
    return Ok{};
  }

  // Skips the entries before the bounds of the listing.
  void SkipToBounds(OpenChunk& chunk) const {
    while (chunk.at < chunk.entries.size()) {
      const Instant time = chunk.current().timestamp;
      if (scan_.newest_first ? time < scan_.bounds.until : time >= scan_.bounds.from) return;
      ++chunk.at;
    }
  }

  LogFile& file_;
  const EntryScan& scan_;
  std::string project_;
  std::string parent_;
  int source_;
  Instant from_;
  std::string job_id_;
  uint64_t after_id_ = 0;
  size_t examined_ = 0;
  mutable std::string severity_;  // of the previous entry, and its bit
  mutable uint32_t severity_bit_ = SeverityBit(0);
  SqlQuery heads_;
  bool has_head_ = false;
  ChunkHead head_;
  std::priority_queue<ChunkHead, std::vector<ChunkHead>,
                      bool (*)(const ChunkHead&, const ChunkHead&)>
      pending_;
  std::priority_queue<Opened, std::vector<Opened>, ComesLater> open_;
  Opened current_;
};

}  // namespace

std::unique_ptr<EntryCursor> MakeChunkCursor(LogFile& file, const EntryScan& scan,
                                             const std::string& project, int source) {
  return std::make_unique<ChunkCursor>(file, scan, project, source);
}

}  // namespace caip::logging
