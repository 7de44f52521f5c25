#pragma once
// Steps with one request: `call`, and `create`, which creates a job from a template.

#include "conformance/steps/scope.h"

namespace conform {

/// Runs a filled `call` step and returns {status, headers, body, text}.
Result<Json> Call(Scope& scope, const Json& step);
/// The same for a `create` step. The job's id becomes ${job}.
Result<Json> Create(Scope& scope, const Json& step);

/// The job of `create: {base, set, unset, job}`: a template with changed paths, such as
/// {"trainingInput.workerCount": 3}. A null removes a member, like `unset`.
Result<Json> BuildJob(const World& world, const Json& form);

}  // namespace conform
