#pragma once
// pip's command lines and environment as values, and checks of packages without pip.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "host/process/child_process.h"
#include "host/python/interpreters.h"

namespace caip::host {

/// The limits of an unpacked package.
struct ArchiveLimits {
  uint64_t bytes = 16ull << 30;
  uint64_t members = 1'000'000;
};

struct ArchiveFacts {
  bool has_pyproject = false;
  /// The names in `requires` of pyproject.toml's [build-system], in lower case.
  std::vector<std::string> build_requires = {};
};

/// Reads an sdist or wheel completely. An error names the faulty member: one outside of the
/// directory (an absolute path, "..", a link to the outside), too many or too large members, or a
/// broken or unknown format.
Result<ArchiveFacts> CheckArchive(const Path& archive, const ArchiveLimits& limits = {});

/// Unpacks a trusted wheel of pure Python into a site-packages directory.
Status UnpackWheel(const Path& wheel, const Path& directory);

/// The distribution names in `requires` of [build-system]; a missing one means setuptools.
std::vector<std::string> BuildRequires(std::string_view pyproject);

/// Places where pip looks for dependencies, in addition to those of pip's own configuration.
struct PipSettings {
  std::vector<std::string> find_links;  // directories or URLs
  std::string index_url;                // "": pip's own
  bool no_index = false;
};

/// One pip run.
struct PipCommand {
  std::vector<std::string> argv;
  std::string shown;  // the command line of the service's launcher
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
/// that would move the installation to another place.
Variables PipEnvironment(const Variables& own, const Path& environment);

/// The parts of the user's pip configuration that may change what is installed, for the
/// environment's key.
std::vector<std::string> PipFacts(const Variables& own, const PipSettings& settings);

}  // namespace caip::host
