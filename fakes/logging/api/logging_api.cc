
#include "fakes/logging/api/logging_api.h"

#include <iterator>
#include <utility>

namespace caip::logging {

std::shared_ptr<LoggingApi> MakeLoggingApi(const Path& book_file, LogBook& book, Clock& clock,
                                           Clock& wall, StreamReaders& readers, ParentAlias alias) {
  auto resources = std::make_unique<ResourceTable>(book_file, book.names());
  return std::shared_ptr<LoggingApi>(
      new LoggingApi{book, clock, wall, readers, std::move(resources), std::move(alias)});
}

std::vector<http::Route> LoggingRoutes(std::shared_ptr<LoggingApi> api) {
  std::vector<http::Route> routes = EntryRoutes(api);
  for (auto part : {LogRoutes(api), SinkAndMetricRoutes(api), BucketRoutes()}) {
    std::move(part.begin(), part.end(), std::back_inserter(routes));
  }
  return routes;
}

namespace {

constexpr size_t kReaderMarksMax = 4096;

}  // namespace

std::string InvocationId(std::string_view user_agent) {
  constexpr std::string_view kMark = "invocation-id/";
  const size_t begin = user_agent.find(kMark);
  if (begin == user_agent.npos) return "";
  const std::string_view rest = user_agent.substr(begin + kMark.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

void StreamReaders::Record(const std::string& invocation, const std::string& project,
                           const std::string& job_id, Instant until) {
  if (invocation.empty() || job_id.empty() || until == Instant::max()) return;
  const std::lock_guard lock(mutex_);
  const Key key(invocation, project, job_id);
  if (const auto old = marks_.find(key); old != marks_.end()) by_number_.erase(old->second.number);
  marks_[key] = {until, next_number_};
  by_number_[next_number_++] = key;
  if (marks_.size() <= kReaderMarksMax) return;
  marks_.erase(by_number_.begin()->second);
  by_number_.erase(by_number_.begin());
}

std::optional<Instant> StreamReaders::ReadUpTo(const std::string& invocation,
                                               const std::string& project,
                                               const std::string& job_id) const {
  if (invocation.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = marks_.find(Key(invocation, project, job_id));
  if (found == marks_.end()) return std::nullopt;
  return found->second.until;
}

}  // namespace caip::logging
