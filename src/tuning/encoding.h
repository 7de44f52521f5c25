#pragma once
// Points as numbers, for models of the objective: a coordinate for each parameter of the space.

#include <vector>

#include "tuning/space.h"

namespace caip::tuning {

/// A numeric parameter's place in [0, 1] by its scale; a category's index; kAbsent where the
/// parameter is not called for. Sets stay sets: a coordinate always stands for a legal value.
using Coordinates = std::vector<double>;
inline constexpr double kAbsent = -1;

/// One space, seen that way. Immutable; the space outlives it.
class Encoding {
 public:
  explicit Encoding(const Space& space);

  size_t size() const { return axes_.size(); }
  bool IsCategorical(size_t axis) const { return axes_[axis].categories > 0; }
  /// How many axes have more than one value.
  size_t Varying() const;

  Coordinates Encode(const Point& point) const;
  Point Decode(const Coordinates& at) const;
  /// The legal coordinates nearest to `units`, numbers in [0, 1] for all axes.
  Coordinates At(const std::vector<double>& units) const;
  /// Another place near `at`: `radius` is the step of a numeric axis; at least one axis moves where
  /// any can.
  Coordinates Moved(const Coordinates& at, double radius, Random& random) const;

 private:
  struct Axis {
    size_t categories = 0;           // of a categorical parameter
    std::vector<double> ticks = {};  // of a set of numbers or a short range of integers, increasing
    bool is_point = false;           // there is but one value
    std::vector<double> calling = {};  // coordinates of the parent that call for it
  };
  Axis AxisOf(const Parameter& parameter) const;
  double Snapped(size_t axis, double unit) const;
  double MovedOn(size_t axis, double from, double radius, Random& random) const;
  bool IsCalledFor(size_t axis, const Coordinates& at) const;
  // What is missing is filled in with `units`, what is not called for goes.
  void Settle(Coordinates& at, const std::vector<double>& units) const;

  const Space& space_;
  std::vector<Axis> axes_;
};

}  // namespace caip::tuning
