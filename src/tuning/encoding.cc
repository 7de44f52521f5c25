#include "tuning/encoding.h"

#include <algorithm>
#include <cmath>

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
      if (parent.Has(value)) axis.calling.push_back(ToCoordinate(parent, value));
    }
  }
  return axis;
}

size_t Encoding::CountVaryingAxes() const {
  return static_cast<size_t>(
      std::count_if(axes_.begin(), axes_.end(), [](const Axis& axis) { return !axis.is_point; }));
}

bool Encoding::IsCalledFor(size_t axis, const Coordinates& at) const {
  const auto& parent = space_.parameters()[axis].parent;
  if (!parent) return true;
  const std::vector<double>& calling = axes_[axis].calling;
  return std::find(calling.begin(), calling.end(), at[*parent]) != calling.end();
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
    if (!IsCalledFor(i, at)) {
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

}  // namespace caip::tuning
