#pragma once
// An installation of packages into one environment, whose output goes to any number of runs.

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "host/python/packages.h"

namespace caip::host {

/// A line of the log of an installation.
struct PackageLine {
  engine::Severity severity = engine::Severity::kInfo;
  std::string text;
  /// It quotes a command of the service's launcher, which that of Vertex AI does
  /// (docs/service/vertex.md, section 6).
  bool is_command = false;
};

/// The lines of the service's launcher about one package. Those of pip are missing.
std::vector<PackageLine> LauncherLines(const std::string& uri);

/// Fetches, checks and installs packages, in order. Runs on one thread. Other threads may add and
/// remove watchers. A late watcher gets all earlier lines.
class PackageBuild {
 public:
  using Say = std::function<void(const PackageLine& line)>;
  struct Plan {
    std::string key;
    Interpreter interpreter;
    std::vector<std::string> uris;
    std::vector<PackageIdentity> packages;  // in the order of `uris`
    std::string family = {};                // EnvironmentContents::family
  };
  /// nullopt: the environment is ready.
  using Outcome = std::optional<engine::Prepared::Failure>;

  explicit PackageBuild(Plan plan) : plan_(std::move(plan)) {}

  const Plan& plan() const { return plan_; }
  std::stop_source& stop() { return stop_; }

  /// Sends all output to `run`, beginning with the lines so far.
  void Watch(const engine::RunKey& run, Say say);
  /// Sends no more output to `run`. True if no watcher is left, so that the work is useless.
  bool Unwatch(const engine::RunKey& run);

  Outcome Run(const PackagerOptions& options, PackageSource& source, EnvironmentCache& cache);

 private:
  struct Package {
    std::string uri;
    Path directory;  // contains the file under its own name
    std::string file_name;
    ArchiveFacts facts;
  };
  struct PipFailure {
    int exit_code = 1;
    std::string text;
  };

  void Send(const PackageLine& line);
  void SendLine(engine::Severity severity, const std::string& text);
  bool UpdateEarlier(const PackagerOptions& options, PackageSource& source,
                     const EnvironmentCache& cache);
  bool UpdateFrom(const EnvironmentCache::Member& earlier, const EnvironmentCache& cache);
  Status KeepPackages(const EnvironmentCache& cache) const;
  Outcome InstallAll(const PackagerOptions& options, PackageSource& source, const Path& root);
  Result<Package> Fetch(size_t index, const PackagerOptions& options, PackageSource& source);
  std::optional<PipFailure> Install(const Package& package, const PackagerOptions& options,
                                    const Path& root, const BuildTools& tools);
  std::optional<PipFailure> RunPip(const PipCommand& command, const Package& package,
                                   const PackagerOptions& options, const Variables& environment);

  const Plan plan_;
  std::stop_source stop_;
  std::map<size_t, Package> fetched_;  // by their places in `uris`
  std::string pip_outcome_;            // the last line of the pip command before
  std::mutex mutex_;
  std::vector<PackageLine> said_;           // guarded by mutex_
  std::map<engine::RunKey, Say> watchers_;  // guarded by mutex_
};

/// Installs build tools that the interpreter lacks, and of which this host has wheels, into an
/// environment.
BuildTools SeedBuildTools(const Interpreter& interpreter, const Path& environment);

}  // namespace caip::host
