#pragma once
// pip's command lines and environment as values.

#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "host/process/child_process.h"
#include "host/python/interpreters.h"
#include "host/python/package_archive.h"

namespace caip::host {

/// Places where pip looks for dependencies, in addition to those of pip's own configuration.
struct PipSettings {
  std::vector<std::string> find_links;  // directories or URLs
  std::string index_url;                // "": pip's own
  bool no_index = false;
};

/// One pip run.
struct PipCommand {
  std::vector<std::string> argv;
  std::string shown;   // the command line of the service's launcher, without --user
  std::string quoted;  // the same with --user, as the launcher quotes it in the log
};

/// The two commands of the service's launcher for one package in the working directory
/// (docs/service/replica-environment.md, section 5). They lack `--user`, because the
/// environment is the job's own.
std::vector<PipCommand> InstallCommands(const Path& python, const std::string& file_name,
                                        const PipSettings& settings, bool no_build_isolation);

/// The build tools that an environment has.
struct BuildTools {
  std::string pip;  // version
  bool has_setuptools = false;
  bool has_wheel = false;
};
/// True if pip would create a build environment from the network although `tools` have everything
/// that the package requires. (Every pip before 25.3 builds a package with only a setup.py in
/// place.)
bool SparesBuildIsolation(const ArchiveFacts& facts, const BuildTools& tools);

/// pip's environment: the user's proxies, certificates, compilers and pip settings, but no variable
/// that would move the installation to another place. `scratch` is for its temporary files, which
/// a killed pip leaves.
Variables PipEnvironment(const Variables& own, const Path& environment, const Path& scratch);

/// The parts of the user's pip configuration that may change what is installed, for the
/// environment's key.
std::vector<std::string> PipFacts(const Variables& own, const PipSettings& settings);

}  // namespace caip::host
