#include "harness/timeline/glyph_grid.h"

#include <algorithm>

namespace caip::harness {
namespace {

const char* CodeOf(Paint paint) {
  switch (paint) {
    case Paint::kPlain:
      return "";
    case Paint::kFaint:
      return "\x1b[2m";
    case Paint::kBold:
      return "\x1b[1m";
    case Paint::kRed:
      return "\x1b[31m";
    case Paint::kGreen:
      return "\x1b[32m";
    case Paint::kYellow:
      return "\x1b[33m";
    case Paint::kCyan:
      return "\x1b[36m";
  }
  return "";
}

// The end of the character that begins at `at`.
size_t NextCharacter(std::string_view text, size_t at) {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  return at;
}

// The control characters C0, DEL and C1, which a terminal would obey.
bool IsControl(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

}  // namespace

std::string Painted(const std::string& text, Paint paint, bool colours) {
  if (!colours || paint == Paint::kPlain || text.empty()) return text;
  return CodeOf(paint) + text + "\x1b[0m";
}

size_t Columns(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at = NextCharacter(text, at)) ++count;
  return count;
}

std::string OneLine(std::string_view text, size_t columns) {
  std::string line;
  size_t count = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t next = NextCharacter(text, at);
    if (count + 1 >= columns && next < text.size()) return line + "…";
    const std::string_view character = text.substr(at, next - at);
    line += IsControl(character) ? std::string_view(" ") : character;
    ++count;
    at = next;
  }
  return line;
}

void GlyphGrid::Put(size_t row, size_t column, std::string_view text, Paint paint) {
  while (cells_.size() <= row) cells_.emplace_back(columns_);
  for (size_t at = 0; at < text.size() && column < columns_; ++column) {
    const size_t next = NextCharacter(text, at);
    cells_[row][column] = {std::string(text.substr(at, next - at)), paint};
    at = next;
  }
}

bool GlyphGrid::IsFree(size_t row, size_t column, size_t count) const {
  if (row >= cells_.size()) return true;
  const size_t end = std::min(column + count + 1, columns_);
  for (size_t at = column > 0 ? column - 1 : 0; at < end; ++at) {
    if (cells_[row][at].glyph != " ") return false;
  }
  return true;
}

std::string GlyphGrid::Line(size_t row, bool colours) const {
  std::string line;
  size_t end = columns_;
  while (end > 0 && cells_[row][end - 1].glyph == " ") --end;
  for (size_t at = 0; at < end;) {
    std::string run;
    const Paint paint = cells_[row][at].paint;
    for (; at < end && cells_[row][at].paint == paint; ++at) run += cells_[row][at].glyph;
    line += Painted(run, paint, colours);
  }
  return line;
}

}  // namespace caip::harness
