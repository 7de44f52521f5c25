#pragma once
// Waiting times of a job: in the queue, for its machines, and for a replacement machine.

#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"

namespace caip::run {

struct NoDelay {
  bool operator==(const NoDelay&) const = default;
};
struct ConstantDelay {
  Duration delay{0};
  bool operator==(const ConstantDelay&) const = default;
};
/// Evenly between the two, both included.
struct UniformDelay {
  Duration least{0};
  Duration most{0};
  bool operator==(const UniformDelay&) const = default;
};
/// Half of the waits are shorter than the median; a larger `sigma` makes the long waits longer.
struct LognormalDelay {
  Duration median{0};
  double sigma = 0;
  bool operator==(const LognormalDelay&) const = default;
};
/// The first `tries` tries find no machine; there is one every `every`.
struct StockOut {
  int tries = 1;
  Duration every = std::chrono::minutes(5);
  bool operator==(const StockOut&) const = default;
};
using DelayModel = std::variant<NoDelay, ConstantDelay, UniformDelay, LognormalDelay, StockOut>;

/// The service asks for machines this often before the job fails
/// (docs/service/replica-environment.md, section 7).
inline constexpr int kStockOutTriesMax = 3;

/// One random draw: the machines exist after `delay`, or the attempt fails then.
struct Wait {
  Duration delay{0};
  int failed_tries = 0;
  bool out_of_stock = false;
};

/// Reads "none", "constant:20m", "uniform:1m..20m", "lognormal:median=5m,sigma=0.8",
/// "stock-out:tries=3" (and ",every=5m"). The error says what may be written.
Result<DelayModel> ParseDelayModel(std::string_view text);
/// The text that ParseDelayModel reads as this.
std::string Text(const DelayModel& model);

Wait Throw(const DelayModel& model, Random& random);

}  // namespace caip::run
