// The first byte of an input selects a list of Vertex AI. Any text is a filter of it, or an error.
// A negated filter matches the other jobs.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/time_text.h"
#include "vertex/document.h"
#include "vertex/filter/custom_job_filter.h"

namespace {

using namespace caip;
using namespace caip::vertex;

run::Job StoredJob(run::Document document) {
  run::Job job;
  job.key = {"p", "1001", "", "us-central1"};
  job.api = "vertex";
  job.state = run::JobState::kRunning;
  job.create_time = *ParseRfc3339("2026-11-21T08:20:00.5Z");
  job.document = std::move(document);
  return job;
}

CustomJob ACustomJob() {
  CustomJob job;
  job.display_name = "census";
  job.labels = {{"team", "a"}, {"phase", "test"}};
  job.plain = {{"display_name", "census"}, {"labels", {{"team", "a"}, {"phase", "test"}}}};
  return job;
}

const run::Job& AJob(ListedAs listed_as) {
  static const run::Job custom = StoredJob(ToDocument(ACustomJob(), "us-central1"));
  static const run::Job pipeline = StoredJob(
      ToDocument(ACustomJob(), "us-central1",
                 StoredPipeline{"2002",
                                {{"display_name", "census"},
                                 {"labels", {{"team", "a"}}},
                                 {"training_task_definition", "gs://x/custom_task_1.0.0.yaml"}}}));
  return listed_as == ListedAs::kTrainingPipeline ? pipeline : custom;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr ListedAs kLists[] = {ListedAs::kCustomJob, ListedAs::kTuningJob,
                                 ListedAs::kTrainingPipeline};
  const ListedAs list = kLists[data[0] % 3];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto filter = CustomJobFilter::Parse(text, list);
  if (!filter.ok()) {
    const Error& error = filter.error();
    if (error.code != Code::kInvalidArgument || error.message.empty()) std::abort();
    return 0;
  }
  const run::Job& job = AJob(list);
  const auto negated = CustomJobFilter::Parse("NOT (" + text + ")", list);
  for (const bool has_queue : {false, true}) {
    const bool matches = filter->Matches(job, has_queue);
    if (negated.ok() && negated->Matches(job, has_queue) == matches) std::abort();
  }
  return 0;
}
