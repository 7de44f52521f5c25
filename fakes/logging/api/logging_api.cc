#include "fakes/logging/api/logging_api.h"

#include <iterator>
#include <utility>

#include "base/json.h"

namespace caip::logging {

std::shared_ptr<LoggingApi> MakeLoggingApi(const Path& book_file, LogBook& book, Clock& clock,
                                           Clock& wall, StreamReaders& readers) {
  return std::shared_ptr<LoggingApi>(
      new LoggingApi{book, clock, wall, readers, std::make_unique<ResourceTable>(book_file)});
}

std::vector<http::Route> LoggingRoutes(std::shared_ptr<LoggingApi> api) {
  std::vector<http::Route> routes = EntryRoutes(api);
  for (auto part : {LogRoutes(api), SinkAndMetricRoutes(api), BucketRoutes()}) {
    std::move(part.begin(), part.end(), std::back_inserter(routes));
  }
  return routes;
}

}  // namespace caip::logging
