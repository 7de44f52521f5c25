#pragma once
// The Cloud Logging API, version 2, over HTTP:
// https://cloud.google.com/logging/docs/reference/v2/rest

#include <memory>
#include <vector>

#include "base/clock.h"
#include "fakes/logging/api/stream_readers.h"
#include "fakes/logging/book/log_book.h"
#include "fakes/logging/book/resource_table.h"
#include "http/router.h"

namespace caip::logging {

/// The state that the methods share. Book, clocks and readers must outlive it. Any thread.
struct LoggingApi {
  LogBook& book;
  Clock& clock;  // the service's; ahead of `wall` after it has skipped waiting times
  Clock& wall;
  StreamReaders& readers;
  std::unique_ptr<ResourceTable> resources;
};

/// `book_file` is the file of the book. Sinks, metrics and exclusions are stored in it as well.
std::shared_ptr<LoggingApi> MakeLoggingApi(const Path& book_file, LogBook& book, Clock& clock,
                                           Clock& wall, StreamReaders& readers);

/// Every route below /v2. A method of the service that is not emulated answers 501 with its name.
std::vector<http::Route> LoggingRoutes(std::shared_ptr<LoggingApi> api);

// The parts of the table.
std::vector<http::Route> EntryRoutes(const std::shared_ptr<LoggingApi>& api);
std::vector<http::Route> LogRoutes(const std::shared_ptr<LoggingApi>& api);
std::vector<http::Route> SinkAndMetricRoutes(const std::shared_ptr<LoggingApi>& api);
std::vector<http::Route> BucketRoutes();

}  // namespace caip::logging
