#pragma once
// Entries in the order of their coming -> chunks of one job each, with insert ids and times that
// never go back.

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fakes/logging/book/entry_text.h"
#include "fakes/logging/book/log_book.h"
#include "fakes/logging/book/log_file.h"

namespace caip::logging {

/// What is in a chunk, as its row tells it.
class ChunkMarks {
 public:
  void Add(const Entry& entry);
  /// Into the chunk; begins anew.
  void MoveTo(Chunk& chunk);

 private:
  std::string severity_;  // of the entry before, and its bit
  uint32_t severity_bit_ = 1;
  uint32_t severities_ = 0;
  std::vector<std::string> tasks_;
  size_t task_ = 0;  // of the entry before
};

/// Numbers entries. Nothing it hands out counts before Stored(): a batch that could not be stored
/// is packed again, with the same ids. One thread.
class ChunkPacker {
 public:
  /// Finds a job's last entry in the file; asked once for each job.
  using FindLast =
      std::function<Result<LastEntry>(const std::string& project, const std::string& job_id)>;

  explicit ChunkPacker(uint64_t last_id) : last_id_(last_id) {}

  Result<std::vector<Chunk>> Pack(const std::deque<std::vector<Entry>>& batch,
                                  const FindLast& find_last);
  void Stored(const std::vector<Chunk>& chunks);
  uint64_t last_id() const { return last_id_; }

 private:
  using JobKey = std::pair<std::string, std::string>;

  uint64_t last_id_;
  std::map<JobKey, Instant> last_times_;
  EntryWriter writer_;
  ChunkMarks marks_;
};

/// The entries as a chunk's text: those that lack in first_id .. last_id are empty lines.
void Repack(const std::vector<Entry>& entries, Chunk& chunk);

/// A chunk's entries, as they were appended, with their insert ids; without deleted ones. False:
/// its text is damaged.
bool Unpack(const Chunk& chunk, std::vector<Entry>& entries);

/// Only those for which `wants` holds, and the first and the last one; fast where these are few.
/// `wants` sees insert id, severity, task and trial. `lines`: how many there are in all.
bool UnpackWanted(const Chunk& chunk, const std::function<bool(const Entry&)>& wants,
                  std::vector<Entry>& entries, size_t& lines);

}  // namespace caip::logging
