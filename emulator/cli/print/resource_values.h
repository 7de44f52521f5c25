#pragma once
// The values of a resource that the keys of --format name.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "emulator/cli/print/format_expression.h"

namespace caip::cli {

/// The value at the end of `path`; null if it is missing. A name after a list is looked up in each
/// element. `job_id` finds jobId, as in gcloud.
Json ValueAt(const Json& resource, const std::vector<KeyStep>& path);

/// The part of the resource that the keys name, with their transforms applied: the output of
/// yaml(...) and json(...). The whole resource without keys; null if nothing is left.
Json Projected(const Json& resource, const std::vector<FormatKey>& keys, bool transforms);

/// A job as gcloud parses it: fields that are doubles in the API (docs/service/api.md, section 7)
/// are doubles even if the JSON has 1.
Json WithDoubles(Json resource);

}  // namespace caip::cli
