#pragma once
// What the engine keeps of a custom job: the CustomJob and where it runs.

#include <string>

#include "base/result.h"
#include "run/job.h"
#include "vertex/custom_job.h"

namespace caip::vertex {

struct StoredCustomJob {
  CustomJob job;
  std::string region;
};

run::Document ToDocument(const CustomJob& job, const std::string& region);
/// kDataLoss: the document is none of ToDocument.
Result<StoredCustomJob> ReadDocument(const run::Document& document);
/// The CustomJob of a document in API JSON, unread; an empty object for another document.
const Json& JobPartOf(const run::Document& document);

}  // namespace caip::vertex
