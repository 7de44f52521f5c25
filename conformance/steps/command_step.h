#pragma once
// Steps that run a command: `submit`, judged by what reaches a recording endpoint, and `train`
// (local training), judged by what the probe tells on its standard output.

#include "conformance/steps/scope.h"

namespace conform {

/// {exit, out, err, job, jobs, uploads, requests, replicas} of a filled `command` step. `replicas`
/// has the records of the probe by "chief-0", or "single" where TF_CONFIG names no task.
Result<Json> RunCommand(Scope& scope, const Json& step);

/// The variables that lead Google's command line, and those of its kind, to one endpoint.
std::map<std::string, std::string> LeadTo(const std::string& url, const std::string& project,
                                          const std::string& home);

}  // namespace conform
