#include "report/svg_shapes.h"

#include <algorithm>
#include <cstdio>

#include "base/quoting.h"

namespace caip::report {
namespace {

constexpr double kCharacter = 7.5;  // rather too wide than too narrow

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::string Percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f%%", share);
  return text;
}

std::string Title(const std::string& title) {
  return title.empty() ? "" : "<title>" + MarkupText(title) + "</title>";
}

}  // namespace

std::string SvgNumber(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", number);
  return text;
}

std::string SvgText(const SvgLabel& label) {
  const std::string title = Title(label.title) + MarkupText(label.text) + "</text>";
  const std::string dx = label.dx == 0 ? "" : " dx=\"" + SvgNumber(label.dx) + "\"";
  const std::string kind = std::string(" class=\"") + label.kind + "\"";
  if (!label.turned) {
    return "<text x=\"" + Percent(label.x) + "\" y=\"" + SvgNumber(label.y) + "\"" + dx + kind +
           ">" + title + "\n";
  }
  // A rotation is around a place in pixels: here the origin of an inner picture.
  return "<svg x=\"" + Percent(label.x) + "\" y=\"" + SvgNumber(label.y) +
         "\" overflow=\"visible\"><text transform=\"rotate(-35)\"" + dx + kind + ">" + title +
         "</svg>\n";
}

std::string SvgLine(double x1, double y1, double x2, double y2, const char* kind) {
  const std::string style = *kind ? std::string(" class=\"") + kind + "\"" : "";
  return "<line x1=\"" + Percent(x1) + "\" y1=\"" + SvgNumber(y1) + "\" x2=\"" + Percent(x2) +
         "\" y2=\"" + SvgNumber(y2) + "\"" + style + "/>\n";
}

std::string SvgCircle(double x, double y, double radius, const std::string& style,
                      const std::string& title) {
  return "<circle cx=\"" + Percent(x) + "\" cy=\"" + SvgNumber(y) + "\" r=\"" + SvgNumber(radius) +
         "\" " + style + ">" + Title(title) + "</circle>\n";
}

std::string SvgPath(const std::vector<std::pair<double, double>>& points, const std::string& style,
                    const std::string& title) {
  std::string text = "<g " + style + ">" + Title(title) + "\n";
  for (size_t i = 1; i < points.size(); ++i) {
    text +=
        SvgLine(points[i - 1].first, points[i - 1].second, points[i].first, points[i].second, "");
  }
  return text + "</g>\n";
}

double SvgWidthOf(const std::string& text) {
  return kCharacter * static_cast<double>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

std::string SvgCutTo(const std::string& text, double width) {
  if (SvgWidthOf(text) <= width) return text;
  const auto most = static_cast<size_t>(std::max(2.0, width / kCharacter));
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end) {
    if (BeginsCharacter(text[end]) && ++seen >= most) break;
  }
  return text.substr(0, end) + "…";
}

}  // namespace caip::report
