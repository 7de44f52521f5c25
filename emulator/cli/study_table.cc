#include "emulator/cli/study_table.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "spec/trial_texts.h"

namespace caip::cli {
namespace {

constexpr size_t kCurveColumns = 16;

size_t Columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// Rows of cells, each column as wide as it must be.
std::string Aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - Columns(row[i]) + 2, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string TimeOf(const TrialView& trial, Instant now) {
  if (!trial.start_time) return "";
  return HumanDuration(std::max(trial.end_time.value_or(now) - *trial.start_time, Duration(0)));
}

// The value that counts; of a trial that runs, the last it has reported.
std::optional<std::pair<int64_t, double>> Present(const TrialView& trial) {
  if (trial.final_metric || trial.curve.empty()) return trial.final_metric;
  return trial.curve.back();
}

std::string ValuesText(const StudyView& study, const TrialView& trial) {
  std::string text;
  for (const ParameterView& parameter : study.parameters) {
    const auto value = trial.values.find(parameter.name);
    if (value == trial.values.end()) continue;
    text += (text.empty() ? "" : ", ") + value->first + "=" + value->second;
  }
  return text;
}

std::string Heading(const StudyView& study) {
  std::map<std::string, int> states;
  for (const TrialView& trial : study.trials) ++states[LowerCase(trial.state)];
  std::string text = study.job_id + "  " + study.state + "  " +
                     std::to_string(study.trials.size()) + " of " +
                     std::to_string(study.max_trials) + " trials";
  for (const auto& [state, count] : states) text += ", " + std::to_string(count) + " " + state;
  return text + "; " + (study.maximize ? "MAXIMIZE " : "MINIMIZE ") + study.metric + "\n";
}

std::vector<std::string> Row(const StudyView& study, const TrialView& trial, Instant now) {
  const auto metric = Present(trial);
  std::vector<std::string> row = {(study.Best() == &trial ? "* " : "  ") + trial.id,
                                  trial.state + (trial.stopped_early ? " early" : ""),
                                  metric ? spec::texts::ShortNumber(metric->second) : "",
                                  metric ? std::to_string(metric->first) : "",
                                  TimeOf(trial, now),
                                  Sparkline(trial.curve, kCurveColumns)};
  for (const ParameterView& parameter : study.parameters) {
    const auto value = trial.values.find(parameter.name);
    row.push_back(value == trial.values.end() ? "" : value->second);
  }
  return row;
}

}  // namespace

std::string Sparkline(const std::vector<std::pair<int64_t, double>>& curve, size_t width) {
  static constexpr const char* kHeights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double least = INFINITY, most = -INFINITY;
  for (const auto& [step, value] : curve) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const size_t columns = std::min(width, curve.size());
  std::string text;
  for (size_t i = 0; i < columns; ++i) {
    const double value = curve[columns == 1 ? 0 : i * (curve.size() - 1) / (columns - 1)].second;
    if (!std::isfinite(value)) {
      text += "×";
    } else {
      const double height = most > least ? (value - least) / (most - least) : 0.5;
      text += kHeights[std::min(7, static_cast<int>(height * 8))];
    }
  }
  return text;
}

std::string TrialLine(const StudyView& study, const TrialView& trial) {
  std::string text = "trial " + trial.id + " " + trial.state;
  if (trial.stopped_early) text += " (stopped early)";
  if (trial.final_metric) {
    text += " " + study.metric + "=" + spec::texts::ShortNumber(trial.final_metric->second) +
            " at step " + std::to_string(trial.final_metric->first);
  }
  return text + ", " + ValuesText(study, trial) + "\n";
}

std::string StudyTable(const StudyView& study, Instant now) {
  std::vector<std::vector<std::string>> rows = {
      {"TRIAL", "STATE", UpperCase(study.metric), "STEP", "TIME", "CURVE"}};
  for (const ParameterView& parameter : study.parameters) rows[0].push_back(parameter.name);
  for (const TrialView& trial : study.trials) rows.push_back(Row(study, trial, now));
  std::string text = Heading(study) + Aligned(rows);
  if (const TrialView* best = study.Best()) {
    text += "best so far: trial " + best->id + ", " + study.metric + " " +
            spec::texts::ShortNumber(best->final_metric->second) + " at step " +
            std::to_string(best->final_metric->first) + ": " + ValuesText(study, *best) + "\n";
  }
  return text;
}

}  // namespace caip::cli
