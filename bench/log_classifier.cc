// Measures how many lines one core classifies in a second: plain ones, TensorFlow's, tracebacks.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "host/process/log_entry.h"

namespace {

using caip::host::CapturedEntry;
using caip::host::LineClassifier;
using caip::host::OutputStream;

std::vector<std::string> Plain() {
  std::vector<std::string> lines;
  for (int i = 0; i < 1000; ++i) {
    lines.push_back("epoch 3 step " + std::to_string(i) + ": loss 0.0123, accuracy 0.9876");
  }
  return lines;
}

std::vector<std::string> TensorFlow() {
  std::vector<std::string> lines;
  for (int i = 0; i < 1000; ++i) {
    lines.push_back("2020-02-09 17:36:42.123456: I tensorflow/core/platform/cpu_feature_guard.cc:" +
                    std::to_string(i) + "] Your CPU supports instructions that this binary uses");
  }
  return lines;
}

std::vector<std::string> Tracebacks() {
  std::vector<std::string> lines;
  while (lines.size() < 1000) {
    lines.push_back("Traceback (most recent call last):");
    for (int i = 0; i < 6; ++i) {
      lines.push_back(
          "  File \"/root/.local/lib/python3.7/site-packages/trainer/task.py\", line 3");
      lines.push_back("    main(arguments)");
    }
    lines.push_back("ValueError: no");
  }
  return lines;
}

std::vector<std::string> Records() {
  std::vector<std::string> lines;
  for (int i = 0; i < 1000; ++i) {
    lines.push_back(
        "\x1e"
        "caip-log:{\"severity\":\"INFO\",\"message\":\"epoch 3 step " +
        std::to_string(i) + ": loss 0.0123\",\"pathname\":\"/x/trainer/task.py\",\"lineno\":73}");
  }
  return lines;
}

void Classify(benchmark::State& state, OutputStream stream, const std::vector<std::string>& lines) {
  LineClassifier classifier(stream);
  size_t entries = 0;
  const LineClassifier::Emit emit = [&](const CapturedEntry& entry) {
    benchmark::DoNotOptimize(entry.message.data());
    ++entries;
  };
  for (auto _ : state) {
    for (const std::string& line : lines) classifier.Feed(line, emit);
  }
  classifier.Finish(emit);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * lines.size()));
  state.counters["entries"] = static_cast<double>(entries);
}

BENCHMARK_CAPTURE(Classify, stdout_plain, OutputStream::kStdout, Plain());
BENCHMARK_CAPTURE(Classify, stderr_plain, OutputStream::kStderr, Plain());
BENCHMARK_CAPTURE(Classify, stderr_tensorflow, OutputStream::kStderr, TensorFlow());
BENCHMARK_CAPTURE(Classify, stderr_tracebacks, OutputStream::kStderr, Tracebacks());
BENCHMARK_CAPTURE(Classify, stderr_records, OutputStream::kStderr, Records());

}  // namespace

BENCHMARK_MAIN();
