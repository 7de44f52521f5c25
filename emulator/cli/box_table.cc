#include "emulator/cli/box_table.h"

#include <algorithm>

#include "base/text.h"

namespace caip::cli {
namespace {

// Columns on a terminal: one for each code point; good enough for ids, times and URIs.
size_t Columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string Times(std::string_view text, size_t count) {
  std::string repeated;
  while (count-- > 0) repeated += text;
  return repeated;
}

// Where the spare room is odd, Python's str.center decides which side gets more; so does this.
std::string Centred(std::string_view text, size_t width) {
  const size_t spare = width - Columns(text);
  const size_t left = spare / 2 + (spare & width & 1);
  return std::string(left, ' ') + std::string(text) + std::string(spare - left, ' ');
}

std::string Left(std::string_view text, size_t width) {
  return std::string(text) + std::string(width - Columns(text), ' ');
}

class Box {
 public:
  Box(const BoxTable& table, int indent)
      : table_(table), indent_(static_cast<size_t>(indent), ' ') {
    for (const std::string& heading : table.headings) widths_.push_back(Columns(heading));
    for (const auto& row : table.rows) {
      for (size_t i = 0; i < row.size(); ++i) {
        for (const std::string& line : Split(row[i], '\n')) {
          widths_[i] = std::max(widths_[i], Columns(line));
        }
      }
    }
    // gcloud's rule: where the title is wider than the cells, each column grows by its share.
    size_t cells = 0;
    for (size_t width : widths_) cells += width;
    const size_t title = Columns(table.title);
    const size_t share = (title + widths_.size() - 1) / widths_.size();
    for (size_t& width : widths_) width += cells < title ? share : 0;
  }

  std::string Text() {
    Line("┌", "─", "┐");  // gcloud draws no column marks above the title
    text_ += indent_ + "│" + Centred(table_.title, Inner()) + "│\n";
    Line("├", "┬", "┤");
    Cells(table_.headings, Centred);
    Line("├", "┼", "┤");
    for (const auto& row : table_.rows) Row(row);
    Line("└", "┴", "┘");
    return text_;
  }

 private:
  // What lies between the outer borders.
  size_t Inner() const {
    size_t inner = widths_.size() - 1;
    for (size_t width : widths_) inner += width + 2;
    return inner;
  }

  void Line(std::string_view left, std::string_view between, std::string_view right) {
    text_ += indent_ + std::string(left);
    for (size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) text_ += between;
      text_ += Times("─", widths_[i] + 2);
    }
    text_ += std::string(right) + "\n";
  }

  void Cells(const std::vector<std::string>& cells,
             std::string (*align)(std::string_view, size_t)) {
    text_ += indent_ + "│";
    for (size_t i = 0; i < widths_.size(); ++i) text_ += " " + align(cells[i], widths_[i]) + " │";
    text_ += "\n";
  }

  void Row(const std::vector<std::string>& row) {
    std::vector<std::vector<std::string>> lines;
    size_t height = 1;
    for (const std::string& cell : row) {
      lines.push_back(Split(cell, '\n'));
      height = std::max(height, lines.back().size());
    }
    for (size_t y = 0; y < height; ++y) {
      std::vector<std::string> cells;
      for (const auto& cell : lines) cells.push_back(y < cell.size() ? cell[y] : "");
      Cells(cells, Left);
    }
  }

  const BoxTable& table_;
  std::string indent_;
  std::vector<size_t> widths_;
  std::string text_;
};

}  // namespace

std::string Boxed(const BoxTable& table, int indent) { return Box(table, indent).Text(); }

}  // namespace caip::cli
