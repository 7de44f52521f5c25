#pragma once
// Up to which time each streaming client has read each job's log.
//
// `gcloud ai-platform jobs stream-logs` asks for entries up to five seconds ago, again and again,
// and ends as soon as it reads of the job that it has ended: what the job said in its last seconds
// would never be asked for. So whoever answers what a job is like can ask here how far the same
// client has read, and tell it of the end when it has read up to there.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/clock.h"

namespace caip::logging {

/// The id of one run of a program of the Cloud SDK, out of its User-Agent: "... invocation-id/x
/// ...".
/// "" for other clients.
std::string InvocationOf(std::string_view user_agent);

/// Any thread. Remembers the last some thousand.
class StreamReaders {
 public:
  /// The client has asked for the job's entries before `until`.
  void Note(const std::string& invocation, const std::string& project, const std::string& job_id,
            Instant until);
  /// nullopt: it has not asked for this job's entries, or without an upper bound.
  std::optional<Instant> ReadUpTo(const std::string& invocation, const std::string& project,
                                  const std::string& job_id) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  struct Mark {
    Instant until;
    uint64_t number = 0;
  };
  mutable std::mutex mutex_;
  std::map<Key, Mark> marks_;
  std::map<uint64_t, Key> by_number_;  // oldest first
  uint64_t next_number_ = 0;
};

}  // namespace caip::logging
