#pragma once
// Tables in a box with a title, as gcloud's `table[box,title=...]` draws them.

#include <string>
#include <string_view>
#include <vector>

namespace caip::cli {

struct BoxTable {
  std::string title;
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;  // a cell may have several lines
};

/// Boxes a table: heading cells centred, row cells to the left, `indent` blanks before each line.
std::string Boxed(const BoxTable& table, int indent);

}  // namespace caip::cli
