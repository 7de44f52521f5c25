// Any text is a filter of projects.jobs.list, or an error. A negated filter matches the other jobs.

#include "ml/filter/job_filter.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/time_text.h"

namespace {

using namespace caip;

const ml::Job& AJob() {
  static const ml::Job job = [] {
    ml::Job made;
    made.job_id = "census_1";
    made.state = run::JobState::kRunning;
    made.create_time = *ParseRfc3339("2026-11-21T08:20:00.5Z");
    made.labels = {{"team", "a"}, {"phase", "test"}};
    made.training_input.emplace();
    made.training_input->region = "us-central1";
    made.training_input->args = {"--steps", "10"};
    return made;
  }();
  return job;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto filter = ml::JobFilter::Parse(text);
  if (!filter.ok()) {
    const Error& error = filter.error();
    if (error.code != Code::kInvalidArgument || error.message.empty()) std::abort();
    return 0;
  }
  const bool matches = filter->Matches(AJob());
  const auto negated = ml::JobFilter::Parse("NOT (" + text + ")");
  if (negated.ok() && negated->Matches(AJob()) == matches) std::abort();
  return 0;
}
