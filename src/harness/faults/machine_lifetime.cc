#include "harness/faults/machine_lifetime.h"

#include <cmath>
#include <utility>

#include "base/time_text.h"
#include "harness/errors.h"

namespace caip::harness {
namespace {

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
  if (lifetime.kind == MachineLifetime::Kind::kConstant) return lifetime.mean;
  const double mean = static_cast<double>(lifetime.mean.count());
  return Duration(static_cast<int64_t>(-mean * std::log1p(-random.Unit())));
}

}  // namespace caip::harness
