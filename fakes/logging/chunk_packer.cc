#include "fakes/logging/chunk_packer.h"

#include <algorithm>

namespace caip::logging {
namespace {

constexpr size_t kChunkBytes = 256u << 10;

/// The entries of each job, in their order; jobs in the order of their first entry.
class Sorter {
 public:
  struct Group {
    const Entry* first;  // names the job
    std::vector<const Entry*> entries;
  };

  void Add(const Entry& entry) {
    if (groups_.empty() || !IsSameJob(*groups_[current_].first, entry)) current_ = GroupOf(entry);
    groups_[current_].entries.push_back(&entry);
  }
  const std::vector<Group>& groups() const { return groups_; }

 private:
  static bool IsSameJob(const Entry& left, const Entry& right) {
    return left.job_id == right.job_id && left.project == right.project;
  }

  size_t GroupOf(const Entry& entry) {
    const auto [found, is_new] =
        index_.try_emplace(std::pair(entry.project, entry.job_id), groups_.size());
    if (is_new) groups_.push_back({&entry, {}});
    return found->second;
  }

  std::vector<Group> groups_;
  std::map<std::pair<std::string, std::string>, size_t> index_;
  size_t current_ = 0;
};

}  // namespace

Result<std::vector<Chunk>> ChunkPacker::Pack(const std::deque<std::vector<Entry>>& batch,
                                             const FindLast& find_last) {
  Sorter sorter;
  for (const std::vector<Entry>& entries : batch) {
    for (const Entry& entry : entries) sorter.Add(entry);
  }
  std::vector<Chunk> chunks;
  uint64_t id = last_id_;
  for (const Sorter::Group& group : sorter.groups()) {
    const JobKey key(group.first->project, group.first->job_id);
    if (!last_times_.count(key)) {
      ASSIGN_OR_RETURN(const LastEntry last, find_last(key.first, key.second));
      last_times_[key] = last.time;
    }
    Instant time = last_times_[key];
    for (size_t i = 0; i < group.entries.size(); ++i) {
      time = std::max(time, group.entries[i]->timestamp);
      if (i == 0 || chunks.back().entries.size() >= kChunkBytes ||
          id - chunks.back().first_id + 1 >= kChunkEntriesMax) {
        chunks.push_back({id + 1, id, key.first, key.second, time, time, ""});
        writer_.Begin();
      }
      Chunk& chunk = chunks.back();
      chunk.last_id = ++id;
      chunk.last_time = time;
      writer_.Write(*group.entries[i], time, chunk.entries);
    }
  }
  return chunks;
}

void ChunkPacker::Stored(const std::vector<Chunk>& chunks) {
  for (const Chunk& chunk : chunks) {
    last_id_ = chunk.last_id;
    last_times_[{chunk.project, chunk.job_id}] = chunk.last_time;
  }
}

bool Unpack(const Chunk& chunk, std::vector<Entry>& entries) {
  std::string_view text = chunk.entries;
  for (uint64_t id = chunk.first_id; !text.empty(); ++id) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    Entry entry;
    if (!ReadEntry(text.substr(0, end), entries.empty() ? nullptr : &entries.back(), entry)) {
      return false;
    }
    entry.project = chunk.project;
    entry.job_id = chunk.job_id;
    entry.insert_id = id;
    entries.push_back(std::move(entry));
    text.remove_prefix(end + 1);
  }
  return entries.size() == chunk.last_id - chunk.first_id + 1;
}

}  // namespace caip::logging
