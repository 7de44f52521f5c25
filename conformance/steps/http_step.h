#pragma once
// Steps that are one request: `call`, and `create`, which makes a job out of a written one.

#include "conformance/steps/scope.h"

namespace conform {

/// What a filled `call` step sees: {status, headers, body, text}.
Result<Json> Call(Scope& scope, const Json& step);
/// The same of a `create` step; the job's id becomes ${job}.
Result<Json> Create(Scope& scope, const Json& step);

/// The job of `create: {base, set, unset, job}`: a written one with paths changed, such as
/// {"trainingInput.workerCount": 3}, a null taking a member away as `unset` does.
Result<Json> JobOf(const World& world, const Json& form);

}  // namespace conform
