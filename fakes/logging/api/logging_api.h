#pragma once
// The Cloud Logging API, version 2, over HTTP:
// https://cloud.google.com/logging/docs/reference/v2/rest

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "fakes/logging/book/log_book.h"
#include "fakes/logging/book/resource_table.h"
#include "http/router.h"

namespace caip::logging {

// The time up to which each streaming client has read each job's log.
//
// `gcloud ai-platform jobs stream-logs` repeatedly requests entries up to five seconds ago, and
// stops as soon as the job's state is final. It would never request the entries of the job's last
// seconds. So jobs.get looks up here how far the same client has read, and reports the final state
// only when the client has read the whole log.

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

/// Two names of one project as a parent of logs, such as "projects/123456789012" and
/// "projects/demo-project". A client that lists the entries of the first gets those of both.
struct ParentAlias {
  std::string number;
  std::string id;
};

/// The state that the methods share. Book, clocks and readers must outlive it. Any thread.
struct LoggingApi {
  LogBook& book;
  Clock& clock;  // the service's; ahead of `wall` after it has skipped waiting times
  Clock& wall;
  StreamReaders& readers;
  std::unique_ptr<ResourceTable> resources;
  ParentAlias alias = {};
};

/// `book_file` is the file of the book. Sinks, metrics and exclusions are stored in it as well.
std::shared_ptr<LoggingApi> MakeLoggingApi(const Path& book_file, LogBook& book, Clock& clock,
                                           Clock& wall, StreamReaders& readers,
                                           ParentAlias alias = {});

/// Every route below /v2. A method of the service that is not emulated answers 501 with its name.
std::vector<http::Route> LoggingRoutes(std::shared_ptr<LoggingApi> api);

// The parts of LoggingRoutes.
std::vector<http::Route> EntryRoutes(const std::shared_ptr<LoggingApi>& api);
std::vector<http::Route> LogRoutes(const std::shared_ptr<LoggingApi>& api);
std::vector<http::Route> SinkAndMetricRoutes(const std::shared_ptr<LoggingApi>& api);
std::vector<http::Route> BucketRoutes();

}  // namespace caip::logging
