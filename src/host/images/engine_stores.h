#pragma once
// The images that podman and docker have on this host.

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "host/process/child_process.h"

namespace caip::host {

/// An image of a container engine.
struct EngineImage {
  std::string engine;  // "podman"
  std::string id;      // 64 hexadecimal digits; another image has another id
};

/// Asks the engines that are on PATH, podman first. Each question starts a program. Any thread.
class EngineStores {
 public:
  /// `own_environment`: OwnEnvironment(), from which PATH and the settings of the engines come.
  explicit EngineStores(Variables own_environment) : own_environment_(std::move(own_environment)) {}

  /// The image of that name. nullopt: no engine has it, or none answers in time. With `digest`, the
  /// engine must know the image by that digest of its manifest.
  std::optional<EngineImage> Find(const std::string& uri, const std::stop_token& stop,
                                  const std::string& digest = "") const;
  /// Writes the image to a new file, as `docker save` does.
  Status Save(const EngineImage& image, const Path& file, const std::stop_token& stop) const;

 private:
  Variables own_environment_;
};

}  // namespace caip::host
