#pragma once
// The part of the host's GPU driver that programs load. It must be of the version of the kernel's
// part, so no image brings its own.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"

namespace caip::host {

/// Where this host describes its driver, or keeps it. Tests use other places.
struct DriverPlaces {
  /// Directories of descriptions for containers (Container Device Interface 0.8, SPEC.md). A file
  /// in a later directory counts instead of one with the same name in an earlier one.
  std::vector<Path> descriptions = {"/etc/cdi", "/var/run/cdi"};
  /// Where the libraries may be if there is no description. The first directory with libcuda.so.1
  /// is used.
  std::vector<Path> libraries = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64",
                                 "/usr/lib/aarch64-linux-gnu", "/usr/local/nvidia/lib64"};
  /// Where a directory of the driver's own exists, /usr/bin may have scripts that call it.
  std::vector<Path> programs = {"/usr/local/nvidia/bin", "/usr/bin"};
};

/// The driver as an image gets it.
struct GpuDriver {
  std::vector<engine::DeviceNode> files;         // read-only
  std::vector<std::string> library_directories;  // on the machine, for the dynamic linker
  std::vector<std::string> program_directories;  // on the machine
  engine::Environment environment;
  /// The files in /dev of each GPU and MIG instance that a description names by its UUID.
  std::map<std::string, std::vector<engine::DeviceNode>> nodes;
};

/// Reads the descriptions of "nvidia.com/gpu", else looks for the driver's libraries. Descriptions
/// that cannot be read are skipped. Empty if this host has no driver.
GpuDriver ReadGpuDriver(const DriverPlaces& places);

/// True for a replica that has a real GPU and, because of its image, no driver.
bool NeedsDriver(const engine::ReplicaLaunch& launch);

/// Gives the driver to a replica with an image. Its directories come after those of the image.
void AddDriver(const GpuDriver& driver, engine::ReplicaLaunch& launch);

/// The driver of this host, which is read when the first replica needs it. One thread.
class HostGpuDriver {
 public:
  explicit HostGpuDriver(DriverPlaces places) : places_(std::move(places)) {}
  /// Gives the driver to a replica that needs it, and a warning if the host has none; else "". A
  /// replica with fake GPUs finds their nvidia-smi and libnvidia-ml.so.1 first instead.
  std::string GiveTo(engine::ReplicaLaunch& launch);

 private:
  const DriverPlaces places_;
  std::optional<GpuDriver> driver_;
};

}  // namespace caip::host
