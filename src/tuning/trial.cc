#include "tuning/trial.h"

#include <algorithm>
#include <cmath>

namespace caip::tuning {
namespace {

bool Dominates(const std::vector<Goal>& goals, const std::vector<double>& a,
               const std::vector<double>& b) {
  bool better = false;
  for (size_t i = 0; i < goals.size(); ++i) {
    const double left = goals[i] == Goal::kMaximize ? a[i] : b[i];
    const double right = goals[i] == Goal::kMaximize ? b[i] : a[i];
    if (left < right) return false;
    if (left > right) better = true;
  }
  return better;
}

bool HasNaN(const std::vector<double>& point) {
  return std::any_of(point.begin(), point.end(), [](double x) { return std::isnan(x); });
}

}  // namespace

std::vector<size_t> ParetoSet(const std::vector<Goal>& goals,
                              const std::vector<std::vector<double>>& points) {
  std::vector<size_t> best;
  for (size_t i = 0; i < points.size(); ++i) {
    if (HasNaN(points[i])) continue;
    const bool dominated = std::any_of(points.begin(), points.end(), [&](const auto& other) {
      return !HasNaN(other) && Dominates(goals, other, points[i]);
    });
    if (!dominated) best.push_back(i);
  }
  return best;
}

}  // namespace caip::tuning
