#include "report/box_table.h"

#include <algorithm>

#include "base/text.h"
#include "report/terminal_size.h"

namespace caip::report {
namespace {

std::string Times(std::string_view text, size_t count) {
  std::string repeated;
  while (count-- > 0) repeated += text;
  return repeated;
}

// If the spare width is odd, the side that gets more is the one that Python's str.center chooses.
std::string Centred(std::string_view text, size_t width) {
  const size_t spare = width - TerminalColumns(text);
  const size_t left = spare / 2 + (spare & width & 1);
  return std::string(left, ' ') + std::string(text) + std::string(spare - left, ' ');
}

std::string Left(std::string_view text, size_t width) {
  return std::string(text) + std::string(width - TerminalColumns(text), ' ');
}

std::string Right(std::string_view text, size_t width) {
  return std::string(width - TerminalColumns(text), ' ') + std::string(text);
}

std::string Aligned(const BoxTable& table, size_t column, std::string_view text, size_t width) {
  const std::string alignment = column < table.alignments.size() ? table.alignments[column] : "";
  if (alignment == "right") return Right(text, width);
  return alignment == "center" ? Centred(text, width) : Left(text, width);
}

// The widest line of each column.
std::vector<size_t> WidthsOf(const BoxTable& table) {
  std::vector<size_t> widths;
  for (const std::string& heading : table.headings) widths.push_back(TerminalColumns(heading));
  for (const auto& row : table.rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      for (const std::string& line : Split(row[i], '\n')) {
        widths[i] = std::max(widths[i], TerminalColumns(line));
      }
    }
  }
  return widths;
}

// A row whose cells have several lines is several rows.
std::vector<std::vector<std::string>> LinesOf(const std::vector<std::string>& row) {
  std::vector<std::vector<std::string>> lines;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::vector<std::string> cell = Split(row[i], '\n');
    if (lines.size() < cell.size()) lines.resize(cell.size(), std::vector<std::string>(row.size()));
    for (size_t y = 0; y < cell.size(); ++y) lines[y][i] = cell[y];
  }
  return lines;
}

class Box {
 public:
  Box(const BoxTable& table, int indent)
      : table_(table), indent_(static_cast<size_t>(indent), ' '), widths_(WidthsOf(table)) {
    // gcloud's rule: if the title is wider than the cells, each column grows by its share.
    size_t cells = 0;
    for (size_t width : widths_) cells += width;
    const size_t title = TerminalColumns(table.title);
    const size_t share = (title + widths_.size() - 1) / widths_.size();
    for (size_t& width : widths_) width += cells < title ? share : 0;
  }

  std::string Text() {
    if (!table_.title.empty()) {
      Line("┌", "─", "┐");  // gcloud draws no column marks above the title
      text_ += indent_ + "│" + Centred(table_.title, Inner()) + "│\n";
      Line("├", "┬", "┤");
    } else {
      Line("┌", "┬", "┐");
    }
    if (!table_.headings.empty()) {
      Cells(table_.headings,
            [](size_t, std::string_view text, size_t width) { return Centred(text, width); });
      Line("├", "┼", "┤");
    }
    const auto align = [&](size_t column, std::string_view text, size_t width) {
      return Aligned(table_, column, text, width);
    };
    for (const auto& row : table_.rows) {
      for (const auto& cells : LinesOf(row)) Cells(cells, align);
    }
    Line("└", "┴", "┘");
    return text_;
  }

 private:
  // The width between the outer borders.
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

  template <typename Align>
  void Cells(const std::vector<std::string>& cells, Align align) {
    text_ += indent_ + "│";
    for (size_t i = 0; i < widths_.size(); ++i) {
      text_ += " " + align(i, cells[i], widths_[i]) + " │";
    }
    text_ += "\n";
  }

  const BoxTable& table_;
  std::string indent_;
  std::vector<size_t> widths_;
  std::string text_;
};

}  // namespace

std::string Boxed(const BoxTable& table, int indent) { return Box(table, indent).Text(); }

std::string Unboxed(const BoxTable& table, size_t pad) {
  const std::vector<size_t> widths = WidthsOf(table);
  std::string text;
  const auto add = [&text](std::string line) {
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  };
  const auto add_cells = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      line += (i > 0 ? std::string(pad, ' ') : "") + Aligned(table, i, cells[i], widths[i]);
    }
    add(std::move(line));
  };
  if (!table.title.empty()) {
    size_t width = widths.empty() ? 0 : pad * (widths.size() - 1);
    for (size_t column : widths) width += column;
    add(Centred(table.title, std::max(width, TerminalColumns(table.title))));
  }
  if (!table.headings.empty()) add_cells(table.headings);
  for (const auto& row : table.rows) {
    for (const auto& cells : LinesOf(row)) add_cells(cells);
  }
  return text;
}

}  // namespace caip::report
