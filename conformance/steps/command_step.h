#pragma once
// Steps that run a command: `submit`, judged by the requests to a recording endpoint, and `train`
// (local training), judged by the probe's standard output.

#include "conformance/steps/scope.h"

namespace conform {

/// Runs a filled `command` step and returns {exit, out, err, job, jobs, uploads, requests,
/// replicas}. `replicas` has the probe's records by replica, such as "chief-0"; "single" if
/// TF_CONFIG names no task.
Result<Json> RunCommand(Scope& scope, const Json& step);

/// The environment variables that make gcloud, and similar programs, use one endpoint.
std::map<std::string, std::string> EndpointEnvironment(const std::string& url,
                                                       const std::string& project,
                                                       const std::string& home);

}  // namespace conform
