#include "report/study_panels.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/quoting.h"
#include "report/svg_shapes.h"
#include "run/texts.h"

namespace caip::report {
namespace {

using run::texts::ShortNumber;

constexpr double kPanel = 250;      // height of a plot's axes
constexpr double kTop = 26;         // above the axes, for a line of labels
constexpr double kBelow = 24;       // below the axes, for a line of labels
constexpr double kLine = 13;        // closer labels would overlap
constexpr double kTurned = 170;     // length of a rotated label
constexpr double kAxisMin = 90;     // between two axes
constexpr double kChoiceMax = 130;  // width of a choice beside its axis
constexpr double kNamesMax = 800;   // names of axes that need more stand rotated
constexpr double kBar = 26;
constexpr double kBarsShare = 75;  // percentage of the plot that a bar of 100 % takes

// From blue (poor) over grey to orange (good), which most people can distinguish. Each has a
// contrast of at least 3 with a light and with a dark page.
std::string Colour(double good) {
  constexpr int kPoor[] = {59, 111, 182}, kMiddle[] = {128, 128, 128}, kGood[] = {222, 110, 32};
  const int* from = good < 0.5 ? kPoor : kMiddle;
  const int* to = good < 0.5 ? kMiddle : kGood;
  const double share = good < 0.5 ? good * 2 : good * 2 - 1;
  std::string text = "rgb(";
  for (int i = 0; i < 3; ++i) {
    text +=
        std::to_string(static_cast<int>(from[i] + (to[i] - from[i]) * share)) + (i < 2 ? "," : ")");
  }
  return text;
}

// The shortest text that differs from those of the neighbouring marks, a `step` away.
std::string Mark(double value, double step) {
  if (std::fabs(value) < step * 1e-9) return "0";
  char text[32];
  for (int digits = 3; step > 0 && digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::fabs(std::strtod(text, nullptr) - value) <= step / 100) return text;
  }
  return ShortNumber(value);
}

struct Range {
  double least = 0;
  double most = 1;
  bool IsPoint() const { return !(least < most); }
  double Share(double value) const {
    return tuning::ToUnit(tuning::Scale::kLinear, least, most, value);
  }
};

// 0 at the lower end of a parameter's axis, 1 at the upper end; nullopt: not on the axis.
std::optional<double> Share(const ParameterView& parameter, const std::string& text) {
  const double number = std::strtod(text.c_str(), nullptr);
  if (parameter.kind == ParameterKind::kRange) {
    return tuning::ToUnit(parameter.scale, parameter.least, parameter.most, number);
  }
  const auto& choices = parameter.choices;
  const auto choice = std::find_if(choices.begin(), choices.end(), [&](const std::string& each) {
    return parameter.kind == ParameterKind::kTexts ? each == text
                                                   : std::strtod(each.c_str(), nullptr) == number;
  });
  if (choice == choices.end()) return std::nullopt;
  const auto last = static_cast<double>(choices.size() - 1);
  return last > 0 ? static_cast<double>(choice - choices.begin()) / last : 0.5;
}

/// Draws the panels of one study.
class Panels {
 public:
  explicit Panels(const StudyView& study) : study_(study), best_(study.Best()) {
    for (const TrialView& trial : study.trials) {
      if (!Counts(trial)) continue;
      const double value = trial.final_metric->second;
      range_ = any_ ? Range{std::min(range_.least, value), std::max(range_.most, value)}
                    : Range{value, value};
      any_ = true;
    }
  }

  StudyPanel Objective() {
    page::Drawing drawing{.label = "The metric of each trial, and the best so far",
                          .left = 40,
                          .right = 16,
                          .height = kTop + kPanel + kBelow,
                          .min_width = 220};
    Grid(drawing);
    Dots(drawing);
    TrialNumbers(drawing, kTop + kPanel + 18);
    return {study_.metric + " of each trial", drawing};
  }

  StudyPanel Coordinates() {
    const Axes axes = PlaceAxes();
    page::Drawing drawing{.label = "The parameters and the metric of each trial",
                          .left = axes.left,
                          .right = axes.right,
                          .height = axes.top + kPanel + kBelow,
                          .min_width = axes.room * Gaps()};
    std::vector<const TrialView*> shown;
    for (const TrialView& trial : study_.trials) {
      if (Counts(trial)) shown.push_back(&trial);
    }
    std::stable_sort(shown.begin(), shown.end(), [this](const auto* a, const auto* b) {
      return Good(*a) < Good(*b);  // the best are drawn over the others
    });
    for (const TrialView* trial : shown) drawing.plot += TrialPath(axes, *trial);
    for (size_t i = 0; i < study_.parameters.size(); ++i) {
      const ParameterView& parameter = study_.parameters[i];
      drawing.plot += AxisLine(axes, i, parameter.name);
      drawing.plot += parameter.kind == ParameterKind::kRange
                          ? Bounds(axes, i, parameter.least, parameter.most)
                          : Choices(axes, i, parameter);
    }
    drawing.plot += AxisLine(axes, study_.parameters.size(), study_.metric);
    if (any_) drawing.plot += Bounds(axes, study_.parameters.size(), range_.least, range_.most);
    return {"Parameters of the trials; better trials are more orange, the best is thick", drawing};
  }

  StudyPanel Importance() {
    const auto importance = ImportanceOf(study_);
    page::Drawing drawing{
        .label = "Importance of each parameter",
        .right = 50,
        .height = 8 + kBar * static_cast<double>(std::max<size_t>(1, importance.size())),
        .min_width = 220};
    if (importance.empty()) {
      drawing.plot += SvgText({0, 15, "Too few trials have succeeded."});
    }
    for (size_t i = 0; i < importance.size(); ++i) {
      const std::string& name = study_.parameters[i].name;
      drawing.left = std::max(drawing.left, std::min(SvgWidthOf(name), kTurned) + 14);
      const double y = kBar * static_cast<double>(i);
      drawing.labels += SvgText({100, y + 14, SvgCutTo(name, kTurned), "end", -8, false, name});
      drawing.plot += Bar(y, importance[i]);
    }
    return {"Share of the metric's variance that each parameter explains alone", drawing};
  }

 private:
  /// The space of the axes in the second panel.
  struct Axes {
    double top = kTop;
    double left = 0;
    double right = 0;
    double room = kAxisMin;  // pixels between two axes in a narrow window
    bool turned = false;     // the names
  };

  static bool Counts(const TrialView& trial) {
    return trial.final_metric && std::isfinite(trial.final_metric->second);
  }
  double Good(const TrialView& trial) const {
    const double share = range_.Share(trial.final_metric->second);
    return study_.maximize ? share : 1 - share;
  }
  double Height(double value) const { return kTop + kPanel * (1 - range_.Share(value)); }
  double Gaps() const { return static_cast<double>(std::max<size_t>(1, study_.parameters.size())); }
  double At(size_t axis) const { return 100 * static_cast<double>(axis) / Gaps(); }

  std::string Title(const TrialView& trial) const {
    std::string text = "trial " + trial.id + ": " + trial.state;
    if (trial.final_metric) {
      text += ", " + study_.metric + " " + ShortNumber(trial.final_metric->second);
    }
    for (const auto& [name, value] : trial.values) text += ", " + name + "=" + value;
    return text;
  }

  void Grid(page::Drawing& drawing) const {
    if (!any_) return;
    const int steps = range_.IsPoint() ? 0 : 4;
    for (int i = 0; i <= steps; ++i) {
      const double value =
          steps == 0 ? range_.least : std::lerp(range_.least, range_.most, i / 4.0);
      const double y = Height(value);
      const std::string text = Mark(value, range_.most / 4 - range_.least / 4);
      drawing.plot += SvgLine(0, y, 100, y, "grid");
      drawing.labels += SvgText({100, y + 4, text, "end", -8});
      drawing.left = std::max(drawing.left, SvgWidthOf(text) + 12);
    }
  }

  void TrialNumbers(page::Drawing& drawing, double y) const {
    const auto& trials = study_.trials;
    if (trials.empty()) return;
    if (trials.size() == 1) {
      drawing.plot += SvgText({50, y, "trial " + trials[0].id, "middle"});
      return;
    }
    drawing.plot += SvgText({0, y, "trial " + trials.front().id, "start"});
    drawing.plot += SvgText({100, y, "trial " + trials.back().id, "end"});
  }

  void Dots(page::Drawing& drawing) const {
    const double count = std::max<double>(1, static_cast<double>(study_.trials.size()));
    std::vector<std::pair<double, double>> best_so_far;
    std::optional<double> best;
    std::string dots;
    for (size_t i = 0; i < study_.trials.size(); ++i) {
      const TrialView& trial = study_.trials[i];
      const double x = 100 * (static_cast<double>(i) + 0.5) / count;
      if (!Counts(trial)) {
        dots += SvgText({x, kTop + kPanel + 4, "×", "middle", 0, false, Title(trial)});
        continue;
      }
      const double value = trial.final_metric->second;
      const double y = Height(value);
      dots +=
          SvgCircle(x, y, 5, "class=\"dot\" fill=\"" + Colour(Good(trial)) + "\"", Title(trial));
      if (&trial == best_) dots += BestMark(x, y, trial);
      if (best) best_so_far.emplace_back(x, Height(*best));
      if (!best || study_.IsBetter(value, *best)) best = value;
      best_so_far.emplace_back(x, Height(*best));
    }
    if (best) best_so_far.emplace_back(100, Height(*best));
    drawing.plot += SvgPath(best_so_far, "class=\"best-so-far\"", "best so far") + dots;
  }

  static std::string BestMark(double x, double y, const TrialView& trial) {
    const char* kind = x < 25 ? "best-name" : x > 75 ? "best-name end" : "best-name middle";
    return SvgCircle(x, y, 9, "class=\"ring\"", "") +
           SvgText({x, y - 14, "best: trial " + trial.id, kind});
  }

  Axes PlaceAxes() const {
    Axes axes;
    double widest = SvgWidthOf(study_.metric);
    for (const ParameterView& each : study_.parameters) {
      widest = std::max(widest, SvgWidthOf(each.name));
      if (each.kind == ParameterKind::kRange) continue;
      for (const std::string& choice : each.choices) {
        axes.room = std::max(axes.room, std::min(SvgWidthOf(choice), kChoiceMax) + 16);
      }
    }
    axes.turned = Gaps() * (widest + 16) > kNamesMax;
    if (axes.turned) {
      axes.top += kTurned * 0.6;    // sin 35, and the height of the text
      axes.right = kTurned * 0.85;  // cos 35
      axes.left = 40;
    } else {
      axes.room = std::max(axes.room, widest + 16);
      axes.left = std::max(40.0, widest / 2 + 8);
      axes.right = std::max(90.0, widest / 2 + 8);
    }
    return axes;
  }

  std::string Bounds(const Axes& axes, size_t i, double least, double most) const {
    if (!(least < most)) {
      return SvgText({At(i), axes.top + kPanel / 2 - 4, ShortNumber(least), "start", 5});
    }
    return SvgText({At(i), axes.top + kPanel + 16, ShortNumber(least), "middle"}) +
           SvgText({At(i), axes.top + 10, ShortNumber(most), "start", 5});
  }

  // Writes the labels that fit, and always the first and the last. Cuts long ones.
  std::string Choices(const Axes& axes, size_t i, const ParameterView& parameter) const {
    const auto& choices = parameter.choices;
    if (choices.empty()) return "";
    std::string text;
    const size_t last = choices.size() - 1;
    const auto every = static_cast<size_t>(std::ceil(kLine * static_cast<double>(last) / kPanel));
    for (size_t at = 0; at <= last; ++at) {
      const bool fits = every < 2 || (at % every == 0 && last - at >= every);
      if (at != last && !fits) continue;
      const double share = last > 0 ? static_cast<double>(at) / static_cast<double>(last) : 0.5;
      const std::string name = parameter.kind == ParameterKind::kNumbers
                                   ? ShortNumber(std::strtod(choices[at].c_str(), nullptr))
                                   : choices[at];
      text += SvgText({At(i), axes.top + kPanel * (1 - share) + 4, SvgCutTo(name, axes.room - 14),
                       "start", 5, false, choices[at]});
    }
    return text;
  }

  std::string AxisLine(const Axes& axes, size_t i, const std::string& name) const {
    return SvgLine(At(i), axes.top, At(i), axes.top + kPanel, "axis") +
           SvgText({At(i), axes.top - 12, axes.turned ? SvgCutTo(name, kTurned) : name,
                    axes.turned ? "name" : "name middle", 0, axes.turned, name});
  }

  std::string TrialPath(const Axes& axes, const TrialView& trial) const {
    std::vector<std::pair<double, double>> points;
    for (size_t i = 0; i < study_.parameters.size(); ++i) {
      const auto value = trial.values.find(study_.parameters[i].name);
      if (value == trial.values.end()) continue;
      const auto share = Share(study_.parameters[i], value->second);
      if (share) points.emplace_back(At(i), axes.top + kPanel * (1 - *share));
    }
    points.emplace_back(100, axes.top + kPanel * (1 - range_.Share(trial.final_metric->second)));
    const char* kind = &trial == best_ ? "trial best" : "trial";
    return SvgPath(points,
                   "class=\"" + std::string(kind) + "\" stroke=\"" + Colour(Good(trial)) + "\"",
                   (&trial == best_ ? "best, " : "") + Title(trial));
  }

  static std::string Bar(double y, const std::optional<double>& importance) {
    if (!importance) return SvgText({0, y + 14, "too few trials for each value"});
    const double width = kBarsShare * *importance;
    char size[32];
    std::snprintf(size, sizeof size, "%.3f%%", std::max(width, 0.2));
    return "<rect x=\"0\" y=\"" + SvgNumber(y) + "\" width=\"" + size + "\" height=\"" +
           SvgNumber(kBar - 8) + "\" class=\"bar\"/>\n" +
           SvgText({width, y + 14, ShortNumber(std::round(*importance * 100)) + "%", "start", 8});
  }

  const StudyView& study_;
  const TrialView* best_;
  Range range_;
  bool any_ = false;  // a number is drawn
};

}  // namespace

std::vector<StudyPanel> StudyPanels(const StudyView& study) {
  Panels panels(study);
  return {panels.Objective(), panels.Coordinates(), panels.Importance()};
}

}  // namespace caip::report
