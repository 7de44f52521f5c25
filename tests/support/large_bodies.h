#pragma once
// Large request bodies, and a comparison of the processor time that they take. Unlike the time on
// the clock, processor time hardly depends on other work of the host.

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace caip {

/// The processor time of all threads of this process, in seconds. A server of the test is one.
inline double ProcessorSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The least of a few runs: all that disturbs a run only adds to its time.
inline double LeastProcessorSeconds(const std::function<void()>& work) {
  constexpr int kRuns = 3;
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < kRuns; ++i) {
    const double start = ProcessorSeconds();
    work();
    least = std::min(least, ProcessorSeconds() - start);
  }
  return least;
}

/// {"k0":VALUE,"k1":VALUE,...}
inline std::string ObjectText(int keys, std::string_view value = R"("v")") {
  std::string text = "{";
  for (int i = 0; i < keys; ++i) {
    text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":";
    text += value;
  }
  return text + "}";
}

/// [VALUE,VALUE,...]
inline std::string ListText(int values, std::string_view value) {
  std::string text = "[";
  for (int i = 0; i < values; ++i) text.append(i == 0 ? "" : ",").append(value);
  return text + "]";
}

/// Compares the work on the text that `make` returns for so many keys, and for four times as many.
/// Linear work takes 4 times the processor time, quadratic work 16 times.
inline void ExpectLinearTime(int keys, const std::function<std::string(int)>& make,
                             const std::function<void(const std::string&)>& work) {
  constexpr double kGrowthMax = 10;
  const std::string small = make(keys);
  const std::string large = make(4 * keys);
  const double small_seconds = LeastProcessorSeconds([&] { work(small); });
  const double large_seconds = LeastProcessorSeconds([&] { work(large); });
  EXPECT_LT(large_seconds, kGrowthMax * small_seconds)
      << keys << " keys take " << small_seconds << " s, " << 4 * keys << " take " << large_seconds
      << " s";
}

}  // namespace caip
