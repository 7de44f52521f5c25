#pragma once
// Packs entries, in the order in which they were appended, into chunks of one job each. Within a
// job, insert ids and times never decrease.

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fakes/logging/book/entry.h"
#include "fakes/logging/book/log_file.h"

namespace caip::logging {

/// Collects the severities and tasks of a chunk for its row.
class ChunkMarks {
 public:
  void Add(const Entry& entry);
  /// Moves the collected marks to the chunk and starts again.
  void MoveTo(Chunk& chunk);

 private:
  std::string severity_;  // of the previous entry, and its bit
  uint32_t severity_bit_ = 1;
  uint32_t severities_ = 0;
  std::vector<std::string> tasks_;
  size_t task_ = 0;  // of the previous entry
};

/// Numbers entries and packs them. The ids become final with MarkStored(): a batch that could not
/// be stored is packed again and gets the same ids. One thread.
class ChunkPacker {
 public:
  /// Finds a job's last entry in the file. Called for a job of which nothing was packed lately.
  using FindLast =
      std::function<Result<LastEntry>(const std::string& project, const std::string& job_id)>;

  explicit ChunkPacker(uint64_t last_id) : last_id_(last_id) {}

  Result<std::vector<Chunk>> Pack(const std::deque<std::vector<Entry>>& batch,
                                  const FindLast& find_last);
  void MarkStored(const std::vector<Chunk>& chunks);
  uint64_t last_id() const { return last_id_; }

 private:
  using JobKey = std::pair<std::string, std::string>;

  uint64_t last_id_;
  std::map<JobKey, Instant> last_times_;  // of some hundred jobs
  EntryWriter writer_;
  ChunkMarks marks_;
};

/// Writes the entries as the chunk's text. An id in first_id .. last_id without an entry becomes an
/// empty line.
void Repack(const std::vector<Entry>& entries, Chunk& chunk);

/// Reads a chunk's entries, without deleted ones, with their insert ids. False: its text is
/// damaged.
bool Unpack(const Chunk& chunk, std::vector<Entry>& entries);

/// Like Unpack, but reads only the first entry, the last entry, and those that `wants` selects by
/// insert id, severity, task and trial. Fast if these are few. Adds the number of lines to `lines`.
bool UnpackWanted(const Chunk& chunk, const std::function<bool(const Entry&)>& wants,
                  std::vector<Entry>& entries, size_t& lines);

}  // namespace caip::logging
