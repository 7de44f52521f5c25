// A stand-in for NVIDIA's management library: three devices, out of order, one of them gone.

#include <cstdio>
#include <cstring>

namespace {

struct Card {
  const char* name;
  const char* uuid;
  const char* bus_id;
};
constexpr Card kCards[] = {{"Tesla V100-SXM2-16GB", "GPU-second", "00000000:00:05.0"},
                           {nullptr, nullptr, nullptr},
                           {"Tesla T4", "GPU-first", "00000000:00:04.0"}};
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
  *count = 3;
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
  std::memset(info, 0, sizeof *info);
  return Copy(card->bus_id, info->bus_id, sizeof info->bus_id);
}

}  // extern "C"
