#pragma once
// Entries in the order of their coming -> chunks of one job each, with insert ids and times that
// never go back.

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fakes/logging/entry_text.h"
#include "fakes/logging/log_book.h"
#include "fakes/logging/log_file.h"

namespace caip::logging {

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

 private:
  using JobKey = std::pair<std::string, std::string>;

  uint64_t last_id_;
  std::map<JobKey, Instant> last_times_;
  EntryWriter writer_;
};

/// A chunk's entries, as they were appended, with their insert ids. False: its text is damaged.
bool Unpack(const Chunk& chunk, std::vector<Entry>& entries);

}  // namespace caip::logging
