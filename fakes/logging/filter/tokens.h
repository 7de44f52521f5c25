#pragma once
// A filter's text -> words. Knows quotes, comments, operators and places; not what they mean.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::logging {

/// A place in a filter, as people count: from 1, columns in bytes.
struct FilterPlace {
  int line = 1;
  int column = 1;
};

struct FilterToken {
  enum class Kind { kWord, kQuoted, kOperator, kMinus, kLeft, kRight, kComma, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;                   // quotes and escapes taken off
  std::vector<std::string> segments;  // of a word: its dotted path, quoted segments unquoted
  FilterPlace place;
  bool is_adjacent = false;  // nothing stands between this token and the one before

  bool Is(std::string_view word) const { return kind == Kind::kWord && text == word; }
};

/// The last token is kEnd. kInvalidArgument: a quote without its end, a character that belongs into
/// quotes, a broken escape, more than 20,000 characters.
Result<std::vector<FilterToken>> TokenizeFilter(std::string_view text);

}  // namespace caip::logging
