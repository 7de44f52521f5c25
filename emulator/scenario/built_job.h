#pragma once
// The job of a submit as scenarios run it: packages are built once, and are objects of buckets.

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "client/submit_flags.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// The versions of a job of a Python package that names none.
inline constexpr char kDefaultRuntime[] = "2.11";
inline constexpr char kDefaultPython[] = "3.7";

/// What a submit would send, complete.
struct BuiltJob {
  Json training_input;
  std::map<std::string, harness::BucketContents> buckets;
  std::vector<Path> packages;  // archives, copied into the workshop
};

/// The trainingInput that a submit would send. A region, a project and a staging bucket need not be
/// given. Nothing is kept of packages that are built for it.
Result<Json> MergedInput(client::SubmitRequest request);

/// Builds the packages into `workshop` and fills in what a run on this host need not be given
/// (docs/check.md). `metric`: the tag of a tuning job's metric; "" its own. Errors have the
/// client's texts, and are the user's.
Result<BuiltJob> BuildJob(client::SubmitRequest request, const std::string& metric,
                          const Path& workshop);

/// Whether the master runs an image instead of a Python package.
bool IsContainer(const Json& training_input);

}  // namespace caip::scenario
