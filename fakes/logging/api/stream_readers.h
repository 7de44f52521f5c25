#pragma once
// The time up to which each streaming client has read each job's log.
//
// `gcloud ai-platform jobs stream-logs` repeatedly requests entries up to five seconds ago, and
// stops as soon as the job's state is final. It would never request the entries of the job's last
// seconds. So jobs.get can look up here how far the same client has read, and report the final
// state only when the client has read the whole log.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/clock.h"

namespace caip::logging {

/// The id of one run of a Cloud SDK program, from its User-Agent: "... invocation-id/x ...". "" for
/// other clients.
std::string InvocationId(std::string_view user_agent);

/// Remembers the last four thousand pairs of client and job. Any thread.
class StreamReaders {
 public:
  /// Records that the client has requested the job's entries before `until`.
  void Record(const std::string& invocation, const std::string& project, const std::string& job_id,
              Instant until);
  /// nullopt: the client has not requested this job's entries, or only without an upper bound.
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
