#include "fakes/logging/book/chunk_packer.h"

#include <algorithm>

#include "base/time_text.h"
#include "fakes/logging/filter/bounds.h"

namespace caip::logging {
namespace {

constexpr size_t kChunkBytes = 256u << 10;
constexpr size_t kLastTimesMax = 1024;

/// Groups entries by job. Keeps the order of entries, and of the first entries of jobs.
class JobGroups {
 public:
  struct Group {
    const Entry* first;  // names the job
    std::vector<const Entry*> entries;
  };

  void Add(const Entry& entry) {
    if (groups_.empty() || !IsSameJob(*groups_[current_].first, entry)) current_ = FindGroup(entry);
    groups_[current_].entries.push_back(&entry);
  }
  const std::vector<Group>& groups() const { return groups_; }

 private:
  static bool IsSameJob(const Entry& left, const Entry& right) {
    return left.job_id == right.job_id && left.project == right.project;
  }

  size_t FindGroup(const Entry& entry) {
    const auto [found, is_new] =
        index_.try_emplace(std::pair(entry.project, entry.job_id), groups_.size());
    if (is_new) groups_.push_back({&entry, {}});
    return found->second;
  }

  std::vector<Group> groups_;
  std::map<std::pair<std::string, std::string>, size_t> index_;
  size_t current_ = 0;
};

bool MustStartChunk(const Chunk& chunk, uint64_t next_id, Instant time) {
  return chunk.entries.size() >= kChunkBytes || next_id - chunk.first_id >= kChunkEntriesMax ||
         time - chunk.first_time > kChunkSpanMax;
}

}  // namespace

void ChunkMarks::Add(const Entry& entry) {
  if (entry.severity != severity_) {
    severity_ = entry.severity;
    severity_bit_ = SeverityBit(SeverityNumber(severity_).value_or(0));
  }
  severities_ |= severity_bit_;
  if (task_ < tasks_.size() && tasks_[task_] == entry.task) return;
  task_ = static_cast<size_t>(std::find(tasks_.begin(), tasks_.end(), entry.task) - tasks_.begin());
  if (task_ == tasks_.size()) tasks_.push_back(entry.task);
}

void ChunkMarks::MoveTo(Chunk& chunk) {
  chunk.severities = std::exchange(severities_, 0);
  chunk.tasks = std::exchange(tasks_, {});
}

Result<std::vector<Chunk>> ChunkPacker::Pack(const std::deque<std::vector<Entry>>& batch,
                                             const FindLast& find_last) {
  if (last_times_.size() >= kLastTimesMax) last_times_.clear();
  JobGroups groups;
  for (const std::vector<Entry>& entries : batch) {
    for (const Entry& entry : entries) groups.Add(entry);
  }
  std::vector<Chunk> chunks;
  uint64_t id = last_id_;
  for (const JobGroups::Group& group : groups.groups()) {
    const JobKey key(group.first->project, group.first->job_id);
    if (!last_times_.count(key)) {
      ASSIGN_OR_RETURN(const LastEntry last, find_last(key.first, key.second));
      last_times_[key] = last.time;
    }
    Instant time = last_times_[key];
    for (size_t i = 0; i < group.entries.size(); ++i) {
      time = std::max(time, group.entries[i]->timestamp);
      if (i == 0 || MustStartChunk(chunks.back(), id + 1, time)) {
        if (i > 0) marks_.MoveTo(chunks.back());
        chunks.push_back({id + 1, id, key.first, key.second, time, time, "", 0, {}});
        writer_.Begin();
      }
      Chunk& chunk = chunks.back();
      chunk.last_id = ++id;
      chunk.last_time = time;
      writer_.Write(*group.entries[i], time, chunk.entries);
      marks_.Add(*group.entries[i]);
    }
    marks_.MoveTo(chunks.back());
  }
  return chunks;
}

void ChunkPacker::MarkStored(const std::vector<Chunk>& chunks) {
  for (const Chunk& chunk : chunks) {
    last_id_ = chunk.last_id;
    last_times_[{chunk.project, chunk.job_id}] = chunk.last_time;
  }
}

bool Unpack(const Chunk& chunk, std::vector<Entry>& entries) {
  size_t lines = 0;
  return UnpackWanted(
      chunk, [](const Entry&) { return true; }, entries, lines);
}

bool UnpackWanted(const Chunk& chunk, const std::function<bool(const Entry&)>& wants,
                  std::vector<Entry>& entries, size_t& lines) {
  std::string_view text = chunk.entries;
  Entry common;  // the members that a line shares with the line before
  common.project = chunk.project;
  common.job_id = chunk.job_id;
  std::string_view time;
  uint64_t id = chunk.first_id;
  for (; !text.empty(); ++id) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) continue;  // deleted
    common.insert_id = id;
    const bool is_end = lines++ == 0 || text.find_first_not_of('\n') == text.npos;
    const bool is_read = ReadCommon(line, common, time);
    if (is_read && !is_end && !wants(common)) continue;
    if (!time.empty()) {
      const auto instant = ParseRfc3339(time);
      if (!instant) return false;
      common.timestamp = *instant;
      time = {};
    }
    Entry entry;
    if (!ReadEntry(line, lines == 1 && !is_read ? nullptr : &common, entry)) return false;
    entry.project = chunk.project;
    entry.job_id = chunk.job_id;
    entry.insert_id = id;
    if (!is_read) {
      common.timestamp = entry.timestamp;
      common.severity = entry.severity;
      common.task = entry.task;
      common.trial = entry.trial;
    }
    entries.push_back(std::move(entry));
  }
  return id == chunk.last_id + 1;
}

void Repack(const std::vector<Entry>& entries, Chunk& chunk) {
  EntryWriter writer;
  ChunkMarks marks;
  chunk.entries.clear();
  auto entry = entries.begin();
  for (uint64_t id = chunk.first_id; id <= chunk.last_id; ++id) {
    if (entry == entries.end() || entry->insert_id != id) {
      chunk.entries.push_back('\n');
      continue;
    }
    writer.Write(*entry, entry->timestamp, chunk.entries);
    marks.Add(*entry++);
  }
  marks.MoveTo(chunk);
}

}  // namespace caip::logging
