#pragma once
// Tables as gcloud's `table` and `table[box]` draw them.

#include <string>
#include <string_view>
#include <vector>

namespace caip::report {

struct BoxTable {
  std::string title;                           // "" none
  std::vector<std::string> headings;           // may be none
  std::vector<std::vector<std::string>> rows;  // a cell may have several lines
  std::vector<std::string> alignments = {};    // left, center or right; none: all left
};

/// Boxes a table: heading cells centred, row cells to the left, `indent` blanks before each line.
std::string Boxed(const BoxTable& table, int indent);

/// Columns `pad` blanks apart, no blanks at the ends of lines, the title in the middle above.
std::string Unboxed(const BoxTable& table, size_t pad);

}  // namespace caip::report
