#include "host/devices/device_errors.h"

#include <string>

#include "base/quoting.h"

namespace caip::host::errors {
namespace {

std::string DevicesOf(int64_t count, std::string_view type) {
  return std::to_string(count) + " " + std::string(type);
}

}  // namespace

Error FakeGpusMalformed(std::string_view text, std::string_view why) {
  return {Code::kInvalidArgument, "fake GPUs " + Quoted(text) + ": " + std::string(why) +
                                      ". Write COUNTxTYPE, with commas between several: "
                                      "4xNVIDIA_TESLA_T4,2xNVIDIA_TESLA_V100. A colon and MIG "
                                      "profiles split each of an entry's GPUs: "
                                      "1xNVIDIA_TESLA_A100:2x2g.10gb+1x3g.20gb."};
}

Error FakeTpuMalformed(std::string_view text, std::string_view known) {
  return {Code::kInvalidArgument, "fake TPU " + Quoted(text) +
                                      ": caip emulates no such TPU. Use one of " +
                                      std::string(known) + "."};
}

Error GpusNeverEnough(std::string_view asked, int64_t present, std::string_view source) {
  return {
      Code::kFailedPrecondition,
      "The job asks for " + std::string(asked) + " at once, but this host has " +
          std::to_string(present) + (present == 1 ? " GPU" : " GPUs") +
          " (found by: " + std::string(source) +
          "), so it could never start. Ask for fewer, or start caip with --gpus=share (replicas "
          "share GPUs) or --gpus=cpu (they run without)."};
}

std::string OtherGpu(std::string_view task, int64_t asked, std::string_view type,
                     std::string_view given) {
  return std::string(task) + " asked for " + DevicesOf(asked, type) + "; it gets " +
         std::string(given) + ", which this host has.";
}

std::string FewerGpus(std::string_view task, int64_t asked, std::string_view type, int64_t given) {
  return std::string(task) + " asked for " + DevicesOf(asked, type) + "; it gets " +
         std::to_string(given) + ", all that this host has (--gpus=share).";
}

std::string GpusShared(std::string_view task, int64_t count) {
  return std::string(task) + " shares " + (count == 1 ? "its GPU" : "its GPUs") +
         " with other replicas (--gpus=share).";
}

std::string OnCpuInstead(std::string_view asked, bool has_gpus) {
  return "The job asked for " + std::string(asked) + "; it runs on the CPU, because " +
         (has_gpus ? "of --gpus=cpu." : "this host has no GPU (--fake-gpus emulates GPUs).");
}

std::string NoTpu(std::string_view type, int64_t count) {
  return "The job asked for " + DevicesOf(count, type) +
         "; this host has no TPU, so it gets the variables of one and runs on the CPU "
         "(--fake-tpu emulates one).";
}

std::string FakeTpu(std::string_view type, int64_t count, int64_t given) {
  return "The job asked for " + DevicesOf(count, type) + "; it gets the fake TPU (" +
         std::to_string(given) + (given == 1 ? " chip)" : " chips)") + " and runs on the CPU.";
}

std::string OtherTpu(std::string_view type, int64_t count, int64_t given) {
  return "The job asked for " + DevicesOf(count, type) + "; it gets this host's TPU (" +
         std::to_string(given) + (given == 1 ? " chip)." : " chips).");
}

Error NvmlMissing(std::string_view library) {
  return {Code::kNotFound, std::string(library) + " is not on this host"};
}

Error NvmlIncomplete(std::string_view library) {
  return {Code::kUnavailable, std::string(library) + " lacks functions that caip needs"};
}

Error NvmlNotStarted(int code) {
  return {Code::kUnavailable, "NVML does not start: error " + std::to_string(code)};
}

}  // namespace caip::host::errors
