#pragma once
// Makes an environment with the frameworks of a runtime version (runtime_environments.h), or with
// the nearest versions of them that can be installed on this host.

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/process/child_process.h"
#include "host/python/interpreters.h"
#include "host/python/runtime_environments.h"

namespace caip::host {

/// What to install.
struct RuntimeOrder {
  std::string version;                   // "2.11"
  std::string wanted_python;             // the service's: "3.7"
  std::vector<RuntimePackage> packages;  // without `installed`
};

/// The world of an installation.
struct RuntimeTools {
  Path runtimes;              // <state>/runtimes
  Interpreter interpreter;    // the environment is made for it
  Variables own_environment;  // OwnEnvironment(): proxies and pip settings come from there
  /// Gets each step and each line of pip's output.
  std::function<void(std::string_view line)> on_line;
  std::stop_token stop = {};
};

/// The version of `available` that replaces `wanted`: itself, the newest with the same first two
/// numbers, the newest of the nearest newer ones, the newest older one. Versions that are not
/// numbers and dots are passed over. "": none.
std::string NearestVersion(const std::string& wanted, const std::vector<std::string>& available);

/// The versions that `pip index versions` lists in its output.
std::vector<std::string> VersionsOfIndex(std::string_view output);

/// Installs with pip, checks that each framework can be imported, and keeps the environment. It
/// replaces an earlier one. Blocks for minutes. If it fails or is stopped, nothing remains.
/// kAborted: pip failed or found nothing, or a framework cannot be imported; the message has the
/// end of the output. kFailedPrecondition: the interpreter has no pip, or another process installs
/// a runtime. kCancelled: it was stopped.
Result<RuntimeEnvironment> InstallRuntime(const RuntimeOrder& order, const RuntimeTools& tools);

}  // namespace caip::host
