#pragma once
// A grid of character cells that is drawn into and read as lines.

#include <string>
#include <string_view>
#include <vector>

namespace caip::harness {

/// The ANSI colours that drawings use.
enum class Paint { kPlain, kFaint, kBold, kRed, kGreen, kYellow, kCyan };

/// `text` in the colour, or unchanged.
std::string Painted(const std::string& text, Paint paint, bool colours);

/// At most `columns` characters, none of them a control character. "…" marks a cut.
std::string OneLine(std::string_view text, size_t columns);

/// The number of characters of a UTF-8 text.
size_t Columns(std::string_view text);

class GlyphGrid {
 public:
  explicit GlyphGrid(size_t columns) : columns_(columns) {}

  /// Draws the text. Rows are added as needed. Text outside of the columns is cut.
  void Put(size_t row, size_t column, std::string_view text, Paint paint = Paint::kPlain);
  /// True if these cells and one cell on each side are empty.
  bool IsFree(size_t row, size_t column, size_t count) const;
  size_t rows() const { return cells_.size(); }
  size_t columns() const { return columns_; }
  /// The row without blanks at its end.
  std::string Line(size_t row, bool colours) const;

 private:
  struct Cell {
    std::string glyph = " ";
    Paint paint = Paint::kPlain;
  };
  size_t columns_;
  std::vector<std::vector<Cell>> cells_;
};

}  // namespace caip::harness
