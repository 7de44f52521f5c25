#include "emulator/cli/study_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/markup.h"
#include "base/text.h"
#include "spec/trial_texts.h"

namespace caip::cli {
namespace {

using spec::texts::ShortNumber;

constexpr double kWidth = 960;
constexpr double kLeft = 80;
constexpr double kRight = 930;
constexpr double kPanel = 250;  // the height of each of the first two
constexpr double kBar = 26;

std::string At(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", number);
  return text;
}

std::string Label(double x, double y, const std::string& text, const char* kind) {
  return "<text x=\"" + At(x) + "\" y=\"" + At(y) + "\" class=\"" + kind + "\">" +
         MarkupText(text) + "</text>\n";
}

std::string Line(double x1, double y1, double x2, double y2, const char* kind) {
  return "<line x1=\"" + At(x1) + "\" y1=\"" + At(y1) + "\" x2=\"" + At(x2) + "\" y2=\"" + At(y2) +
         "\" class=\"" + kind + "\"/>\n";
}

std::string Path(const std::vector<std::pair<double, double>>& points, const std::string& style,
                 const std::string& title) {
  std::string text = "<polyline points=\"";
  for (const auto& [x, y] : points) text += At(x) + "," + At(y) + " ";
  return text + "\" " + style + "><title>" + MarkupText(title) + "</title></polyline>\n";
}

// From blue (poor) over grey to orange (good): told apart by most eyes.
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

struct Range {
  double least = 0;
  double most = 1;
  double Share(double value) const { return most > least ? (value - least) / (most - least) : 0.5; }
};

class Picture {
 public:
  explicit Picture(const StudyView& study) : study_(study) {
    bool any = false;
    for (const TrialView& trial : study.trials) {
      if (!Counts(trial)) continue;
      const double value = trial.final_metric->second;
      range_ = any ? Range{std::min(range_.least, value), std::max(range_.most, value)}
                   : Range{value, value};
      any = true;
    }
  }

  std::string Draw() {
    Objective(60);
    Coordinates(60 + kPanel + 70);
    Importance(60 + 2 * (kPanel + 70));
    const std::string size = "width=\"" + At(kWidth) + "\" height=\"" + At(bottom_) +
                             "\" viewBox=\"0 0 " + At(kWidth) + " " + At(bottom_) + "\"";
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size + " role=\"img\">\n<style>" +
           kStyle + "</style>\n" + text_ + "</svg>\n";
  }

 private:
  static constexpr const char* kStyle =
      "text{font:12px sans-serif;fill:#333}.head{font-weight:bold;font-size:14px}"
      ".middle{text-anchor:middle}.end{text-anchor:end}.axis{stroke:#999}"
      ".grid{stroke:#e4e4e4}.bar{fill:#de6e20}";

  static bool Counts(const TrialView& trial) {
    return trial.final_metric && std::isfinite(trial.final_metric->second);
  }
  double Good(const TrialView& trial) const {
    const double share = range_.Share(trial.final_metric->second);
    return study_.maximize ? share : 1 - share;
  }
  std::string Title(const TrialView& trial) const {
    std::string text =
        "trial " + trial.id + ": " + study_.metric + " " + ShortNumber(trial.final_metric->second);
    for (const auto& [name, value] : trial.values) text += ", " + name + "=" + value;
    return text;
  }

  void Axis(double top, const Range& range) {
    for (int i = 0; i <= 4; ++i) {
      const double y = top + kPanel - kPanel * i / 4;
      text_ += Line(kLeft, y, kRight, y, "grid");
      text_ += Label(kLeft - 8, y + 4,
                     ShortNumber(range.least + (range.most - range.least) * i / 4), "end");
    }
  }

  void Objective(double top) {
    text_ +=
        Label(kLeft, top - 20, study_.job_id + ": " + study_.metric + " of each trial", "head");
    Axis(top, range_);
    const double count = std::max<double>(1, static_cast<double>(study_.trials.size()));
    std::vector<std::pair<double, double>> best_so_far;
    std::optional<double> best;
    std::string dots;
    for (size_t i = 0; i < study_.trials.size(); ++i) {
      const TrialView& trial = study_.trials[i];
      const double x = kLeft + (kRight - kLeft) * (static_cast<double>(i) + 0.5) / count;
      if (!Counts(trial)) {
        dots += Label(x, top + kPanel + 4, "×", "middle");
        continue;
      }
      const double value = trial.final_metric->second;
      const auto y = [&](double of) { return top + kPanel * (1 - range_.Share(of)); };
      dots += "<circle cx=\"" + At(x) + "\" cy=\"" + At(y(value)) + "\" r=\"5\" fill=\"" +
              Colour(Good(trial)) + "\"><title>" + MarkupText(Title(trial)) + "</title></circle>\n";
      if (best) best_so_far.emplace_back(x, y(*best));
      if (!best || study_.IsBetter(value, *best)) best = value;
      best_so_far.emplace_back(x, y(*best));
    }
    if (best) best_so_far.emplace_back(kRight, top + kPanel * (1 - range_.Share(*best)));
    text_ += Path(best_so_far, "fill=\"none\" stroke=\"#333\" stroke-width=\"1.5\"", "best so far");
    text_ +=
        dots + Label(kLeft, top + kPanel + 22, "trial 1", "start") +
        Label(kRight, top + kPanel + 22, "trial " + std::to_string(study_.trials.size()), "end");
  }

  // 0 at the lower end of a parameter's axis, 1 at the upper.
  static double Share(const ParameterView& parameter, const std::string& text) {
    const auto choice = std::find(parameter.choices.begin(), parameter.choices.end(), text);
    if (!parameter.is_number) {
      const auto place = static_cast<double>(choice - parameter.choices.begin());
      const double last = static_cast<double>(parameter.choices.size()) - 1;
      return last > 0 ? std::min(place / last, 1.0) : 0.5;
    }
    const double value = std::strtod(text.c_str(), nullptr);
    const bool log = parameter.logarithmic && parameter.least > 0 && value > 0;
    const Range range = log ? Range{std::log(parameter.least), std::log(parameter.most)}
                            : Range{parameter.least, parameter.most};
    return std::clamp(range.Share(log ? std::log(value) : value), 0.0, 1.0);
  }

  void AxisOf(const ParameterView& parameter, double x, double top) {
    text_ += Line(x, top, x, top + kPanel, "axis");
    text_ += Label(x, top - 8, parameter.name, "middle");
    if (parameter.is_number) {
      text_ += Label(x, top + kPanel + 16, ShortNumber(parameter.least), "middle");
      text_ += Label(x + 4, top + 10, ShortNumber(parameter.most), "start");
      return;
    }
    for (const std::string& choice : parameter.choices) {
      text_ += Label(x + 5, top + kPanel * (1 - Share(parameter, choice)) + 4, choice, "start");
    }
  }

  void Coordinates(double top) {
    text_ +=
        Label(kLeft, top - 34, "Parameters of the trials; the better, the more orange", "head");
    const auto gaps = static_cast<double>(study_.parameters.size());
    const auto x_of = [&](size_t i) {
      return kLeft + (kRight - 30 - kLeft) * static_cast<double>(i) / gaps;
    };
    std::vector<const TrialView*> shown;
    for (const TrialView& trial : study_.trials) {
      if (Counts(trial)) shown.push_back(&trial);
    }
    std::stable_sort(shown.begin(), shown.end(), [this](const auto* a, const auto* b) {
      return Good(*a) < Good(*b);  // the best are drawn over the others
    });
    for (const TrialView* trial : shown) {
      std::vector<std::pair<double, double>> points;
      for (size_t i = 0; i < study_.parameters.size(); ++i) {
        const auto value = trial->values.find(study_.parameters[i].name);
        if (value == trial->values.end()) continue;
        points.emplace_back(x_of(i),
                            top + kPanel * (1 - Share(study_.parameters[i], value->second)));
      }
      points.emplace_back(x_of(study_.parameters.size()),
                          top + kPanel * (1 - range_.Share(trial->final_metric->second)));
      text_ +=
          Path(points, "fill=\"none\" stroke-width=\"1.6\" stroke=\"" + Colour(Good(*trial)) + "\"",
               Title(*trial));
    }
    for (size_t i = 0; i < study_.parameters.size(); ++i)
      AxisOf(study_.parameters[i], x_of(i), top);
    AxisOf({study_.metric, true, false, {}, range_.least, range_.most},
           x_of(study_.parameters.size()), top);
  }

  void Importance(double top) {
    text_ += Label(kLeft, top - 20,
                   "Share of the metric's variance that each parameter explains alone", "head");
    const std::vector<double> importance = ImportanceOf(study_);
    if (importance.empty()) text_ += Label(kLeft, top, "Too few trials have succeeded.", "start");
    for (size_t i = 0; i < importance.size(); ++i) {
      const double y = top + kBar * static_cast<double>(i);
      text_ += Label(kLeft + 110, y + 13, study_.parameters[i].name, "end");
      text_ += "<rect x=\"" + At(kLeft + 120) + "\" y=\"" + At(y) + "\" width=\"" +
               At(600 * importance[i] + 1) + "\" height=\"" + At(kBar - 8) + "\" class=\"bar\"/>\n";
      text_ += Label(kLeft + 128 + 600 * importance[i], y + 13,
                     ShortNumber(std::round(importance[i] * 100)) + "%", "start");
    }
    bottom_ = top + kBar * static_cast<double>(std::max<size_t>(1, importance.size())) + 20;
  }

  const StudyView& study_;
  Range range_;
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

}  // namespace caip::cli
