#include "harness/faults/machine_lifetime.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/time_text.h"
#include "harness/errors.h"

namespace caip::harness {
namespace {

// The time at its end must fit into an Instant.
constexpr Duration kLifetimeMax = std::chrono::hours(24 * 365 * 50);

constexpr std::pair<std::string_view, MachineLifetime::Kind> kLifetimeKinds[] = {
    {"constant:", MachineLifetime::Kind::kConstant},
    {"exponential:", MachineLifetime::Kind::kExponential},
};

}  // namespace

Result<MachineLifetime> ParseMachineLifetime(std::string_view text) {
  MachineLifetime lifetime;
  std::string_view time = text;
  for (const auto& [prefix, kind] : kLifetimeKinds) {
    if (!text.starts_with(prefix)) continue;
    lifetime.kind = kind;
    time = text.substr(prefix.size());
  }
  const auto mean = ParseDuration(time);
  if (!mean || *mean <= Duration(0)) return errors::NotALifetime(text);
  lifetime.mean = *mean;
  return lifetime;
}

Duration Draw(const MachineLifetime& lifetime, Random& random) {
  if (lifetime.kind == MachineLifetime::Kind::kConstant)
    return std::min(lifetime.mean, kLifetimeMax);
  const double mean = static_cast<double>(lifetime.mean.count());
  const double drawn = -mean * std::log1p(-random.Unit());
  if (drawn >= static_cast<double>(kLifetimeMax.count())) return kLifetimeMax;
  return Duration(static_cast<int64_t>(drawn));
}

}  // namespace caip::harness
