#pragma once
// What the loan of accelerators reports.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::host::errors {

// The settings of fake devices are not valid.
Error FakeGpusMalformed(std::string_view text, std::string_view why);
Error FakeTpuMalformed(std::string_view text, std::string_view known);

// Loans. Warnings are for the log of a job.
Error GpusNeverEnough(std::string_view asked, int64_t present, std::string_view source);
std::string OtherGpu(std::string_view task, int64_t asked, std::string_view type,
                     std::string_view given);
std::string FewerGpus(std::string_view task, int64_t asked, std::string_view type, int64_t given);
std::string GpusShared(std::string_view task, int64_t count);
std::string OnCpuInstead(std::string_view asked, bool has_gpus);
std::string NoTpu(std::string_view type, int64_t count);
std::string FakeTpu(std::string_view type, int64_t count, int64_t given);
std::string OtherTpu(std::string_view type, int64_t count, int64_t given);

// NVIDIA's management library.
Error NvmlMissing(std::string_view library);
Error NvmlIncomplete(std::string_view library);
Error NvmlNotStarted(int code);

}  // namespace caip::host::errors
