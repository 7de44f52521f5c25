#pragma once
// pip's command lines and environment, as values.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "host/python/interpreters.h"

namespace caip::host {

// A look into a package before pip gets it, and wheels unpacked without pip.

/// What one package may be at most when it is unpacked.
struct ArchiveLimits {
  uint64_t bytes = 16ull << 30;
  uint64_t members = 1'000'000;
};

struct ArchiveFacts {
  bool has_pyproject = false;
  /// Of pyproject.toml's [build-system], the names in `requires`, in lower case.
  std::vector<std::string> build_requires = {};
};

/// Reads a sdist or wheel to its end. Errors name the member at fault: one that lies outside
/// (absolute, "..", a link that leads out), too many or too large ones, a broken or foreign format.
Result<ArchiveFacts> CheckArchive(const Path& archive, const ArchiveLimits& limits = {});

/// Unpacks a trusted wheel: pure Python, into a site-packages directory.
Status UnpackWheel(const Path& wheel, const Path& directory);

/// The distribution names in `requires` of [build-system]; an absent one means setuptools.
std::vector<std::string> BuildRequires(std::string_view pyproject);

/// Where pip may look for dependencies, beside what pip's own configuration says.
struct PipSettings {
  std::vector<std::string> find_links;  // directories or URLs
  std::string index_url;                // "" pip's own
  bool no_index = false;
};

using Variables = std::vector<std::pair<std::string, std::string>>;

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
