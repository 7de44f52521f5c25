#pragma once
// Values of a resource by the keys of --format.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "emulator/cli/print/format_expression.h"

namespace caip::cli {

/// The value at the end of `path`, null where there is none. A name behind a list is asked of each
/// element. `job_id` finds jobId, as in gcloud.
Json ValueAt(const Json& resource, const std::vector<KeyStep>& path);

/// The part of the resource that the keys name, with their transforms done: what yaml(...) and
/// json(...) print. All of it without keys; null when nothing is left.
Json Projected(const Json& resource, const std::vector<FormatKey>& keys, bool transforms);

/// A job as gcloud has read it: fields that are doubles in the API (docs/service/api.md, section 7)
/// are doubles even where JSON says 1.
Json WithDoubles(Json resource);

}  // namespace caip::cli
