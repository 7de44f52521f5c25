#pragma once
// Steps about a job's life: `await` a state, and `run`, which makes a job of the probe and looks at
// what its replicas saw.

#include <functional>

#include "conformance/steps/scope.h"

namespace conform {

/// Looks again at the same thing, for expectations that come true later.
using Look = std::function<Result<Json>()>;

/// Waits until the job is in one of the states, or has ended. What is seen then:
/// {state, body, replicas, lines, logs}; the last three with `logs: true`.
Result<Look> Await(Scope& scope, const Json& step);
/// `run: {base, set, unset}` with `do: [words of the probe]`: creates, awaits the end.
Result<Look> RunJob(Scope& scope, const Json& step);

/// What the probe's lines tell: {"master-replica-0": [{argv, env, ...} of each start]}.
Json ReplicasIn(const Json& logs);

}  // namespace conform
