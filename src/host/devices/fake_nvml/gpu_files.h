#pragma once
// The GPUs of the replica, as the files beside the library describe them (smi/smi_files.h). The
// memory for them is static, because there is no C library to ask for memory.

#include <cstddef>
#include <cstdint>

namespace caip::host::fake_nvml {

inline constexpr size_t kGpusMax = 1024;  // as `--fake-gpus` allows
inline constexpr size_t kInstancesOfGpuMax = 7;
inline constexpr size_t kFieldBytes = 96;

/// What NVML names a device: a GPU, or a MIG instance of one.
struct Entry {
  char uuid[kFieldBytes];
  char name[kFieldBytes];
  int64_t memory_mib;
  const Entry* parent;  // null: a GPU
  unsigned index;       // in the list of GPUs, or in that of its parent

  // Of a GPU.
  char bus_id[kFieldBytes];
  unsigned minor;
  unsigned capability_major, capability_minor;
  unsigned power_watts;
  size_t instance_count;
  Entry* instances[kInstancesOfGpuMax];

  // Of an instance.
  unsigned slices, memory_gb;  // 2 and 10 of "2g.10gb"
  unsigned gpu_instance;
};

struct EntryList {
  size_t gpu_count;
  Entry* gpus[kGpusMax];  // in the order of their numbers in /dev
};

/// Reads all files again. Entries keep their addresses while the files stay the same.
void ReadEntryFiles(EntryList& list);

/// True for an address of an entry that was read.
bool IsEntry(const void* address);

}  // namespace caip::host::fake_nvml
