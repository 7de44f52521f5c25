#pragma once
// Shapes of the pictures of studies, as SVG text. An x is a percentage of a plot's width, so that a
// plot may have any width; a y is in pixels.

#include <string>
#include <utility>
#include <vector>

namespace caip::report {

/// A number in SVG: "12.5".
std::string SvgNumber(double number);

/// A text at a place, moved `dx` pixels to the right. `kind` is its CSS class. `turned`: rotated,
/// rising to the right, for texts that would overlap. `title` is the tooltip; "": none.
struct SvgLabel {
  double x = 0;
  double y = 0;
  std::string text;
  const char* kind = "start";
  double dx = 0;
  bool turned = false;
  std::string title = {};
};
std::string SvgText(const SvgLabel& label);

std::string SvgLine(double x1, double y1, double x2, double y2, const char* kind);

/// A circle with a tooltip. `style` has SVG attributes.
std::string SvgCircle(double x, double y, double radius, const std::string& style,
                      const std::string& title);

/// A line through `points`. `style` has SVG attributes.
std::string SvgPath(const std::vector<std::pair<double, double>>& points, const std::string& style,
                    const std::string& title);

/// The approximate width of a text in labels of 12 pixels.
double SvgWidthOf(const std::string& text);
/// The text, or its beginning with "…" if the text is wider than about `width`.
std::string SvgCutTo(const std::string& text, double width);

}  // namespace caip::report
