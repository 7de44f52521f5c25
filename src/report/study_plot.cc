#include "report/study_plot.h"

#include <algorithm>
#include <map>

#include "base/quoting.h"
#include "base/text.h"
#include "report/study_panels.h"
#include "report/svg_shapes.h"

namespace caip::report {
namespace {

constexpr double kPictureWidth = 960;
constexpr double kHeading = 40;  // height of a heading with the space above it

std::string Frame(double x, double y, double width, double height, const std::string& shapes) {
  return "<svg x=\"" + SvgNumber(x) + "\" y=\"" + SvgNumber(y) + "\" width=\"" + SvgNumber(width) +
         "\" height=\"" + SvgNumber(height) + "\" overflow=\"visible\">\n" + shapes + "</svg>\n";
}

std::string FactMarkup(const std::string& name, const std::string& markup) {
  return "<div><dt>" + page::BreakableText(name) + "</dt><dd>" + markup + "</dd></div>\n";
}

std::string FactsMarkup(const StudyView& study) {
  std::map<std::string, int> states;
  for (const TrialView& trial : study.trials) ++states[LowerCase(trial.state)];
  std::string trials =
      std::to_string(study.trials.size()) + " of " + std::to_string(study.max_trials);
  const char* separator = ": ";
  for (const auto& [state, count] : states) {
    trials += separator + std::to_string(count) + " " + state;
    separator = ", ";
  }
  return "<dl class=\"facts\">\n" + FactMarkup("state", page::BreakableText(study.state)) +
         FactMarkup("goal", (study.maximize ? "MAXIMIZE " : "MINIMIZE ") +
                                page::BreakableText(study.metric)) +
         FactMarkup("trials", page::BreakableText(trials)) + "</dl>\n";
}

std::string ValueMarkup(const ParameterView& parameter, const TrialView& trial) {
  const auto value = trial.values.find(parameter.name);
  if (value == trial.values.end()) return "";
  return parameter.kind == ParameterKind::kTexts ? page::BreakableText(value->second)
                                                 : page::RoundedNumber(value->second);
}

std::string BestMarkup(const StudyView& study) {
  const TrialView* best = study.Best();
  if (!best) {
    return "<p>No trial has a value of " + page::BreakableText(study.metric) + " yet.</p>\n";
  }
  std::string html = "<h2>Best trial: " + page::BreakableText(best->id) +
                     "</h2>\n<dl class=\"facts\">\n" +
                     FactMarkup(study.metric, page::RoundedNumber(best->final_metric->second)) +
                     FactMarkup("step", std::to_string(best->final_metric->first));
  for (const ParameterView& parameter : study.parameters) {
    if (!best->values.contains(parameter.name)) continue;
    html += FactMarkup(parameter.name, ValueMarkup(parameter, *best));
  }
  return html + "</dl>\n";
}

std::string TrialRow(const StudyView& study, const TrialView& trial, bool best) {
  const auto& metric = trial.final_metric;
  std::string row =
      std::string("<tr") + (best ? " class=\"best\"" : "") + "><th scope=\"row\">" +
      page::BreakableText(trial.id) + (best ? " <strong class=\"badge good\">best</strong>" : "") +
      "</th><td>" + page::BreakableText(trial.state) + (trial.stopped_early ? ", early" : "") +
      "</td><td class=\"number\">" + (metric ? page::RoundedNumber(metric->second) : "") +
      "</td><td class=\"number\">" + (metric ? std::to_string(metric->first) : "") + "</td>";
  for (const ParameterView& parameter : study.parameters) {
    row += std::string("<td") +
           (parameter.kind == ParameterKind::kTexts ? ">" : " class=\"number\">") +
           ValueMarkup(parameter, trial) + "</td>";
  }
  return row + "</tr>\n";
}

std::string TrialsMarkup(const StudyView& study) {
  std::vector<page::Column> columns = {{"trial"}, {"state"}, {study.metric, true}, {"step", true}};
  for (const ParameterView& parameter : study.parameters) {
    columns.push_back({parameter.name, parameter.kind != ParameterKind::kTexts});
  }
  const TrialView* best = study.Best();
  std::string rows;
  for (const TrialView& trial : study.trials) rows += TrialRow(study, trial, &trial == best);
  return "<h2>Trials</h2>\n" + page::TableMarkup("trials", "Trials", columns, rows);
}

}  // namespace

std::string StudyPicture(const StudyView& study) {
  const auto panels = StudyPanels(study);
  double width = kPictureWidth;
  for (const auto& [heading, drawing] : panels) {
    width = std::max(width, drawing.left + drawing.min_width + drawing.right);
  }
  std::string shapes;
  double y = 0;
  for (const auto& [heading, drawing] : panels) {
    const std::string text = y == 0 ? study.job_id + ": " + heading : heading;
    shapes += "<text class=\"head\" x=\"20\" y=\"" + SvgNumber(y + kHeading - 10) + "\">" +
              MarkupText(text) + "</text>\n";
    y += kHeading;
    shapes +=
        Frame(0, y, drawing.left, drawing.height, drawing.labels) +
        Frame(drawing.left, y, width - drawing.left - drawing.right, drawing.height, drawing.plot);
    y += drawing.height;
  }
  const std::string size = SvgNumber(width) + "\" height=\"" + SvgNumber(y + 10) + "\"";
  std::string picture = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
                        " viewBox=\"0 0 " + SvgNumber(width) + " " + SvgNumber(y + 10) +
                        "\" role=\"img\">\n<style>\n";
  picture += PictureStyle();
  return picture + "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n" + shapes +
         "</svg>\n";
}

std::string StudyPage(const StudyView& study) {
  std::string body = "<h1>" + page::BreakableText(study.job_id) + "</h1>\n" + FactsMarkup(study) +
                     BestMarkup(study);
  for (const auto& [heading, drawing] : StudyPanels(study)) {
    body += "<h2>" + page::BreakableText(heading) + "</h2>\n" + page::DrawingMarkup(drawing);
  }
  return page::PageMarkup(study.job_id, body + TrialsMarkup(study));
}

}  // namespace caip::report
