#pragma once
// GPUs and TPUs that do not exist, for tests of jobs on hosts without them. Their files in /dev are
// the host's /dev/null, so no program can compute on them.

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "host/devices/devices.h"

namespace caip::host {

/// Stands for the file of each fake device.
inline constexpr char kFileOfFakeDevices[] = "/dev/null";

/// Parses "4xNVIDIA_TESLA_T4,1xNVIDIA_TESLA_A100:2x2g.10gb+1x3g.20gb" into fake GPUs with
/// well-formed UUIDs. The MIG profiles after a colon split each GPU of the entry, whose instances
/// are there instead. kInvalidArgument: it is not such a text, or the profiles do not fit on a GPU.
Result<std::vector<Gpu>> FakeGpus(std::string_view text);

/// Fake devices by the texts of settings. `gpus`: as FakeGpus takes it. `tpu`: "v2-8". "": none.
Result<FakeDevices> MakeFakeDevices(std::string_view gpus, std::string_view tpu);

/// What stands for NVIDIA's tools: caip-nvidia-smi and libcaip-nvml.so.
struct GpuTools {
  Path program;
  Path library;
};

/// Gives each replica with fake GPUs an `nvidia-smi` and a `libnvidia-ml.so.1` for these
/// (smi/smi_files.h). Writes the files that describe the GPUs into `directory`.
Status GiveGpuTools(const GpuTools& tools, const Path& directory, FakeDevices& fakes);

/// True for a replica that was lent fake GPUs.
bool HasFakeGpus(const engine::ReplicaLaunch& launch);

}  // namespace caip::host
