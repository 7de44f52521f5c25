#include "host/machine/device_mounts.h"

#include <string>
#include <utility>

namespace caip::host {
namespace {

using launcher::kMountDevices;
using launcher::kMountOptional;
using launcher::kMountReadOnly;
using launcher::MachineMount;
using launcher::MountKind;

constexpr const char* kNodes[] = {"null", "zero", "full", "random", "urandom", "tty", "fuse"};

}  // namespace

std::vector<MachineMount> DeviceMounts(const engine::ReplicaLaunch& launch) {
  std::vector<MachineMount> mounts = {
      {MountKind::kFileSystem, "tmpfs", "/dev", kMountDevices, "mode=0755,size=64m"}};
  const auto bind = [&mounts](const std::string& path) {
    mounts.push_back({MountKind::kBind, path, path, kMountOptional});
  };
  for (const char* node : kNodes) bind("/dev/" + std::string(node));
  for (const engine::DeviceNode& node : launch.device_nodes) {
    const uint32_t flags = node.is_read_only ? kMountReadOnly : 0;
    mounts.push_back({MountKind::kBind, node.file, node.shown, flags});
  }
  mounts.push_back({MountKind::kFileSystem, "devpts", "/dev/pts", kMountDevices,
                    "newinstance,ptmxmode=0666,mode=0620"});
  mounts.push_back({MountKind::kFileSystem, "tmpfs", "/dev/shm", 0, "mode=1777"});
  mounts.push_back({MountKind::kFileSystem, "mqueue", "/dev/mqueue", kMountOptional});
  for (const auto& [target, link] :
       {std::pair("/dev/ptmx", "pts/ptmx"), std::pair("/dev/fd", "/proc/self/fd"),
        std::pair("/dev/stdin", "/proc/self/fd/0"), std::pair("/dev/stdout", "/proc/self/fd/1"),
        std::pair("/dev/stderr", "/proc/self/fd/2")}) {
    mounts.push_back({MountKind::kLink, link, target});
  }
  return mounts;
}

}  // namespace caip::host
