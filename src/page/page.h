#pragma once
// HTML pages that load no other file: the frame, and texts, tables and drawings that fit windows of
// any width. All pages have one style sheet, src/page/style.css.

#include <string>
#include <string_view>
#include <vector>

namespace caip::page {

/// A whole page. `title` is text, `body` is markup.
std::string PageMarkup(std::string_view title, std::string_view body);

/// The text as markup. A word that may be wider than a narrow window gets places where a browser
/// may break it; no piece of a broken word has fewer than kPieceMin characters.
std::string BreakableText(std::string_view text);
inline constexpr size_t kPieceMin = 8;
inline constexpr size_t kPieceMax = 28;

/// Like BreakableText. A text of several lines, such as a traceback, keeps its lines and blanks.
std::string BlockText(std::string_view text);

/// The number with at most six digits. Its title has all of them. A text that is not a number, and
/// an integer, are shown as they are.
std::string RoundedNumber(std::string_view exact);
std::string RoundedNumber(double number);

/// A column of a table. Numbers stand on the right.
struct Column {
  std::string name;
  bool has_numbers = false;
};
/// `rows` is the markup of <tr> elements. `kind` is the table's CSS class. `label` names the table
/// for a screen reader. A table that is wider than the window scrolls by itself.
std::string TableMarkup(std::string_view kind, std::string_view label,
                        const std::vector<Column>& columns, std::string_view rows);

/// A drawing that is as wide as the window. Texts and marks keep their size in any window, because
/// the positions in `plot` are percentages of its width. A drawing whose plot would be narrower
/// than `min_width` scrolls by itself.
struct Drawing {
  std::string label = {};   // for a screen reader
  std::string labels = {};  // SVG left of the plot; stays when the plot scrolls
  std::string plot = {};    // SVG
  double left = 0;          // space for `labels` in pixels, as are the following
  double right = 0;         // free space right of the plot
  double height = 0;
  double min_width = 0;
};
std::string DrawingMarkup(const Drawing& drawing);

/// The files style.css and tips.js.
std::string_view StyleText();
std::string_view TipsText();

}  // namespace caip::page
