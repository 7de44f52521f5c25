#pragma once
// pip's command lines and environment, as values.

#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "host/process/child_process.h"
#include "host/python/interpreters.h"
#include "host/python/packages_archive.h"

namespace caip::host {

/// Where pip may look for dependencies, beside what pip's own configuration says.
struct PipSettings {
  std::vector<std::string> find_links;  // directories or URLs
  std::string index_url;                // "" pip's own
  bool no_index = false;
};

/// One pip run.
struct PipCommand {
  std::vector<std::string> argv;
  std::string shown;  // as the service's launcher would have called it
};

/// The two commands of the service's launcher for one package in the working directory
/// (docs/service/replica-environment.md, section 5). `--user` is missing: the environment is the
/// job's own.
std::vector<PipCommand> InstallCommands(const Path& python, const std::string& file_name,
                                        const PipSettings& settings, bool no_build_isolation);

/// True when pip would make a build environment from the network, but need not: the package wants
/// nothing that `tools` lack. (A setup.py alone is built in place by every pip below 25.3.)
struct BuildTools {
  std::string pip;  // version
  bool has_setuptools = false;
  bool has_wheel = false;
};
bool SparesBuildIsolation(const ArchiveFacts& facts, const BuildTools& tools);

/// pip's environment: the user's proxies, certificates, compilers and pip settings, but nothing
/// that would lead an installation elsewhere.
Variables PipEnvironment(const Variables& own, const Path& environment);

/// What of the user's pip configuration may change what is installed: for the environment's key.
std::vector<std::string> PipFacts(const Variables& own, const PipSettings& settings);

}  // namespace caip::host
