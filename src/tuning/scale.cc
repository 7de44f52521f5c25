#include "tuning/scale.h"

#include <algorithm>
#include <cmath>

namespace caip::tuning {
namespace {

// Uses halves, so that a range of all doubles does not overflow.
double LinearUnit(double least, double most, double x) {
  return (x / 2 - least / 2) / (most / 2 - least / 2);
}

double LogUnit(double least, double most, double x) {
  return (std::log(x) - std::log(least)) / (std::log(most) - std::log(least));
}

double LogValue(double least, double most, double unit) {
  return std::exp(std::lerp(std::log(least), std::log(most), unit));
}

// Mirrors `x` within the range.
double Mirror(double least, double most, double x) { return (most - x) + least; }

}  // namespace

Scale ParseScale(std::string_view name) {
  if (name == "UNIT_LOG_SCALE") return Scale::kLog;
  if (name == "UNIT_REVERSE_LOG_SCALE") return Scale::kReverseLog;
  return Scale::kLinear;
}

double ToUnit(Scale scale, double least, double most, double x) {
  if (!(least < most)) return 0.5;
  double unit = 0;
  switch (scale) {
    case Scale::kLinear:
      unit = LinearUnit(least, most, x);
      break;
    case Scale::kLog:
      unit = LogUnit(least, most, x);
      break;
    case Scale::kReverseLog:
      unit = 1 - LogUnit(least, most, Mirror(least, most, x));
      break;
  }
  return std::clamp(unit, 0.0, 1.0);
}

double FromUnit(Scale scale, double least, double most, double unit) {
  double x = least;
  switch (scale) {
    case Scale::kLinear:
      x = std::lerp(least, most, unit);
      break;
    case Scale::kLog:
      x = LogValue(least, most, unit);
      break;
    case Scale::kReverseLog:
      x = Mirror(least, most, LogValue(least, most, 1 - unit));
      break;
  }
  return std::clamp(x, least, most);
}

}  // namespace caip::tuning
