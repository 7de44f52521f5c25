#pragma once
// Tables in gcloud's formats `table` and `table[box]`.

#include <string>
#include <string_view>
#include <vector>

namespace caip::report {

struct BoxTable {
  std::string title;                           // "": no title
  std::vector<std::string> headings;           // may be empty
  std::vector<std::vector<std::string>> rows;  // a cell may have several lines
  std::vector<std::string> alignments = {};    // left, center or right; empty: all left
};

/// Draws a table with a box: centred headings, left-aligned cells, `indent` blanks before each
/// line.
std::string Boxed(const BoxTable& table, int indent);

/// Draws a table without a box: `pad` blanks between columns, no blanks at the ends of lines, the
/// title centred above.
std::string Unboxed(const BoxTable& table, size_t pad);

}  // namespace caip::report
