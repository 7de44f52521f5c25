#include "report/svg_shapes.h"

#include <algorithm>
#include <cstdio>

#include "base/quoting.h"

namespace caip::report {
namespace {

constexpr double kCharacter = 7;  // rather too wide than too narrow

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

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
  const std::string x = SvgNumber(label.x);
  const std::string y = SvgNumber(label.y);
  const std::string turn = label.turned ? " transform=\"rotate(-35 " + x + " " + y + ")\"" : "";
  return "<text x=\"" + x + "\" y=\"" + y + "\" class=\"" + label.kind + "\"" + turn + ">" +
         Title(label.title) + MarkupText(label.text) + "</text>\n";
}

std::string SvgLine(double x1, double y1, double x2, double y2, const char* kind) {
  return "<line x1=\"" + SvgNumber(x1) + "\" y1=\"" + SvgNumber(y1) + "\" x2=\"" + SvgNumber(x2) +
         "\" y2=\"" + SvgNumber(y2) + "\" class=\"" + kind + "\"/>\n";
}

std::string SvgPath(const std::vector<std::pair<double, double>>& points, const std::string& style,
                    const std::string& title) {
  std::string text = "<polyline points=\"";
  for (const auto& [x, y] : points) text += SvgNumber(x) + "," + SvgNumber(y) + " ";
  return text + "\" " + style + ">" + Title(title) + "</polyline>\n";
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
