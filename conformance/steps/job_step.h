#pragma once
// Steps that follow a job: `await` waits for a state; `run` creates a job of the probe and returns
// what its replicas saw.

#include <functional>

#include "conformance/steps/scope.h"

namespace conform {

/// Reads the same result again, for expectations that become true later.
using Look = std::function<Result<Json>()>;

/// Waits until the job is in one of the states, or has ended. Returns {state, body, replicas,
/// lines, logs}; the last three only with `logs: true`.
Result<Look> Await(Scope& scope, const Json& step);
/// Runs `run: {base, set, unset}` with `do: [words of the probe]`: creates a job and awaits its
/// end.
Result<Look> RunJob(Scope& scope, const Json& step);

/// Reads the probe's lines: {"master-replica-0": [{argv, env, ...} of each start]}.
Json ReplicasIn(const Json& logs);

}  // namespace conform
