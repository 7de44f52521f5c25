#include "report/study_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/quoting.h"
#include "report/svg_shapes.h"
#include "run/texts.h"

namespace caip::report {
namespace {

using run::texts::ShortNumber;

constexpr double kStudyPlotWidth = 960;
constexpr double kLeft = 80;
constexpr double kRight = 930;
constexpr double kPanel = 250;   // height of each of the first two panels
constexpr double kGap = 70;      // between them
constexpr double kLine = 13;     // closer labels would overlap
constexpr double kTurned = 170;  // length of a rotated label
constexpr double kBar = 26;

// From blue (poor) over grey to orange (good), which most people can distinguish.
std::string Colour(double good) {
  constexpr int kPoor[] = {59, 111, 182}, kMiddle[] = {190, 190, 190}, kGood[] = {222, 110, 32};
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

class Picture {
 public:
  explicit Picture(const StudyView& study) : study_(study) {
    for (const TrialView& trial : study.trials) {
      if (!Counts(trial)) continue;
      const double value = trial.final_metric->second;
      range_ = any_ ? Range{std::min(range_.least, value), std::max(range_.most, value)}
                    : Range{value, value};
      any_ = true;
    }
  }

  std::string Draw() {
    Objective(60);
    Importance(Coordinates(60 + kPanel + kGap) + kGap);
    const std::string size = "width=\"" + SvgNumber(kStudyPlotWidth) + "\" height=\"" +
                             SvgNumber(bottom_) + "\" viewBox=\"0 0 " + SvgNumber(kStudyPlotWidth) +
                             " " + SvgNumber(bottom_) + "\"";
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size + " role=\"img\">\n<style>" +
           kStyle + "</style>\n" + text_ + "</svg>\n";
  }

 private:
  static constexpr const char* kStyle =
      "text{font:12px sans-serif;fill:#333}.head{font-weight:bold;font-size:14px}"
      ".middle{text-anchor:middle}.end{text-anchor:end}.axis{stroke:#999}"
      ".grid{stroke:#e4e4e4}.bar{fill:#de6e20}";

  void Label(double x, double y, const std::string& text, const char* kind) {
    text_ += SvgText({x, y, text, kind});
  }

  static bool Counts(const TrialView& trial) {
    return trial.final_metric && std::isfinite(trial.final_metric->second);
  }
  double Good(const TrialView& trial) const {
    const double share = range_.Share(trial.final_metric->second);
    return study_.maximize ? share : 1 - share;
  }
  std::string Title(const TrialView& trial) const {
    std::string text = "trial " + trial.id + ": " + trial.state;
    if (trial.final_metric) {
      text += ", " + study_.metric + " " + ShortNumber(trial.final_metric->second);
    }
    for (const auto& [name, value] : trial.values) text += ", " + name + "=" + value;
    return text;
  }

  void Grid(double top) {
    if (!any_) return;
    const int steps = range_.IsPoint() ? 0 : 4;
    for (int i = 0; i <= steps; ++i) {
      const double value =
          steps == 0 ? range_.least : std::lerp(range_.least, range_.most, i / 4.0);
      const double y = top + kPanel * (1 - range_.Share(value));
      text_ += SvgLine(kLeft, y, kRight, y, "grid");
      Label(kLeft - 8, y + 4, Mark(value, range_.most / 4 - range_.least / 4), "end");
    }
  }

  void TrialNumbers(double y) {
    const auto& trials = study_.trials;
    if (trials.empty()) return;
    if (trials.size() == 1)
      return Label((kLeft + kRight) / 2, y, "trial " + trials[0].id, "middle");
    Label(kLeft, y, "trial " + trials.front().id, "start");
    Label(kRight, y, "trial " + trials.back().id, "end");
  }

  void Objective(double top) {
    Label(kLeft, top - 20, study_.job_id + ": " + study_.metric + " of each trial", "head");
    Grid(top);
    const double count = std::max<double>(1, static_cast<double>(study_.trials.size()));
    const auto y = [&](double of) { return top + kPanel * (1 - range_.Share(of)); };
    std::vector<std::pair<double, double>> best_so_far;
    std::optional<double> best;
    std::string dots;
    for (size_t i = 0; i < study_.trials.size(); ++i) {
      const TrialView& trial = study_.trials[i];
      const double x = kLeft + (kRight - kLeft) * (static_cast<double>(i) + 0.5) / count;
      if (!Counts(trial)) {
        dots += SvgText({x, top + kPanel + 4, "×", "middle", false, Title(trial)});
        continue;
      }
      const double value = trial.final_metric->second;
      dots += "<circle cx=\"" + SvgNumber(x) + "\" cy=\"" + SvgNumber(y(value)) +
              "\" r=\"5\" fill=\"" + Colour(Good(trial)) + "\"><title>" + MarkupText(Title(trial)) +
              "</title></circle>\n";
      if (best) best_so_far.emplace_back(x, y(*best));
      if (!best || study_.IsBetter(value, *best)) best = value;
      best_so_far.emplace_back(x, y(*best));
    }
    if (best) best_so_far.emplace_back(kRight, y(*best));
    text_ +=
        SvgPath(best_so_far, "fill=\"none\" stroke=\"#333\" stroke-width=\"1.5\"", "best so far");
    text_ += dots;
    TrialNumbers(top + kPanel + 18);
  }

  // The positions of the axes in the second panel, and the space for their labels.
  struct Axes {
    double top = 0;
    double step = 0;
    bool turned = false;  // the names
    double At(size_t i) const { return kLeft + step * static_cast<double>(i); }
    double room() const { return step - 12; }
    double Lower(size_t i) const { return room() < 70 && i % 2 == 1 ? kLine : 0; }
  };

  Axes AxesBelow(double top) const {
    Axes axes{top};
    const auto gaps = static_cast<double>(std::max<size_t>(1, study_.parameters.size()));
    axes.step = (kRight - 30 - kLeft) / gaps;
    double widest = SvgWidthOf(study_.metric);
    for (const ParameterView& each : study_.parameters) {
      widest = std::max(widest, SvgWidthOf(each.name));
    }
    axes.turned = widest > axes.room();
    if (axes.turned) {
      axes.step = (kRight - kTurned * 0.82 - kLeft) / gaps;  // cos 35: space for the last one
      axes.top += kTurned * 0.57;                            // sin 35
    }
    return axes;
  }

  void Bounds(const Axes& axes, size_t i, double least, double most) {
    const double x = axes.At(i);
    const char* digits = axes.room() < 70 ? "%.3g" : "%.6g";
    const auto number = [&](double value) {
      char text[32];
      std::snprintf(text, sizeof text, digits, value);
      return std::string(text);
    };
    if (!(least < most)) return Label(x + 4, axes.top + kPanel / 2 - 4, number(least), "start");
    Label(x, axes.top + kPanel + 16 + axes.Lower(i), number(least), "middle");
    Label(x + 4, axes.top + 10 + axes.Lower(i), number(most), "start");
  }

  // Writes the labels that fit, and always the first and the last. Cuts long ones.
  void Choices(const Axes& axes, size_t i, const ParameterView& parameter) {
    const auto& choices = parameter.choices;
    if (choices.empty()) return;
    const size_t last = choices.size() - 1;
    const auto every = static_cast<size_t>(std::ceil(kLine * static_cast<double>(last) / kPanel));
    for (size_t at = 0; at <= last; ++at) {
      const bool fits = every < 2 || (at % every == 0 && last - at >= every);
      if (at != last && !fits) continue;
      const double share = last > 0 ? static_cast<double>(at) / static_cast<double>(last) : 0.5;
      const std::string text = parameter.kind == ParameterKind::kNumbers
                                   ? ShortNumber(std::strtod(choices[at].c_str(), nullptr))
                                   : choices[at];
      text_ += SvgText({axes.At(i) + 5, axes.top + kPanel * (1 - share) + 4,
                        SvgCutTo(text, axes.room()), "start", false, choices[at]});
    }
  }

  void AxisLine(const Axes& axes, size_t i, const std::string& name) {
    const double x = axes.At(i);
    text_ += SvgLine(x, axes.top, x, axes.top + kPanel, "axis");
    text_ += SvgText({x, axes.top - 8, axes.turned ? SvgCutTo(name, kTurned) : name,
                      axes.turned ? "start" : "middle", axes.turned, name});
  }

  void TrialPath(const Axes& axes, const TrialView& trial) {
    std::vector<std::pair<double, double>> points;
    for (size_t i = 0; i < study_.parameters.size(); ++i) {
      const auto value = trial.values.find(study_.parameters[i].name);
      if (value == trial.values.end()) continue;
      const auto share = Share(study_.parameters[i], value->second);
      if (share) points.emplace_back(axes.At(i), axes.top + kPanel * (1 - *share));
    }
    points.emplace_back(axes.At(study_.parameters.size()),
                        axes.top + kPanel * (1 - range_.Share(trial.final_metric->second)));
    text_ +=
        SvgPath(points, "fill=\"none\" stroke-width=\"1.6\" stroke=\"" + Colour(Good(trial)) + "\"",
                Title(trial));
  }

  // Returns the lower end of the panel.
  double Coordinates(double top) {
    Label(kLeft, top - 34, "Parameters of the trials; better trials are more orange", "head");
    const Axes axes = AxesBelow(top);
    std::vector<const TrialView*> shown;
    for (const TrialView& trial : study_.trials) {
      if (Counts(trial)) shown.push_back(&trial);
    }
    std::stable_sort(shown.begin(), shown.end(), [this](const auto* a, const auto* b) {
      return Good(*a) < Good(*b);  // the best are drawn over the others
    });
    for (const TrialView* trial : shown) TrialPath(axes, *trial);
    for (size_t i = 0; i < study_.parameters.size(); ++i) {
      const ParameterView& parameter = study_.parameters[i];
      AxisLine(axes, i, parameter.name);
      if (parameter.kind == ParameterKind::kRange) {
        Bounds(axes, i, parameter.least, parameter.most);
      } else {
        Choices(axes, i, parameter);
      }
    }
    AxisLine(axes, study_.parameters.size(), study_.metric);
    if (any_) Bounds(axes, study_.parameters.size(), range_.least, range_.most);
    return axes.top + kPanel;
  }

  void Importance(double top) {
    Label(kLeft, top - 20, "Share of the metric's variance that each parameter explains alone",
          "head");
    const auto importance = ImportanceOf(study_);
    if (importance.empty()) Label(kLeft, top, "Too few trials have succeeded.", "start");
    for (size_t i = 0; i < importance.size(); ++i) {
      const double y = top + kBar * static_cast<double>(i);
      const std::string& name = study_.parameters[i].name;
      text_ += SvgText({kLeft + 110, y + 13, SvgCutTo(name, kLeft + 100), "end", false, name});
      if (!importance[i]) {
        Label(kLeft + 128, y + 13, "too few trials for each value", "start");
        continue;
      }
      const double width = 600 * *importance[i];
      text_ += "<rect x=\"" + SvgNumber(kLeft + 120) + "\" y=\"" + SvgNumber(y) + "\" width=\"" +
               SvgNumber(width + 1) + "\" height=\"" + SvgNumber(kBar - 8) + "\" class=\"bar\"/>\n";
      Label(kLeft + 128 + width, y + 13, ShortNumber(std::round(*importance[i] * 100)) + "%",
            "start");
    }
    bottom_ = top + kBar * static_cast<double>(std::max<size_t>(1, importance.size())) + 20;
  }

  const StudyView& study_;
  Range range_;
  bool any_ = false;  // a number is drawn
  double bottom_ = 0;
  std::string text_;
};

std::string Cells(const std::vector<std::string>& cells, const char* kind) {
  std::string text = "<tr>";
  for (const std::string& cell : cells) {
    text += "<" + std::string(kind) + ">" + MarkupText(cell) + "</" + kind + ">";
  }
  return text + "</tr>\n";
}

std::string TrialTable(const StudyView& study) {
  std::vector<std::string> heads = {"trial", "state", study.metric, "step"};
  for (const ParameterView& parameter : study.parameters) heads.push_back(parameter.name);
  std::string text = "<table>\n" + Cells(heads, "th");
  for (const TrialView& trial : study.trials) {
    std::vector<std::string> row = {
        trial.id, trial.state + (trial.stopped_early ? ", early" : ""),
        trial.final_metric ? ShortNumber(trial.final_metric->second) : "",
        trial.final_metric ? std::to_string(trial.final_metric->first) : ""};
    for (const ParameterView& parameter : study.parameters) {
      const auto value = trial.values.find(parameter.name);
      row.push_back(value == trial.values.end() ? "" : value->second);
    }
    text += Cells(row, "td");
  }
  return text + "</table>\n";
}

}  // namespace

std::string StudyPicture(const StudyView& study) { return Picture(study).Draw(); }

std::string StudyPage(const StudyView& study) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
         MarkupText(study.job_id) +
         "</title>\n<style>body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}"
         "td,th{padding:.2em .8em;text-align:left;border-bottom:1px solid #ddd}</style></head>\n"
         "<body>\n" +
         StudyPicture(study) + TrialTable(study) + "</body></html>\n";
}

}  // namespace caip::report
