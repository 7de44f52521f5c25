#include "report/study_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "base/time_text.h"
#include "run/texts.h"

namespace caip::report {
namespace {

constexpr size_t kCurveColumns = 16;
constexpr size_t kHeadColumns = 14;  // of a heading above a column of short numbers

// Rows of cells. Each column is as wide as its widest cell.
std::string Aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], TerminalColumns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - TerminalColumns(row[i]) + 2, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string TimeOf(const TrialView& trial, Instant now) {
  if (!trial.start_time) return "";
  return HumanDuration(std::max(trial.end_time.value_or(now) - *trial.start_time, Duration(0)));
}

// The final metric, or the last value that a running trial has reported.
std::optional<std::pair<int64_t, double>> Present(const TrialView& trial) {
  if (trial.final_metric || trial.curve.empty()) return trial.final_metric;
  return trial.curve.back();
}

// At most `columns` columns; a longer text is cut and ends in "…".
std::string CutTo(const std::string& text, size_t columns) {
  if (TerminalColumns(text) <= columns) return text;
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80 && ++seen >= columns) break;
  }
  return text.substr(0, end) + "…";
}

// The form of values and headings: exact, or short.
enum class Style { kExact, kShort };

std::string ShortValue(const ParameterView& parameter, std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';  // would move the cursor
  }
  if (parameter.kind == ParameterKind::kTexts) return text;
  const std::string number = run::texts::ShortNumber(std::strtod(text.c_str(), nullptr));
  return number.size() < text.size() ? number : text;
}

std::string ValueText(const ParameterView& parameter, const TrialView& trial, Style style) {
  const auto value = trial.values.find(parameter.name);
  if (value == trial.values.end()) return "";
  return style == Style::kExact ? value->second : ShortValue(parameter, value->second);
}

std::string ValuesText(const StudyView& study, const TrialView& trial, Style style) {
  std::string text;
  for (const ParameterView& parameter : study.parameters) {
    if (!trial.values.contains(parameter.name)) continue;
    text += (text.empty() ? "" : ", ") + parameter.name + "=" + ValueText(parameter, trial, style);
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

std::vector<std::string> Heads(const StudyView& study, Style style) {
  const auto head = [&](const std::string& name) {
    return style == Style::kExact ? name : CutTo(name, kHeadColumns);
  };
  std::vector<std::string> heads = {"TRIAL", "STATE", head(UpperCase(study.metric)),
                                    "STEP",  "TIME",  "CURVE"};
  for (const ParameterView& parameter : study.parameters) heads.push_back(head(parameter.name));
  return heads;
}

std::vector<std::string> Row(const StudyView& study, const TrialView& trial, bool best, Instant now,
                             Style style) {
  const auto metric = Present(trial);
  std::vector<std::string> row = {(best ? "* " : "  ") + trial.id,
                                  trial.state + (trial.stopped_early ? " early" : ""),
                                  metric ? run::texts::ShortNumber(metric->second) : "",
                                  metric ? std::to_string(metric->first) : "",
                                  TimeOf(trial, now),
                                  Sparkline(trial.curve, kCurveColumns)};
  for (const ParameterView& parameter : study.parameters) {
    row.push_back(ValueText(parameter, trial, style));
  }
  return row;
}

// The order in which trials are kept if not all fit.
auto Rank(const TrialView& trial, const TrialView* best) {
  const int kind = &trial == best ? 0 : trial.state == "RUNNING" ? 1 : !trial.end_time ? 2 : 3;
  return std::pair(kind, -trial.end_time.value_or(Instant{}).time_since_epoch().count());
}

// At most `count` trials, by number.
std::vector<const TrialView*> Chosen(const StudyView& study, const TrialView* best, size_t count) {
  std::vector<const TrialView*> chosen;
  for (const TrialView& trial : study.trials) chosen.push_back(&trial);
  if (chosen.size() <= count) return chosen;
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](const auto* a, const auto* b) { return Rank(*a, best) < Rank(*b, best); });
  chosen.resize(count);
  std::sort(chosen.begin(), chosen.end());  // by their order in the study
  return chosen;
}

std::string BestLine(const StudyView& study, const TrialView& best, Style style) {
  return "best so far: trial " + best.id + ", " + study.metric + " " +
         run::texts::ShortNumber(best.final_metric->second) + " at step " +
         std::to_string(best.final_metric->first) + ": " + ValuesText(study, best, style) + "\n";
}

// Heading, table and best; at most `count` trials.
std::string Shown(const StudyView& study, Instant now, size_t count, Style style) {
  const TrialView* best = study.Best();
  const auto chosen = Chosen(study, best, count);
  std::vector<std::vector<std::string>> rows = {Heads(study, style)};
  for (const TrialView* trial : chosen) {
    rows.push_back(Row(study, *trial, trial == best, now, style));
  }
  std::string text = Heading(study) + Aligned(rows);
  if (const size_t more = study.trials.size() - chosen.size(); more > 0) {
    text += "and " + std::to_string(more) + (more == 1 ? " more trial" : " more trials") +
            "; all of them: caip jobs trials " + study.job_id + "\n";
  }
  return text + (best ? BestLine(study, *best, style) : "");
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
    text += " " + study.metric + "=" + run::texts::ShortNumber(trial.final_metric->second) +
            " at step " + std::to_string(trial.final_metric->first);
  }
  return text + ", " + ValuesText(study, trial, Style::kExact) + "\n";
}

std::string StudyTable(const StudyView& study, Instant now) {
  return Shown(study, now, study.trials.size(), Style::kExact);
}

std::string StudyScreen(const StudyView& study, Instant now, TerminalSize size) {
  const size_t room = size.rows - std::min<size_t>(size.rows, 1);  // the cursor has the last row
  const size_t beside = 2 + (study.Best() ? 1 : 0);                // heading, heads, best
  size_t count = study.trials.size();
  if (count + beside > room) count = room - std::min(room, beside + 1);
  const std::string text = Shown(study, now, count, Style::kShort);
  std::string screen;
  size_t lines = 0;
  for (const std::string& line : Split(text, '\n')) {
    if (line.empty() || lines++ >= room) continue;  // after the last line, or below the window
    screen += CutTo(line, size.columns) + "\n";
  }
  return screen;
}

}  // namespace caip::report
