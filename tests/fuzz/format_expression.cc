// Any text is a value of --format or an error. What is printed with it is text that its format can
// hold.

#include "emulator/cli/print/format_expression.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "emulator/cli/print/resource_text.h"

namespace {

using namespace caip;

const Json& Jobs() {
  static const Json jobs = {
      {{"jobId", "census_1"},
       {"state", "QUEUED"},
       {"createTime", "2026-11-21T08:20:00Z"},
       {"labels", {{"team", "x"}, {"a.b/c", "y\x1b[31m"}}},
       {"trainingInput",
        {{"args", {"--steps", "10"}}, {"region", nullptr}, {"workerCount", "5"}, {"nan", -0.5}}}},
      Json::object()};
  return jobs;
}

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = cli::ParseFormat(text);
  if (!parsed.ok()) {
    Require(parsed.error().code == Code::kInvalidArgument && !parsed.error().message.empty());
    return 0;
  }
  const auto list = cli::FormatResources(Jobs(), text);
  if (list.ok() && parsed->name == "json") Require(ParseJson(*list).ok());
  const auto one = cli::FormatResource(Jobs()[0], text);
  if (one.ok() && parsed->name == "json" && !one->empty()) Require(ParseJson(*one).ok());
  return 0;
}
