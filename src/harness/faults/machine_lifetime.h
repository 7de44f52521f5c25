#pragma once
// How long machines live before the service takes them away, as it does with Spot machines.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"

namespace caip::harness {

struct MachineLifetime {
  enum class Kind { kConstant, kExponential };
  Kind kind = Kind::kExponential;
  Duration mean{0};  // above zero
};

/// Reads "constant:20m", "exponential:2h", or "2h", which is exponential. The error says what may
/// be written.
Result<MachineLifetime> ParseMachineLifetime(std::string_view text);

/// One random draw.
Duration Draw(const MachineLifetime& lifetime, Random& random);

}  // namespace caip::harness
