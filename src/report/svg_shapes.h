#pragma once
// The shapes that pictures of studies are made of, as SVG text.

#include <string>
#include <utility>
#include <vector>

namespace caip::report {

/// A number as SVG has it: "12.5".
std::string SvgNumber(double number);

/// Words at a place; `kind` is the style's class. `turned`: rising to the right, for words that
/// would run into each other. `title` is what a pointer is told, "" nothing.
struct SvgLabel {
  double x = 0;
  double y = 0;
  std::string text;
  const char* kind = "start";
  bool turned = false;
  std::string title = {};
};
std::string SvgText(const SvgLabel& label);

std::string SvgLine(double x1, double y1, double x2, double y2, const char* kind);

/// A line through `points`; `style` are attributes.
std::string SvgPath(const std::vector<std::pair<double, double>>& points, const std::string& style,
                    const std::string& title);

/// About how wide a text is; labels are of 12 pixels.
double SvgWidthOf(const std::string& text);
/// The text, or what of it is about so wide, with "…".
std::string SvgCutTo(const std::string& text, double width);

}  // namespace caip::report
