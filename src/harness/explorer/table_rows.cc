#include "harness/explorer/table_rows.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "harness/explorer/other_values.h"

namespace caip::harness {
namespace {

using LineCounts = std::map<std::string_view, size_t>;

constexpr std::string_view kBlanks = " \t\r";

std::vector<std::string_view> LinesIn(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    if (!line.empty()) lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

LineCounts CountsOfLines(std::string_view text) {
  LineCounts counts;
  for (const std::string_view line : LinesIn(text)) ++counts[line];
  return counts;
}

size_t CountOfLine(const LineCounts& lines, std::string_view line) {
  const auto found = lines.find(line);
  return found == lines.end() ? 0 : found->second;
}

bool IsNumberText(std::string_view text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

std::vector<std::string_view> FieldsIn(std::string_view line, std::string_view separators) {
  std::vector<std::string_view> fields;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find_first_of(separators, begin), line.size());
    fields.push_back(Trim(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return fields;
}

bool BeginsLikeJson(std::string_view line) { return line.front() == '{' || line.front() == '['; }

bool IsJsonRow(std::string_view line) {
  if (!BeginsLikeJson(line)) return false;
  const auto json = ParseJson(line);
  if (!json.ok() || json->size() < 2) return false;
  return std::any_of(json->begin(), json->end(),
                     [](const Json& value) { return value.is_number(); });
}

// "2026-01-31 08:30:12,500 INFO" is none: blanks are within its fields.
bool IsSeparatedRow(std::string_view line, std::string_view separator) {
  const std::vector<std::string_view> fields = FieldsIn(line, separator);
  const bool are_values = std::ranges::all_of(fields, [](std::string_view field) {
    return field.find_first_of(kBlanks) == std::string_view::npos;
  });
  return fields.size() >= 2 && are_values && std::ranges::any_of(fields, IsNumberText);
}

bool IsRowOfNumbers(std::string_view line) {
  std::vector<std::string_view> fields = FieldsIn(line, kBlanks);
  std::erase(fields, "");
  return fields.size() >= 2 && std::ranges::all_of(fields, IsNumberText);
}

// A row that is not JSON.
bool IsPlainRow(std::string_view line) {
  return IsSeparatedRow(line, ",") || IsSeparatedRow(line, ";") || IsSeparatedRow(line, "\t") ||
         IsRowOfNumbers(line);
}

// The line with '#' in place of each number, with its sign, fraction and exponent.
std::string FormOfLine(std::string_view line) {
  constexpr std::string_view kInNumbers = "0123456789.+-eE";
  std::string form;
  for (size_t at = 0; at < line.size();) {
    const bool is_signed = line[at] == '-' && at + 1 < line.size() && caip::IsDigit(line[at + 1]);
    if (!caip::IsDigit(line[at]) && !is_signed) {
      form += line[at++];
      continue;
    }
    form += '#';
    at = std::min(line.find_first_not_of(kInNumbers, at), line.size());
  }
  return form;
}

/// The table of a baseline run.
class Table {
 public:
  explicit Table(const TableRuns& runs) : lines_(CountsOfLines(runs.baseline)) {
    size_t header = 0;
    bool has_rows = false;
    for (const std::string_view line : LinesIn(runs.baseline)) {
      const bool is_json = IsJsonRow(line);
      const bool is_row = is_json || IsPlainRow(line);
      if (!is_row && has_rows) return;  // a log
      if (!is_row) ++header;
      is_json_ = is_json && (is_json_ || !has_rows);
      has_rows = has_rows || is_row;
      if (is_row) rows_by_form_[FormOfLine(line)].insert(line);
    }
    is_json_ = is_json_ && header == 0;
    if (header * 2 < lines_.size()) TakeRows(runs);
  }

  RowDamage FindDamage(std::string_view found) const {
    if (rows_.empty()) return RowDamage::kNone;
    const LineCounts lines = CountsOfLines(found);
    if (std::ranges::any_of(lines, [&](const auto& line) { return IsCut(line.first); })) {
      return RowDamage::kCut;
    }
    const auto is_repeated = [&](std::string_view row) { return CountOfLine(lines, row) > 1; };
    if (std::ranges::any_of(rows_, is_repeated)) return RowDamage::kRepeated;
    const auto is_new = [&](const auto& line) { return IsNew(line.first, line.second); };
    const auto is_missing = [&](std::string_view row) { return !lines.contains(row); };
    const bool misses =
        std::ranges::none_of(lines, is_new) && std::ranges::any_of(rows_, is_missing);
    return misses ? RowDamage::kMissing : RowDamage::kNone;
  }

 private:
  void TakeRows(const TableRuns& runs) {
    const LineCounts early = CountsOfLines(runs.early);
    const auto is_of_start = [&](std::string_view row) {
      return !early.empty() && CountOfLine(early, row) != CountOfLine(lines_, row);
    };
    for (const auto& [form, rows] : rows_by_form_) {
      if (rows.size() < 2) continue;
      if (runs.has_peers && std::ranges::any_of(rows, is_of_start)) continue;
      for (const std::string_view row : rows) {
        if (CountOfLine(lines_, row) == 1 && !is_of_start(row)) rows_.insert(row);
      }
    }
  }

  // Whether it may stand in place of a row that is missing. A header may come again.
  bool IsNew(std::string_view line, size_t count) const {
    const size_t known = CountOfLine(lines_, line);
    const auto rows = rows_by_form_.find(FormOfLine(line));
    const bool is_row = rows != rows_by_form_.end() && rows->second.contains(line);
    return known == 0 || (is_row && count > known);
  }

  // Whether the line is, or begins with, a part of a row.
  bool IsCut(std::string_view line) const {
    if (lines_.contains(line)) return false;
    if (is_json_ && BeginsLikeJson(line) && !ParseJson(line).ok()) return true;
    constexpr size_t kLengthMax = 4096;
    if (line.size() > kLengthMax ||
        ((IsJsonRow(line) || IsPlainRow(line)) && rows_by_form_.contains(FormOfLine(line)))) {
      return false;
    }
    for (size_t size = 1; size < line.size(); ++size) {
      if (lines_.contains(line.substr(size)) && BeginsARow(line.substr(0, size))) return true;
    }
    return false;
  }

  bool BeginsARow(std::string_view part) const {
    const auto row = rows_.lower_bound(part);
    return row != rows_.end() && row->size() > part.size() && row->starts_with(part);
  }

  LineCounts lines_;
  bool is_json_ = false;                                            // each line begins so
  std::map<std::string, std::set<std::string_view>> rows_by_form_;  // without their numbers
  std::set<std::string_view> rows_;                                 // those that are judged
};

}  // namespace

RowDamage FindRowDamage(const TableRuns& runs) {
  if (!IsText(runs.baseline) || !IsText(runs.found)) return RowDamage::kNone;
  return Table(runs).FindDamage(runs.found);
}

std::string_view Name(RowDamage damage) {
  switch (damage) {
    case RowDamage::kCut:
      return "a row is cut, or joined with another line";
    case RowDamage::kRepeated:
      return "rows come more than once";
    case RowDamage::kMissing:
      return "rows are missing";
    default:
      return "";
  }
}

}  // namespace caip::harness
