#pragma once
// What tests of libcaip-nvml.so share. It is the `libnvidia-ml.so.1` of replicas with fake GPUs,
// and is loaded as programs load it, from a directory that has the files of a replica's GPUs.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "host/devices/fake_devices.h"
#include "host/devices/smi/smi_answers.h"

namespace caip::host {

// Answers, as nvml.h numbers them.
inline constexpr int kNvmlDone = 0;
inline constexpr int kNvmlUninitialized = 1;
inline constexpr int kNvmlInvalidArgument = 2;
inline constexpr int kNvmlNotSupported = 3;
inline constexpr int kNvmlNotFound = 6;
inline constexpr int kNvmlInsufficientSize = 7;
inline constexpr int kNvmlDriverNotLoaded = 9;
inline constexpr int kNvmlVersionMismatch = 25;

/// Two GPUs. The second one is in MIG mode, with two instances.
inline constexpr char kMixedFakes[] = "1xNVIDIA_TESLA_T4,1xNVIDIA_TESLA_A100:1x2g.10gb+1x3g.20gb";

/// The library of a replica with fake GPUs, loaded and started (Open).
class FakeNvml : public ::testing::Test {
 protected:
  using Handle = void*;

  ~FakeNvml() override {
    if (library_) ::dlclose(library_);
  }

  /// Loads the library of a replica that was lent these GPUs, and starts it.
  void Open(const char* gpus, bool starts = true) {
    fakes_ = *MakeFakeDevices(gpus, "");
    const Path directory = root_.path() / "own";
    ASSERT_TRUE(MakeDirectories(directory).ok());
    ASSERT_TRUE(GiveGpuTools({"/program", "/library"}, directory, fakes_).ok());
    path_ = directory / smi::kLibrary;
    std::filesystem::copy_file(CAIP_NVML, path_);
    library_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    if (!starts) return;
    ASSERT_EQ(Call("nvmlInit_v2"), kNvmlDone);
  }

  template <typename... Arguments>
  int Call(const char* name, Arguments... arguments) {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library_, name));
    if (function) return function(arguments...);
    ADD_FAILURE() << name << " is missing";
    return -1;
  }

  template <typename Value>
  Value Get(const char* name, Handle device) {
    Value value = {};
    EXPECT_EQ(Call(name, device, &value), kNvmlDone) << name;
    return value;
  }

  std::string GetText(const char* name, Handle device) {
    char text[96] = {};
    EXPECT_EQ(Call(name, device, static_cast<char*>(text), 96u), kNvmlDone) << name;
    return text;
  }

  Handle Gpu(unsigned index) {
    Handle device = nullptr;
    EXPECT_EQ(Call("nvmlDeviceGetHandleByIndex_v2", index, &device), kNvmlDone) << index;
    return device;
  }

  Handle InstanceOf(Handle gpu, unsigned index) {
    Handle device = nullptr;
    EXPECT_EQ(Call("nvmlDeviceGetMigDeviceHandleByIndex", gpu, index, &device), kNvmlDone);
    return device;
  }

  /// The GPUs as `nvidia-smi -L` lists them.
  std::string ListByNvml() {
    unsigned count = 0;
    EXPECT_EQ(Call("nvmlDeviceGetCount_v2", &count), kNvmlDone);
    std::vector<smi::SmiGpu> gpus;
    for (unsigned i = 0; i < count; ++i) {
      const Handle gpu = Gpu(i);
      smi::SmiGpu listed{0, GetText("nvmlDeviceGetUUID", gpu), GetText("nvmlDeviceGetName", gpu), 0,
                         ""};
      for (unsigned j = 0; j < Get<unsigned>("nvmlDeviceGetMaxMigDeviceCount", gpu); ++j) {
        Handle instance = nullptr;
        if (Call("nvmlDeviceGetMigDeviceHandleByIndex", gpu, j, &instance) != kNvmlDone) break;
        const std::string name = GetText("nvmlDeviceGetName", instance);
        listed.instances.push_back(
            {name.substr(name.rfind(' ') + 1), GetText("nvmlDeviceGetUUID", instance)});
      }
      gpus.push_back(std::move(listed));
    }
    return smi::AnswerSmi({"-L"}, gpus).out;
  }

  std::string ListBySmi() const {
    std::vector<smi::SmiGpu> files;
    for (const caip::host::Gpu& gpu : fakes_.gpus) {
      const auto text = ReadFile(gpu.nodes.back().file);
      if (text.ok()) files.push_back(*smi::ParseSmiGpu(*text));
    }
    return smi::AnswerSmi({"-L"}, smi::MergeSmiGpus(files)).out;
  }

  TemporaryDirectory root_{"caip-nvml-"};
  FakeDevices fakes_;
  Path path_;
  void* library_ = nullptr;
};

}  // namespace caip::host
