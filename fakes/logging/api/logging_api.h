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

/// What the methods share. Book, clocks and readers outlive it. Any thread.
struct LoggingApi {
  LogBook& book;
  Clock& clock;  // the service's, which may be ahead of the wall's: it leaps over waiting
  Clock& wall;
  StreamReaders& readers;
  std::unique_ptr<ResourceTable> resources;
};

/// `book_file` is where the book is, and where sinks and metrics are kept, too.
std::shared_ptr<LoggingApi> MakeLoggingApi(const Path& book_file, LogBook& book, Clock& clock,
                                           Clock& wall, StreamReaders& readers);

/// Every route below /v2. What the service has and we have not answers 501 with its name.
std::vector<http::Route> LoggingRoutes(std::shared_ptr<LoggingApi> api);

// The parts of the table.
std::vector<http::Route> EntryRoutes(const std::shared_ptr<LoggingApi>& api);
std::vector<http::Route> LogRoutes(const std::shared_ptr<LoggingApi>& api);
std::vector<http::Route> SinkAndMetricRoutes(const std::shared_ptr<LoggingApi>& api);
std::vector<http::Route> BucketRoutes();

}  // namespace caip::logging
