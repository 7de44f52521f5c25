#pragma once
// Splits the text of a filter into tokens. Recognizes quotes, comments and operators, but does not
// interpret them.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::logging {

/// A place in a filter. Counts from 1; columns are bytes.
struct FilterPlace {
  int line = 1;
  int column = 1;
};

struct FilterToken {
  enum class Kind { kWord, kQuoted, kOperator, kMinus, kLeft, kRight, kComma, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;                   // without quotes and escapes
  std::vector<std::string> segments;  // of a word: its dotted path, quoted segments unquoted
  FilterPlace place;
  bool is_adjacent = false;  // follows the previous token without a blank

  bool Is(std::string_view word) const { return kind == Kind::kWord && text == word; }
};

/// The last token is kEnd. kInvalidArgument: an unfinished quote, a character that must be quoted,
/// a broken escape, or more than 20,000 characters.
Result<std::vector<FilterToken>> TokenizeFilter(std::string_view text);

}  // namespace caip::logging
