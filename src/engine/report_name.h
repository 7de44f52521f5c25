#pragma once
// What a report is known by (docs/service/hyperparameter-tuning.md, section 5: step and time).

#include <bit>
#include <cstdint>
#include <tuple>

#include "engine/ports.h"

namespace caip::engine {

/// Summary, step, time and value: the same one found again is not taken again. The value belongs to
/// it, as trainers without a clock of their own report several of one step; as bits, for NaN.
using ReportName = std::tuple<bool, int64_t, double, uint64_t>;

inline ReportName NameOf(const Report& report) {
  return {report.summary, report.step, report.time, std::bit_cast<uint64_t>(report.value)};
}

}  // namespace caip::engine
