#include "tuning/stopping.h"

#include <algorithm>
#include <cmath>

#include "tuning/errors.h"

namespace caip::tuning {
namespace {

constexpr size_t kCurvesLeast = 5;
constexpr double kUnlikely = 0.01;

bool IsBy(Progress progress, const Report& report, const Report& last) {
  return progress == Progress::kSteps ? report.step <= last.step : report.elapsed <= last.elapsed;
}

// The report that got furthest: a trial whose machine was lost reports its steps again from an
// earlier one on.
const Report& Furthest(Progress progress, const Curve& curve) {
  const Report* furthest = &curve.front();
  for (const Report& report : curve) {
    if (IsBy(progress, *furthest, report)) furthest = &report;
  }
  return *furthest;
}

// The values that a curve has up to the point of `last`.
std::vector<double> ValuesBy(Progress progress, const Curve& curve, const Report& last) {
  std::vector<double> values;
  for (const Report& report : curve) {
    if (IsBy(progress, report, last) && !std::isnan(report.value)) values.push_back(report.value);
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

// A point of a completed trial as a regression takes it.
struct Course {
  double then = 0;
  double final = 0;
};

struct Line {
  double slope = 1;
  double offset = 0;
  double deviation = 0;
};

Line LineThrough(const std::vector<Course>& courses) {
  const double count = static_cast<double>(courses.size());
  double then = 0;
  double final = 0;
  for (const Course& course : courses) {
    then += course.then / count;
    final += course.final / count;
  }
  double spread = 0;
  double together = 0;
  for (const Course& course : courses) {
    spread += (course.then - then) * (course.then - then);
    together += (course.then - then) * (course.final - final);
  }
  Line line;
  line.slope = spread > 0 ? together / spread : 0;
  line.offset = final - line.slope * then;
  double errors = 0;
  for (const Course& course : courses) {
    const double error = course.final - line.offset - line.slope * course.then;
    errors += error * error;
  }
  line.deviation = std::sqrt(errors / std::max(count - 2, 1.0));
  return line;
}

// The chance that a normal value is better than `bar`.
double ChanceToBeat(Goal goal, double mean, double deviation, double bar) {
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
  const Report& last = Furthest(progress, pending);
  advice.step = last.step;
  const std::vector<double> own = ValuesBy(progress, pending, last);
  std::vector<double> averages;
  for (const Curve& curve : completed) {
    const std::vector<double> values = ValuesBy(progress, curve, last);
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
  if (pending.empty() || !std::isfinite(Furthest(progress, pending).value)) {
    advice.why = texts::NothingMeasured();
    return advice;
  }
  const Report& last = Furthest(progress, pending);
  advice.step = last.step;
  std::vector<Course> courses;
  std::vector<double> finals;
  for (const Curve& curve : completed) {
    const std::vector<double> values = ValuesBy(progress, curve, last);
    if (values.empty() || !std::isfinite(values.back())) continue;
    const double final = Furthest(progress, curve).value;
    if (!std::isfinite(final)) continue;
    courses.push_back({values.back(), final});
    finals.push_back(final);
  }
  if (courses.size() < kCurvesLeast) {
    advice.why = texts::TooFewCurves(courses.size(), kCurvesLeast);
    return advice;
  }
  const Line line = LineThrough(courses);
  advice.value = line.offset + line.slope * last.value;
  advice.bar = Best(goal, finals);
  const double chance = ChanceToBeat(goal, *advice.value, line.deviation, *advice.bar);
  advice.stop = chance < kUnlikely;
  advice.why = texts::DecayAdvice(advice.stop, *advice.value, *advice.bar, chance, last.step);
  return advice;
}

}  // namespace caip::tuning
