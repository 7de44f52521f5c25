#pragma once
// What `nvidia-smi` prints for fake GPUs. Part of caip-nvidia-smi, which machines and images run,
// so it includes nothing else of caip than the places of its files.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/devices/smi/smi_files.h"

namespace caip::host::smi {

struct Instance {
  std::string profile;  // "2g.10gb"
  std::string uuid;     // "MIG-..."
  int gpu_instance = 0;
  int64_t memory_mib = 0;
  bool operator==(const Instance&) const = default;
};

/// A GPU, with those of its MIG instances that the replica was lent.
struct SmiGpu {
  int minor = 0;  // of its file in /dev
  std::string uuid;
  std::string name;
  int64_t memory_mib = 0;
  std::string bus_id;
  std::vector<Instance> instances = {};
  std::string compute_capability = {};  // "7.5"
  int power_watts = 0;                  // the limit
  bool operator==(const SmiGpu&) const = default;
};

/// The text of a GPU's file: one line.
std::string DescribeSmiGpu(const SmiGpu& gpu);

/// nullopt: the text is not that of such a file.
std::optional<SmiGpu> ParseSmiGpu(std::string_view text);

/// One entry for each GPU, in the order of their numbers, with the instances of all its files.
std::vector<SmiGpu> MergeSmiGpus(const std::vector<SmiGpu>& files);

struct SmiAnswer {
  int exit_code = 0;  // as nvidia-smi's: 2 for words that are not valid, 6 without a GPU
  std::string out = {};
  std::string err = {};
};

/// The answer to the words after the program's name.
SmiAnswer AnswerSmi(const std::vector<std::string>& words, std::vector<SmiGpu> gpus);

}  // namespace caip::host::smi
