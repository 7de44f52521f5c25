#include "tuning/stopping.h"

#include <algorithm>
#include <cmath>

#include "tuning/errors.h"

namespace caip::tuning {
namespace {

constexpr size_t kCurvesLeast = 5;
constexpr double kUnlikely = 0.01;

bool IsUpTo(Progress progress, const Report& report, const Report& last) {
  return progress == Progress::kSteps ? report.step <= last.step : report.elapsed <= last.elapsed;
}

// The report with the greatest progress: a trial whose machine was lost repeats earlier steps.
const Report& FindFurthest(Progress progress, const Curve& curve) {
  const Report* furthest = &curve.front();
  for (const Report& report : curve) {
    if (IsUpTo(progress, *furthest, report)) furthest = &report;
  }
  return *furthest;
}

// Returns the values of a curve up to the point of `last`.
std::vector<double> CollectValuesUpTo(Progress progress, const Curve& curve, const Report& last) {
  std::vector<double> values;
  for (const Report& report : curve) {
    if (IsUpTo(progress, report, last) && !std::isnan(report.value)) values.push_back(report.value);
  }
  return values;
}

double Best(Goal goal, const std::vector<double>& values) {
  return goal == Goal::kMaximize ? *std::max_element(values.begin(), values.end())
                                 : *std::min_element(values.begin(), values.end());
}

double Average(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value / static_cast<double>(values.size());
  return sum;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return values[middle - 1] / 2 + values[middle] / 2;
}

// A completed trial's value at the same point and at its end, for the regression.
struct CurvePoint {
  double then = 0;
  double final = 0;
};

struct Line {
  double slope = 1;
  double offset = 0;
  double deviation = 0;
};

Line FitLine(const std::vector<CurvePoint>& points) {
  const double count = static_cast<double>(points.size());
  double then = 0;
  double final = 0;
  for (const CurvePoint& point : points) {
    then += point.then / count;
    final += point.final / count;
  }
  double spread = 0;
  double together = 0;
  for (const CurvePoint& point : points) {
    spread += (point.then - then) * (point.then - then);
    together += (point.then - then) * (point.final - final);
  }
  Line line;
  line.slope = spread > 0 ? together / spread : 0;
  line.offset = final - line.slope * then;
  double errors = 0;
  for (const CurvePoint& point : points) {
    const double error = point.final - line.offset - line.slope * point.then;
    errors += error * error;
  }
  line.deviation = std::sqrt(errors / std::max(count - 2, 1.0));
  return line;
}

// The chance that a normally distributed value is better than `bar`.
double ComputeChanceToBeat(Goal goal, double mean, double deviation, double bar) {
  const double ahead = goal == Goal::kMaximize ? mean - bar : bar - mean;
  if (deviation <= 0) return ahead > 0 ? 1 : 0;
  return 0.5 * std::erfc(-ahead / deviation / std::sqrt(2.0));
}

}  // namespace

StopAdvice AdviseByMedian(Goal goal, Progress progress, const Curve& pending,
                          const std::vector<Curve>& completed) {
  StopAdvice advice;
  if (pending.empty()) {
    advice.why = texts::NothingMeasured();
    return advice;
  }
  const Report& last = FindFurthest(progress, pending);
  advice.step = last.step;
  const std::vector<double> own = CollectValuesUpTo(progress, pending, last);
  std::vector<double> averages;
  for (const Curve& curve : completed) {
    const std::vector<double> values = CollectValuesUpTo(progress, curve, last);
    if (!values.empty()) averages.push_back(Average(values));
  }
  if (own.empty() || averages.empty()) {
    advice.why = own.empty() ? texts::NothingMeasured() : texts::NothingToCompare(last.step);
    return advice;
  }
  advice.value = Best(goal, own);
  advice.bar = Median(averages);
  advice.stop = goal == Goal::kMaximize ? *advice.value < *advice.bar : *advice.value > *advice.bar;
  advice.why =
      texts::MedianAdvice(advice.stop, *advice.value, *advice.bar, averages.size(), last.step);
  return advice;
}

StopAdvice AdviseByDecayCurve(Goal goal, Progress progress, const Curve& pending,
                              const std::vector<Curve>& completed) {
  StopAdvice advice;
  if (pending.empty() || !std::isfinite(FindFurthest(progress, pending).value)) {
    advice.why = texts::NothingMeasured();
    return advice;
  }
  const Report& last = FindFurthest(progress, pending);
  advice.step = last.step;
  std::vector<CurvePoint> points;
  std::vector<double> finals;
  for (const Curve& curve : completed) {
    const std::vector<double> values = CollectValuesUpTo(progress, curve, last);
    if (values.empty() || !std::isfinite(values.back())) continue;
    const double final = FindFurthest(progress, curve).value;
    if (!std::isfinite(final)) continue;
    points.push_back({values.back(), final});
    finals.push_back(final);
  }
  if (points.size() < kCurvesLeast) {
    advice.why = texts::TooFewCurves(points.size(), kCurvesLeast);
    return advice;
  }
  const Line line = FitLine(points);
  advice.value = line.offset + line.slope * last.value;
  advice.bar = Best(goal, finals);
  const double chance = ComputeChanceToBeat(goal, *advice.value, line.deviation, *advice.bar);
  advice.stop = chance < kUnlikely;
  advice.why = texts::DecayAdvice(advice.stop, *advice.value, *advice.bar, chance, last.step);
  return advice;
}

}  // namespace caip::tuning
