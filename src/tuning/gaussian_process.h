#pragma once
// A Gaussian process over encoded points: a Matérn 5/2 kernel with a length for each axis, and
// noise. Lengths and noise are those of the greatest posterior density.

#include <memory>
#include <vector>

#include "tuning/encoding.h"

namespace caip::tuning {

/// What the model believes of one point.
struct Belief {
  double mean = 0;
  double deviation = 0;
};

/// Owns its data. One thread.
class GaussianProcess {
 public:
  /// `targets` should be around 0 with a deviation of about 1. At least two rows.
  GaussianProcess(const Encoding& encoding, std::vector<Coordinates> rows,
                  std::vector<double> targets);
  ~GaussianProcess();

  /// Takes the places as seen, with the values that are expected there: no news about the mean,
  /// but less to find out.
  void Assume(const std::vector<Coordinates>& rows);
  std::vector<Belief> At(const std::vector<Coordinates>& rows) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace caip::tuning
