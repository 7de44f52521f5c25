#pragma once
// A Gaussian process over encoded points, with a Matérn 5/2 kernel, a length for each axis, and
// noise. Lengths and noise maximize the posterior density.

#include <memory>
#include <vector>

#include "tuning/encoding.h"

namespace caip::tuning {

/// The model's prediction for one point.
struct Prediction {
  double mean = 0;
  double deviation = 0;
};

/// Predicts the objective. `encoding` must outlive it. One thread.
class GaussianProcess {
 public:
  /// `targets` should have a mean of about 0 and a deviation of about 1. At least two rows.
  GaussianProcess(const Encoding& encoding, std::vector<Coordinates> rows,
                  std::vector<double> targets);
  ~GaussianProcess();

  /// Adds rows with their expected values: the mean does not change, the uncertainty decreases.
  void AddPending(const std::vector<Coordinates>& rows);
  std::vector<Prediction> At(const std::vector<Coordinates>& rows) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace caip::tuning
