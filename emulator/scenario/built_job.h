#pragma once
// The job of a submit command. Its packages are built once, as objects of buckets, for many runs.

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "client/submit_flags.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// The defaults of a job with a Python package.
inline constexpr char kDefaultRuntime[] = "2.11";
inline constexpr char kDefaultPython[] = "3.7";

/// The complete job that a submit would send.
struct BuiltJob {
  Json training_input;
  std::map<std::string, harness::BucketContents> buckets;
  std::vector<Path> packages;  // archives in the workshop
};

/// The trainingInput that a submit would send. Region, project and staging bucket are optional.
/// Packages that are built for it are not kept.
Result<Json> MergedInput(client::SubmitRequest request);

/// Builds the packages into `workshop` and fills in the fields that are optional for a run on this
/// host (docs/check.md). `metric`: the tag of a tuning job's metric; default: the job's own. Errors
/// are about the arguments and have the client's texts.
Result<BuiltJob> BuildJob(client::SubmitRequest request, const std::string& metric,
                          const Path& workshop);

/// Whether the master runs an image instead of a Python package.
bool IsContainer(const Json& training_input);

}  // namespace caip::scenario
