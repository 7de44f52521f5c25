// Any text is a log filter, or an error with a position. A filter never matches an entry outside of
// its bounds.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "base/time_text.h"
#include "fakes/logging/filter/bounds.h"
#include "fakes/logging/filter/filter.h"

namespace {

using namespace caip;
using namespace caip::logging;

const Json& AnEntry() {
  static const Json entry = {
      {"logName", "projects/p/logs/master-replica-0"},
      {"insertId", "0000000000000007"},
      {"timestamp", "2022-02-09T12:00:00.250000000Z"},
      {"severity", "WARNING"},
      {"resource", {{"type", "ml_job"}, {"labels", {{"job_id", "j"}, {"task_name", "service"}}}}},
      {"labels", {{"ml.googleapis.com/trial_id", "3"}}},
      {"httpRequest", {{"status", 404}, {"latency", "1.5s"}}},
      {"jsonPayload", {{"message", "loss 0.5"}, {"n", 42}, {"tags", {"a", "b"}}, {"no", nullptr}}}};
  return entry;
}

bool IsWithin(const EntryBounds& bounds) {
  const Instant time = *ParseRfc3339("2022-02-09T12:00:00.25Z");
  const auto is = [](const std::optional<std::string>& wanted, std::string_view text) {
    return !wanted || FoldCase(*wanted) == text;
  };
  return !bounds.none && time >= bounds.from && time < bounds.until && is(bounds.job_id, "j") &&
         is(bounds.task, "service") && is(bounds.trial, "3") &&
         is(bounds.log_id, "master-replica-0") && is(bounds.resource_type, "ml_job") &&
         (bounds.severities & SeverityBit(400));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto filter = Filter::Parse(text);
  if (!filter.ok()) {
    if (filter.error().code != Code::kInvalidArgument || filter.error().message.empty())
      std::abort();
    return 0;
  }
  if (filter->Matches(AnEntry()) && !IsWithin(EntryBounds::Of(*filter, "ml.googleapis.com")))
    std::abort();
  return 0;
}
