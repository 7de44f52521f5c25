#pragma once
// The job of a client's command. Its packages are built once, as objects of buckets, for many runs.

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "client/submit_flags.h"
#include "emulator/scenario/ready_job.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// The defaults of a job with a Python package.
inline constexpr char kDefaultRuntime[] = "2.11";
inline constexpr char kDefaultPython[] = "3.7";

/// The complete job that a client would send.
struct BuiltJob {
  const harness::JobKind* kind = nullptr;
  Json document;
  std::map<std::string, harness::BucketContents> buckets;
  std::vector<Path> packages = {};  // archives in the workshop
  LocalImages images = {};          // of local packages
  std::string warning = {};         // about them; "": none
};

/// The document that a client would send. Region, project and staging bucket are optional. Packages
/// that are built for it are not kept.
Result<Json> MergedDocument(JobWords words);

/// Builds the packages into `workshop` and fills in the fields that are optional for a run on this
/// host (docs/check.md). `metric`: the tag of a tuning job's metric; default: the job's own. Errors
/// are about the arguments and have the client's texts.
Result<BuiltJob> BuildJob(JobWords words, const std::string& metric, const Path& workshop);

/// Fills `scenario` with the job, in place of its words.
void UseBuiltJob(BuiltJob built, harness::Scenario& scenario);

}  // namespace caip::scenario
