#pragma once
// One installation of packages into one environment, watched by any number of runs.

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "host/python/packages.h"

namespace caip::host {

/// Fetches, looks into and installs packages, in order. Runs on one thread; watchers come and go
/// from others. A late watcher gets all earlier lines.
class PackageBuild {
 public:
  using Say = std::function<void(engine::Severity, const std::string& line)>;
  struct Plan {
    std::string key;
    Interpreter interpreter;
    std::vector<std::string> uris;
    std::vector<PackageIdentity> packages;  // in the order of `uris`
  };
  /// Nothing: the environment is ready.
  using Outcome = std::optional<engine::Prepared::Failure>;

  explicit PackageBuild(Plan plan) : plan_(std::move(plan)) {}

  const Plan& plan() const { return plan_; }
  std::stop_source& stop() { return stop_; }

  /// `run` hears everything from now on, beginning with what was said already.
  void Watch(const engine::RunKey& run, Say say);
  /// It hears no more. True when nobody is left to hear: the work is for nothing.
  bool Unwatch(const engine::RunKey& run);

  Outcome Run(const PackagerOptions& options, PackageSource& source, EnvironmentCache& cache);

 private:
  struct Line {
    engine::Severity severity;
    std::string text;
  };
  struct Package {
    std::string uri;
    Path directory;  // where the file lies, under its own name
    std::string file_name;
    ArchiveFacts facts;
  };
  struct LastWords {
    int exit_code = 1;
    std::string text;
  };

  void Tell(engine::Severity severity, const std::string& text);
  Outcome InstallAll(const PackagerOptions& options, PackageSource& source, const Path& root);
  Result<Package> Fetch(size_t index, const PackagerOptions& options, PackageSource& source);
  std::optional<LastWords> Install(const Package& package, const PackagerOptions& options,
                                   const Path& root, const BuildTools& tools);
  std::optional<LastWords> RunPip(const PipCommand& command, const Package& package,
                                  const Variables& environment);

  const Plan plan_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::vector<Line> said_;                  // guarded by mutex_
  std::map<engine::RunKey, Say> watchers_;  // guarded by mutex_
};

/// Puts what the interpreter lacks for building, and its host has as wheels, into an environment.
BuildTools SeedBuildTools(const Interpreter& interpreter, const Path& environment);

}  // namespace caip::host
