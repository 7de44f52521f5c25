#pragma once
// Encodes points as numbers for models of the objective: one coordinate for each parameter.

#include <vector>

#include "base/random.h"
#include "tuning/space.h"
#include "tuning/trial.h"

namespace caip::tuning {

/// A number in [0, 1] by the scale of a numeric parameter; the index of a category; kAbsent for an
/// inactive parameter. A coordinate always represents a legal value.
using Coordinates = std::vector<double>;
inline constexpr double kAbsent = -1;

/// The encoding of a space, which must outlive it. Immutable.
class Encoding {
 public:
  explicit Encoding(const Space& space);

  size_t size() const { return axes_.size(); }
  bool IsCategorical(size_t axis) const { return axes_[axis].categories > 0; }
  /// The number of axes that have more than one value.
  size_t CountVaryingAxes() const;

  Coordinates Encode(const Point& point) const;
  Point Decode(const Coordinates& at) const;
  /// The legal coordinates nearest to `units`, numbers in [0, 1] for all axes.
  Coordinates At(const std::vector<double>& units) const;
  /// Returns another place near `at`. `radius` is the step of a numeric axis. At least one axis
  /// moves, if any can.
  Coordinates Move(const Coordinates& at, double radius, Random& random) const;

 private:
  struct Axis {
    size_t categories = 0;           // of a categorical parameter
    std::vector<double> ticks = {};  // of a set of numbers or a short range of integers, increasing
    bool is_point = false;           // has only one value
    std::vector<double> activating = {};  // the parent's coordinates that activate it
  };
  Axis AxisOf(const Parameter& parameter) const;
  double Snap(size_t axis, double unit) const;
  double MoveOnAxis(size_t axis, double from, double radius, Random& random) const;
  bool IsActiveAt(size_t axis, const Coordinates& at) const;
  // Fills missing active axes from `units`, and clears inactive ones.
  void MakeLegal(Coordinates& at, const std::vector<double>& units) const;

  const Space& space_;
  std::vector<Axis> axes_;
};

// Transforms objectives so that a model can learn them: less is better, no outliers, around 0.

/// Transforms objectives. Outliers in the bad half would hide the differences in the good half. So
/// the bad half keeps only its order, and the rest is transformed by the power that makes it most
/// like a normal distribution, to mean 0 and deviation 1. Infinities count as worst and best. Keeps
/// the order. No value may be NaN.
std::vector<double> WarpObjectives(const std::vector<double>& values);

/// Combines several metrics into one with random weights: each draw leads to another part of the
/// Pareto set. `values` are transformed by WarpObjectives, one row for each metric.
std::vector<double> Scalarize(const std::vector<std::vector<double>>& values, Random& random);

}  // namespace caip::tuning
