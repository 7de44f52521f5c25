#include "tuning/gaussian_process.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace caip::tuning {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The most rows for fitting the parameters: the cost grows with the third power.
constexpr size_t kFitRows = 120;
constexpr int kFitSteps = 40;
constexpr double kNoiseMean = -9.2;  // ln 1e-4, of the signal's variance
constexpr double kNoiseSpread = 2;
constexpr double kNoiseLeast = -16;
constexpr double kNoiseMost = 1;
constexpr double kLengthSpread = 0.9;
constexpr double kLengthReach = 4;  // from the prior's mean, in the logarithm

// The squared distance on one axis. A place without the axis is as far from one with it as two
// categories are from each other.
double SquaredDistance(bool categorical, double a, double b) {
  if (a == b) return 0;
  if (categorical || a == kAbsent || b == kAbsent) return 1;
  return (a - b) * (a - b);
}

struct Hyperparameters {
  VectorXd log_lengths;
  double log_noise = kNoiseMean;
};

// The kernel of scaled distances. Keeps the parts of its slope, because exponentials are slow.
struct Matern {
  Eigen::ArrayXXd r;
  Eigen::ArrayXXd decay;

  explicit Matern(const MatrixXd& squares)
      : r((5 * squares).cwiseMax(0).cwiseSqrt().array()), decay((-r).exp()) {}
  MatrixXd Values() const { return ((1 + r + r.square() / 3) * decay).matrix(); }
};

// Copies one axis of many places, so that it is contiguous in memory.
VectorXd AxisOf(size_t axis, const std::vector<Coordinates>& rows) {
  VectorXd column(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) column[static_cast<Index>(i)] = rows[i][axis];
  return column;
}

}  // namespace

struct GaussianProcess::Parts {
  const Encoding& encoding;
  std::vector<Coordinates> rows;
  std::vector<double> targets;
  Hyperparameters hyper = {};
  double prior_length = 0;
  double mean = 0;
  double variance = 1;
  Eigen::LLT<MatrixXd> factor = {};
  VectorXd weights = {};

  MatrixXd AxisSquares(Index axis, const std::vector<Coordinates>& a,
                       const std::vector<Coordinates>& b) const {
    MatrixXd squares = MatrixXd::Zero(static_cast<Index>(a.size()), static_cast<Index>(b.size()));
    AddSquares(axis, 1, a, b, squares);
    return squares;
  }

  void AddSquares(Index axis, double weight, const std::vector<Coordinates>& a,
                  const std::vector<Coordinates>& b, MatrixXd& squares) const {
    const auto k = static_cast<size_t>(axis);
    const bool categorical = encoding.IsCategorical(k);
    const VectorXd from = AxisOf(k, a);
    const VectorXd to = AxisOf(k, b);
    for (Index j = 0; j < to.size(); ++j) {
      double* column = squares.col(j).data();
      for (Index i = 0; i < from.size(); ++i) {
        column[i] += weight * SquaredDistance(categorical, from[i], to[j]);
      }
    }
  }

  MatrixXd Kernel(const std::vector<Coordinates>& a, const std::vector<Coordinates>& b) const {
    MatrixXd squares = MatrixXd::Zero(static_cast<Index>(a.size()), static_cast<Index>(b.size()));
    for (Index k = 0; k < hyper.log_lengths.size(); ++k) {
      AddSquares(k, std::exp(-2 * hyper.log_lengths[k]), a, b, squares);
    }
    return Matern(squares).Values();
  }

  VectorXd Targets() const {
    return Eigen::Map<const VectorXd>(targets.data(), static_cast<Index>(targets.size()));
  }

  // Finds the mean and variance that fit the targets best, given the factor.
  void Profile() {
    const VectorXd y = Targets();
    const VectorXd ones = VectorXd::Ones(y.size());
    const VectorXd solved = factor.solve(ones);
    mean = solved.dot(y) / solved.dot(ones);
    const VectorXd rest = y - mean * ones;
    weights = factor.solve(rest);
    variance = std::max(rest.dot(weights) / static_cast<double>(y.size()), 1e-12);
  }

  void Factor(MatrixXd kernel) {
    for (double jitter = std::exp(hyper.log_noise);; jitter = std::max(jitter * 10, 1e-8)) {
      MatrixXd noisy = kernel;
      noisy.diagonal().array() += jitter;
      factor.compute(noisy);
      if (factor.info() == Eigen::Success || jitter > 1) break;
    }
  }

  void Fit();
  VectorXd Gradient(const std::vector<MatrixXd>& squares);
};

// The gradient of the negative log posterior density by the logarithms of the lengths and the
// noise.
VectorXd GaussianProcess::Parts::Gradient(const std::vector<MatrixXd>& squares) {
  const Index n = static_cast<Index>(rows.size());
  MatrixXd scaled = MatrixXd::Zero(n, n);
  for (size_t k = 0; k < squares.size(); ++k) {
    scaled += std::exp(-2 * hyper.log_lengths[static_cast<Index>(k)]) * squares[k];
  }
  const Matern kernel(scaled);
  Factor(kernel.Values());
  Profile();
  MatrixXd pull = factor.solve(MatrixXd::Identity(n, n));
  pull -= weights * weights.transpose() / variance;
  VectorXd gradient(static_cast<Index>(squares.size()) + 1);
  gradient[gradient.size() - 1] = 0.5 * pull.trace() * std::exp(hyper.log_noise) +
                                  (hyper.log_noise - kNoiseMean) / (kNoiseSpread * kNoiseSpread);
  const Eigen::ArrayXXd slope = pull.array() * (5.0 / 6) * (1 + kernel.r) * kernel.decay;
  for (size_t k = 0; k < squares.size(); ++k) {
    const Index i = static_cast<Index>(k);
    gradient[i] = std::exp(-2 * hyper.log_lengths[i]) * (slope * squares[k].array()).sum() +
                  (hyper.log_lengths[i] - prior_length) / (kLengthSpread * kLengthSpread);
  }
  return gradient;
}

// Uses only the signs of the gradient (Rprop), which needs no line search and no scale.
void GaussianProcess::Parts::Fit() {
  std::vector<MatrixXd> squares;
  for (Index k = 0; k < hyper.log_lengths.size(); ++k)
    squares.push_back(AxisSquares(k, rows, rows));
  VectorXd step = VectorXd::Constant(hyper.log_lengths.size() + 1, 0.3);
  VectorXd last = VectorXd::Zero(step.size());
  for (int round = 0; round < kFitSteps; ++round) {
    VectorXd gradient = Gradient(squares);
    for (Index i = 0; i < step.size(); ++i) {
      const double turn = gradient[i] * last[i];
      if (turn > 0) step[i] = std::min(step[i] * 1.2, 1.0);
      if (turn < 0) {
        step[i] *= 0.5;
        gradient[i] = 0;
      }
      const double move = gradient[i] == 0 ? 0 : std::copysign(step[i], -gradient[i]);
      if (i + 1 < step.size()) {
        hyper.log_lengths[i] = std::clamp(hyper.log_lengths[i] + move, prior_length - kLengthReach,
                                          prior_length + kLengthReach);
      } else {
        hyper.log_noise = std::clamp(hyper.log_noise + move, kNoiseLeast, kNoiseMost);
      }
    }
    last = gradient;
    if (step.maxCoeff() < 0.02) break;
  }
}

GaussianProcess::GaussianProcess(const Encoding& encoding, std::vector<Coordinates> rows,
                                 std::vector<double> targets)
    : parts_(new Parts{encoding, std::move(rows), std::move(targets)}) {
  const double axes = static_cast<double>(std::max<size_t>(encoding.CountVaryingAxes(), 1));
  parts_->prior_length = std::log(0.4) + 0.5 * std::log(axes);
  parts_->hyper.log_lengths =
      VectorXd::Constant(static_cast<Index>(encoding.size()), parts_->prior_length);
  std::vector<Coordinates> all_rows = parts_->rows;
  std::vector<double> all_targets = parts_->targets;
  if (all_rows.size() > kFitRows) {
    parts_->rows.resize(kFitRows);
    parts_->targets.resize(kFitRows);
  }
  parts_->Fit();
  parts_->rows = std::move(all_rows);
  parts_->targets = std::move(all_targets);
  parts_->Factor(parts_->Kernel(parts_->rows, parts_->rows));
  parts_->Profile();
}

GaussianProcess::~GaussianProcess() = default;

void GaussianProcess::AddPending(const std::vector<Coordinates>& rows) {
  if (rows.empty()) return;
  const std::vector<Prediction> predictions = At(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    parts_->rows.push_back(rows[i]);
    parts_->targets.push_back(predictions[i].mean);
  }
  parts_->Factor(parts_->Kernel(parts_->rows, parts_->rows));
  parts_->weights = parts_->factor.solve((parts_->Targets().array() - parts_->mean).matrix());
}

std::vector<Prediction> GaussianProcess::At(const std::vector<Coordinates>& rows) const {
  const MatrixXd kernel = parts_->Kernel(parts_->rows, rows);
  const VectorXd means = kernel.transpose() * parts_->weights;
  const MatrixXd half = parts_->factor.matrixL().solve(kernel);
  std::vector<Prediction> predictions(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const double known = half.col(static_cast<Index>(i)).squaredNorm();
    predictions[i].mean = parts_->mean + means[static_cast<Index>(i)];
    predictions[i].deviation = std::sqrt(parts_->variance * std::max(1 - known, 1e-12));
  }
  return predictions;
}

}  // namespace caip::tuning
