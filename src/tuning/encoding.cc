#include "tuning/encoding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace caip::tuning {
namespace {

constexpr double kTicksMax = 4096;  // longer ranges of integers count as continuous

double ToCoordinate(const Parameter& parameter, const Value& value) {
  if (parameter.type != ValueType::kCategorical) return parameter.UnitOf(value);
  const auto found = std::find(parameter.categories.begin(), parameter.categories.end(),
                               std::get<std::string>(value));
  return static_cast<double>(found - parameter.categories.begin());
}

double NearestTick(const std::vector<double>& ticks, double unit) {
  const auto above = std::lower_bound(ticks.begin(), ticks.end(), unit);
  if (above == ticks.begin()) return ticks.front();
  if (above == ticks.end()) return ticks.back();
  return *above - unit < unit - *(above - 1) ? *above : *(above - 1);
}

// The next tick above or below `from`.
double NextTick(const std::vector<double>& ticks, double from, bool up) {
  const auto at = std::lower_bound(ticks.begin(), ticks.end(), from);
  if (up) return at + 1 < ticks.end() ? *(at + 1) : *(ticks.end() - 2);
  return at > ticks.begin() ? *(at - 1) : ticks[1];
}

double Reflect(double unit) {
  if (unit < 0) unit = -unit;
  if (unit > 1) unit = 2 - unit;
  return std::clamp(unit, 0.0, 1.0);
}

std::vector<double> DrawUnits(size_t count, Random& random) {
  std::vector<double> units(count);
  for (double& unit : units) unit = random.Unit();
  return units;
}

}  // namespace

Encoding::Encoding(const Space& space) : space_(space) {
  for (const Parameter& parameter : space.parameters()) axes_.push_back(AxisOf(parameter));
}

Encoding::Axis Encoding::AxisOf(const Parameter& parameter) const {
  Axis axis;
  axis.categories = parameter.categories.size();
  const double count = parameter.Count();
  axis.is_point =
      count == 1 || (parameter.type == ValueType::kDouble && !(parameter.least < parameter.most));
  if (parameter.type == ValueType::kDiscrete ||
      (parameter.type == ValueType::kInteger && count <= kTicksMax)) {
    for (auto value = parameter.First(); value; value = parameter.After(*value)) {
      axis.ticks.push_back(parameter.UnitOf(*value));
    }
  }
  if (parameter.parent) {
    const Parameter& parent = space_.parameters()[*parameter.parent];
    for (const Value& value : parameter.parent_values) {
      if (parent.Has(value)) axis.activating.push_back(ToCoordinate(parent, value));
    }
  }
  return axis;
}

size_t Encoding::CountVaryingAxes() const {
  return static_cast<size_t>(
      std::count_if(axes_.begin(), axes_.end(), [](const Axis& axis) { return !axis.is_point; }));
}

bool Encoding::IsActiveAt(size_t axis, const Coordinates& at) const {
  const auto& parent = space_.parameters()[axis].parent;
  if (!parent) return true;
  const std::vector<double>& activating = axes_[axis].activating;
  return std::find(activating.begin(), activating.end(), at[*parent]) != activating.end();
}

double Encoding::Snap(size_t axis, double unit) const {
  const Axis& of = axes_[axis];
  if (of.categories > 0) {
    const double count = static_cast<double>(of.categories);
    return std::min(std::floor(unit * count), count - 1);
  }
  if (!of.ticks.empty()) return NearestTick(of.ticks, unit);
  const Parameter& parameter = space_.parameters()[axis];
  return parameter.type == ValueType::kInteger ? parameter.UnitOf(parameter.AtUnit(unit)) : unit;
}

void Encoding::MakeLegal(Coordinates& at, const std::vector<double>& units) const {
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (!IsActiveAt(i, at)) {
      at[i] = kAbsent;
    } else if (at[i] == kAbsent) {
      at[i] = Snap(i, units[i]);
    }
  }
}

Coordinates Encoding::Encode(const Point& point) const {
  Coordinates at(axes_.size(), kAbsent);
  for (size_t i = 0; i < axes_.size(); ++i) {
    const Parameter& parameter = space_.parameters()[i];
    const auto value = point.find(parameter.name);
    if (value != point.end()) at[i] = ToCoordinate(parameter, value->second);
  }
  return at;
}

Point Encoding::Decode(const Coordinates& at) const {
  Point point;
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (at[i] == kAbsent) continue;
    const Parameter& parameter = space_.parameters()[i];
    point.emplace(parameter.name, axes_[i].categories > 0
                                      ? Value(parameter.categories[static_cast<size_t>(at[i])])
                                      : parameter.AtUnit(at[i]));
  }
  return point;
}

Coordinates Encoding::At(const std::vector<double>& units) const {
  Coordinates at(axes_.size(), kAbsent);
  MakeLegal(at, units);
  return at;
}

double Encoding::MoveOnAxis(size_t axis, double from, double radius, Random& random) const {
  const Axis& of = axes_[axis];
  if (of.categories > 0) {
    const auto step = 1 + random.Below(of.categories - 1);
    return static_cast<double>((static_cast<size_t>(from) + step) % of.categories);
  }
  const double to = Snap(axis, Reflect(from + radius * random.Normal()));
  if (to != from || of.ticks.empty()) return to;
  return NextTick(of.ticks, from, random.Below(2) == 0);
}

Coordinates Encoding::Move(const Coordinates& at, double radius, Random& random) const {
  std::vector<size_t> movable;
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (at[i] != kAbsent && !axes_[i].is_point) movable.push_back(i);
  }
  if (movable.empty()) return at;
  Coordinates to = at;
  const size_t sure = movable[random.Below(movable.size())];
  for (const size_t i : movable) {
    // Categories change one at a time. Numbers move together, to follow diagonal valleys.
    const double chance = axes_[i].categories > 0 ? 0.15 : 0.5;
    if (i == sure || random.Unit() < chance) to[i] = MoveOnAxis(i, at[i], radius, random);
  }
  MakeLegal(to, DrawUnits(axes_.size(), random));
  return to;
}

namespace {

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments ComputeMoments(const std::vector<double>& values) {
  Moments moments;
  const double count = static_cast<double>(values.size());
  for (const double value : values) moments.mean += value / count;
  for (const double value : values) {
    moments.deviation += (value - moments.mean) * (value - moments.mean) / count;
  }
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

std::vector<double> Standardize(std::vector<double> values) {
  const Moments moments = ComputeMoments(values);
  const double scale = moments.deviation > 0 ? moments.deviation : 1;
  for (double& value : values) value = (value - moments.mean) / scale;
  return values;
}

// Scales values to [0, 1], so that differences of doubles cannot overflow. Infinite values lie a
// little beyond the finite ones.
std::vector<double> ScaleToUnit(const std::vector<double>& values) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  std::vector<double> units;
  for (const double value : values) {
    if (std::isfinite(value)) {
      units.push_back(least < most ? (value / 2 - least / 2) / (most / 2 - least / 2) : 0.5);
    } else {
      units.push_back(value > 0 ? 1.1 : -0.1);
    }
  }
  return units;
}

// The quantile of a normal distribution for `p` in (0, 1), by bisection.
double NormalQuantile(double p) {
  double low = -8;
  double high = 8;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Keeps only the order of the values worse than the median, and spreads them like the other half of
// a normal distribution.
void SpreadBadHalf(std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[(sorted.size() - 1) / 2];
  double spread = 0;
  double good = 0;
  for (const double value : sorted) {
    if (value >= median) break;
    spread += (value - median) * (value - median);
    ++good;
  }
  if (good == 0 || spread == 0) return;
  spread = std::sqrt(spread / good);
  const double count = static_cast<double>(sorted.size());
  for (double& value : values) {
    if (value <= median) continue;
    const auto range = std::equal_range(sorted.begin(), sorted.end(), value);
    const double rank =
        static_cast<double>(range.first - sorted.begin() + (range.second - sorted.begin())) / 2;
    value = median + spread * NormalQuantile(std::min(0.5 + 0.5 * (2 * rank / count - 1), 0.999));
  }
}

double ApplyPower(double x, double power) {
  return power == 0 ? std::log(x) : (std::pow(x, power) - 1) / power;
}

// The likelihood that the transformed values are normally distributed (Box and Cox).
double NormalLikelihood(const std::vector<double>& shifted, double power) {
  std::vector<double> powered;
  double logs = 0;
  for (const double x : shifted) {
    powered.push_back(ApplyPower(x, power));
    logs += std::log(x);
  }
  const double deviation = ComputeMoments(powered).deviation;
  if (!(deviation > 0)) return -std::numeric_limits<double>::infinity();
  return -static_cast<double>(shifted.size()) * std::log(deviation) + (power - 1) * logs;
}

}  // namespace

std::vector<double> WarpObjectives(const std::vector<double>& values) {
  if (values.empty()) return {};
  std::vector<double> shifted = ScaleToUnit(values);
  SpreadBadHalf(shifted);
  shifted = Standardize(std::move(shifted));
  const double least = *std::min_element(shifted.begin(), shifted.end());
  for (double& x : shifted) x += 0.05 - least;
  double best = 1;
  double best_likeness = NormalLikelihood(shifted, 1);
  for (const double power : {0.75, 0.5, 0.25, 0.0}) {
    const double likeness = NormalLikelihood(shifted, power);
    if (likeness > best_likeness) {
      best = power;
      best_likeness = likeness;
    }
  }
  for (double& x : shifted) x = ApplyPower(x, best);
  return Standardize(std::move(shifted));
}

std::vector<double> Scalarize(const std::vector<std::vector<double>>& values, Random& random) {
  if (values.size() == 1) return values.front();
  std::vector<double> weights;
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    weights.push_back(-std::log(1 - random.Unit()));  // uniform over all mixtures
    sum += weights.back();
  }
  std::vector<double> mixed(values.front().size());
  for (size_t row = 0; row < mixed.size(); ++row) {
    double worst = -std::numeric_limits<double>::infinity();
    double total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double part = weights[i] / sum * values[i][row];
      worst = std::max(worst, part);
      total += part;
    }
    mixed[row] = worst + 0.05 * total;
  }
  return Standardize(std::move(mixed));
}

}  // namespace caip::tuning
