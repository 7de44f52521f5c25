// A stand-in for NVIDIA's management library: four devices, out of order, one of them gone and one
// in MIG mode, with two instances.

#include <cstdio>
#include <cstring>

namespace {

struct Card {
  const char* name;
  const char* uuid;
  const char* bus_id;  // nullptr: not known for an instance
  bool is_split = false;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
constexpr Card kCards[] = {
    {"Tesla V100-SXM2-16GB", "GPU-second", "00000000:00:05.0"},
    {nullptr, nullptr, nullptr},
    {"NVIDIA A100-SXM4-40GB", "GPU-third", "00000000:00:06.0", true},
    {"Tesla T4", "GPU-first", "00000000:00:04.0"},
};
constexpr unsigned kCardCount = sizeof kCards / sizeof *kCards;
// By their numbers. The second one does not exist.
constexpr Card kInstances[] = {
    {"NVIDIA A100-SXM4-40GB MIG 3g.20gb", "MIG-big", nullptr, false, 2, 0},
    {nullptr, nullptr, nullptr},
    {"NVIDIA A100-SXM4-40GB MIG 1c.2g.10gb", "MIG-small", nullptr, false, 3, 1},
};
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kGpuIsLost = 15;

struct Memory {
  unsigned long long total, free, used;
};
struct PciInfo {
  char bus_id_legacy[16];
  unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

int Copy(const char* from, char* to, unsigned size) {
  std::snprintf(to, size, "%s", from);
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = kCardCount;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, const Card** card) {
  if (kCards[index].name == nullptr) return kGpuIsLost;
  *card = &kCards[index];
  return 0;
}
int nvmlDeviceGetName(const Card* card, char* text, unsigned size) {
  return Copy(card->name, text, size);
}
int nvmlDeviceGetUUID(const Card* card, char* text, unsigned size) {
  return Copy(card->uuid, text, size);
}
int nvmlDeviceGetMemoryInfo(const Card*, Memory* memory) {
  *memory = {15360ull << 20, 0, 0};
  return 0;
}
int nvmlDeviceGetPciInfo_v3(const Card* card, PciInfo* info) {
  if (card->bus_id == nullptr) return kNotSupported;
  std::memset(info, 0, sizeof *info);
  return Copy(card->bus_id, info->bus_id, sizeof info->bus_id);
}
int nvmlDeviceGetMigMode(const Card* card, unsigned* current, unsigned* pending) {
  *current = *pending = card->is_split ? 1 : 0;
  return card->is_split ? 0 : kNotSupported;
}
int nvmlDeviceGetMaxMigDeviceCount(const Card*, unsigned* count) {
  *count = 7;
  return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(const Card*, unsigned index, const Card** instance) {
  if (index >= sizeof kInstances / sizeof *kInstances) return kNotFound;
  if (kInstances[index].name == nullptr) return kNotFound;
  *instance = &kInstances[index];
  return 0;
}
int nvmlDeviceGetGpuInstanceId(const Card* instance, unsigned* id) {
  *id = instance->gpu_instance;
  return 0;
}
int nvmlDeviceGetComputeInstanceId(const Card* instance, unsigned* id) {
  *id = instance->compute_instance;
  return 0;
}

}  // extern "C"
