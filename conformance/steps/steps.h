#pragma once
// The steps of a case, by kind.

#include <functional>

#include "conformance/steps/scope.h"

namespace conform {

// command_step.cc: steps that run a command: `submit`, judged by the requests to a recording
// endpoint, and `train` (local training), judged by the probe's standard output.

/// Runs a filled `command` step and returns {exit, out, err, job, jobs, uploads, requests,
/// replicas}. `replicas` has the probe's records by replica, such as "chief-0"; "single" if
/// TF_CONFIG names no task.
Result<Json> RunCommand(Scope& scope, const Json& step);

/// The environment variables that make gcloud, and similar programs, use one endpoint.
std::map<std::string, std::string> EndpointEnvironment(const std::string& url,
                                                       const std::string& project,
                                                       const std::string& home);

// http_step.cc: steps with one request: `call`, and `create`, which creates a job from a template.

/// Runs a filled `call` step and returns {status, headers, body, text}.
Result<Json> Call(Scope& scope, const Json& step);
/// The same for a `create` step. The job's id becomes ${job}.
Result<Json> Create(Scope& scope, const Json& step);

/// The job of `create: {base, set, unset, job}`: a template with changed paths, such as
/// {"trainingInput.workerCount": 3}. A null removes a member, like `unset`.
Result<Json> BuildJob(const World& world, const Json& form);

// job_step.cc: steps that follow a job: `await` waits for a state; `run` creates a job of the probe
// and returns what its replicas saw.

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
