// Start, end, texts of errors, and what NVML says about the machine.

#include "host/devices/fake_nvml/bare_calls.h"
#include "host/devices/fake_nvml/nvml_types.h"
#include "host/devices/smi/smi_files.h"

namespace caip::host::fake_nvml {
namespace {

constexpr unsigned kNoGpusFlag = 1;            // NVML_INIT_FLAG_NO_GPUS
constexpr char kNvmlVersion[] = "12.535.0.0";  // of CUDA, then of the driver
constexpr int kCudaVersion = 12020;

struct AnswerText {
  int answer;
  const char* text;
};
constexpr AnswerText kAnswerTexts[] = {
    {kDone, "Success"},
    {kUninitialized, "Uninitialized"},
    {kInvalidArgument, "Invalid Argument"},
    {kNotSupported, "Not Supported"},
    {4, "Insufficient Permissions"},
    {kNotFound, "Not Found"},
    {kInsufficientSize, "Insufficient Size"},
    {kDriverNotLoaded, "Driver Not Loaded"},
    {12, "NVML Shared Library Not Found"},
    {13, "Function Not Found"},
    {kVersionMismatch, "Argument version mismatch"},
};

EntryList gpus;
int start_count = 0;  // of inits without their shutdown
bool is_locked = false;

// Held while the files are read.
class StartLock {
 public:
  StartLock() {
    while (__atomic_test_and_set(&is_locked, __ATOMIC_ACQUIRE)) LetOthersRun();
  }
  ~StartLock() { __atomic_clear(&is_locked, __ATOMIC_RELEASE); }
  StartLock(const StartLock&) = delete;
  StartLock& operator=(const StartLock&) = delete;
};

Answer Start(unsigned flags) {
  const StartLock lock;
  if (start_count == 0) {
    ReadEntryFiles(gpus);
    if (gpus.gpu_count == 0 && !(flags & kNoGpusFlag)) return kDriverNotLoaded;
  }
  __atomic_store_n(&start_count, start_count + 1, __ATOMIC_RELEASE);
  return kDone;
}

}  // namespace

bool IsStarted() { return __atomic_load_n(&start_count, __ATOMIC_ACQUIRE) > 0; }

const EntryList& Gpus() { return gpus; }

Answer CheckDevice(Device device) {
  if (!IsStarted()) return kUninitialized;
  return IsEntry(device) ? kDone : kInvalidArgument;
}

Answer CheckGpu(Device device) {
  const Answer answer = CheckDevice(device);
  return answer == kDone && device->parent ? kNotSupported : answer;
}

Answer GiveText(const char* text, char* target, unsigned size) {
  if (!IsStarted()) return kUninitialized;
  if (!target) return kInvalidArgument;
  return CopyText(text, target, size) ? kDone : kInsufficientSize;
}

NVML_FUNCTION Answer nvmlInitWithFlags(unsigned flags) { return Start(flags); }

NVML_FUNCTION Answer nvmlInit_v2() { return Start(0); }

NVML_FUNCTION Answer nvmlInit() { return Start(0); }

NVML_FUNCTION Answer nvmlShutdown() {
  const StartLock lock;
  if (start_count == 0) return kUninitialized;
  __atomic_store_n(&start_count, start_count - 1, __ATOMIC_RELEASE);
  return kDone;
}

NVML_FUNCTION const char* nvmlErrorString(int answer) {
  for (const AnswerText& known : kAnswerTexts) {
    if (known.answer == answer) return known.text;
  }
  return "Unknown Error";
}

NVML_FUNCTION Answer nvmlSystemGetDriverVersion(char* version, unsigned size) {
  return GiveText(smi::kDriverVersion, version, size);
}

NVML_FUNCTION Answer nvmlSystemGetNVMLVersion(char* version, unsigned size) {
  return GiveText(kNvmlVersion, version, size);
}

NVML_FUNCTION Answer nvmlSystemGetCudaDriverVersion(int* version) {
  if (!IsStarted()) return kUninitialized;
  if (!version) return kInvalidArgument;
  *version = kCudaVersion;
  return kDone;
}

NVML_FUNCTION Answer nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

}  // namespace caip::host::fake_nvml
