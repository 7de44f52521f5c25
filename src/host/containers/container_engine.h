#pragma once
// podman and docker as back ends that run the images of jobs.

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "engine/ports.h"
#include "host/process/child_process.h"
#include "run/replica.h"

namespace caip::host {

/// What runs container images.
enum class ContainerEngineKind {
  kBundled,  // caip itself: machines over unpacked layers
  kPodman,
  kDocker,
};

/// A container to run.
struct ContainerRun {
  std::string name;
  std::string image;                   // its name in the engine
  std::vector<std::string> argv;       // instead of ENTRYPOINT and CMD
  Variables environment;               // beside the image's
  std::string working_directory = {};  // in the container; "": the image's
  std::string host_name;
  std::vector<std::pair<std::string, std::string>> hosts = {};  // name and address
  std::vector<run::ShownDirectory> directories = {};
  std::vector<run::ShownDirectory> files = {};  // single files, read-only
  std::vector<std::string> hidden = {};  // directories in the others that are empty, read-only
  /// The files of lent devices; a read-only one belongs to their driver, and is bound.
  std::vector<engine::DeviceNode> devices = {};
};

/// The variables that are secrets of caip: the token of a replica.
Variables SecretsOf(const Variables& environment);

/// The program of an engine. Each call starts it. Any thread.
class ContainerEngine {
 public:
  /// `state_id` marks the containers of a state directory. `own_environment`: OwnEnvironment(),
  /// with the settings of the engine. Repeats failed removals for `removal_patience`.
  ContainerEngine(ContainerEngineKind kind, std::string state_id, Variables own_environment,
                  std::chrono::milliseconds removal_patience = std::chrono::seconds(10));

  /// "podman", "docker".
  const std::string& name() const { return name_; }
  const Variables& environment() const { return own_environment_; }

  /// kFailedPrecondition: the program is missing, or the engine does not answer.
  Status Check() const;
  bool HasImage(const std::string& image) const;
  /// Loads an archive of `docker save`.
  Status Load(const Path& archive, const std::stop_token& stop) const;
  /// The command that runs a container in the network of this host until its program ends. It names
  /// the secrets of the environment (SecretsOf) without their values, which the engine then takes
  /// from its own environment: other users of this host can read a command line.
  std::vector<std::string> CommandFor(const ContainerRun& run) const;
  /// The command that kills and removes a container.
  std::vector<std::string> RemovalOf(const std::string& container) const;
  /// Kills and removes a container. A missing one is not an error, nor is one that another command
  /// removes at the same time. kUnavailable: it may still run.
  Status Remove(const std::string& container) const;
  /// Kills and removes the containers of the state directory. The Error is that of the first one
  /// that is left.
  Status RemoveAll() const;

 private:
  Result<std::vector<std::string>> Names(const std::string& filter) const;
  Result<ToolOutput> Ask(std::vector<std::string> words, std::chrono::milliseconds timeout,
                         const std::stop_token& stop = {}) const;
  std::string Label() const { return "caip.state=" + state_id_; }

  std::string name_;
  std::string state_id_;
  Variables own_environment_;
  std::chrono::milliseconds removal_patience_;
  std::string init_;  // the program that is the first process of a container; "": the engine's own
};

}  // namespace caip::host
