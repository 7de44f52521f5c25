#pragma once
// MIG instances of GPUs: their names and their files. Source: NVIDIA's "MIG User Guide", sections
// "Device Nodes and Capabilities" and "Running CUDA Applications as Containers".

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "host/devices/gpu.h"

namespace caip::host {

/// The capability files in /dev that open an instance, beside that of its GPU: those of its GPU
/// instance and its compute instance. `minor`: the number of its GPU's file. If the instance is not
/// known, those of all instances of the GPU. Files that do not exist are left out.
std::vector<engine::DeviceNode> MigNodes(const MigInstance& instance, const std::string& minor,
                                         const Path& proc_nvidia, const Path& dev);

/// Replaces each GPU that has instances in the output of `nvidia-smi -L` by them.
std::vector<Gpu> WithMigInstances(std::vector<Gpu> gpus, std::string_view listed);

/// True for the name that drivers before 470 give an instance: "MIG-GPU-.../1/0".
bool IsNamed(const MigInstance& instance, std::string_view name);

}  // namespace caip::host
