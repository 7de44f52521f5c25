#include "fakes/logging/filter/tokens.h"

#include "base/text.h"
#include "fakes/logging/filter/errors.h"

namespace caip::logging {
namespace {

constexpr size_t kFilterBytesMax = 20'000;  // the service's limit

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool IsWordCharacter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) || byte >= 0x80 ||
         std::string_view("_./-+$@*%#&").find(c) != std::string_view::npos;
}

class FilterTokenizer {
 public:
  explicit FilterTokenizer(std::string_view text) : text_(text) {}

  Result<std::vector<FilterToken>> Run() {
    for (;;) {
      const size_t begin = at_;
      SkipBlanks();
      FilterToken token;
      token.place = PlaceOf(at_);
      token.is_adjacent = at_ == begin && begin > 0;
      RETURN_IF_ERROR(Read(token));
      tokens_.push_back(std::move(token));
      if (tokens_.back().kind == FilterToken::Kind::kEnd) return std::move(tokens_);
    }
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool AtEnd() const { return at_ >= text_.size(); }

  // Must be called with increasing offsets.
  FilterPlace PlaceOf(size_t offset) {
    for (; placed_ < offset; ++placed_) {
      if (text_[placed_] == '\n') {
        ++place_.line;
        place_.column = 1;
      } else {
        ++place_.column;
      }
    }
    return place_;
  }

  void SkipBlanks() {
    while (!AtEnd()) {
      if (text_.substr(at_).starts_with("--")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (IsBlank(Peek())) {
        ++at_;
      } else {
        return;
      }
    }
  }

  Status Read(FilterToken& token) {
    if (AtEnd()) return Ok{};
    switch (Peek()) {
      case '(':
        return Take(1, FilterToken::Kind::kLeft, token);
      case ')':
        return Take(1, FilterToken::Kind::kRight, token);
      case ',':
        return Take(1, FilterToken::Kind::kComma, token);
      case '"':
      case '\'':
        token.kind = FilterToken::Kind::kQuoted;
        return ReadQuoted(token.text);
      default:
        break;
    }
    for (const std::string_view sign : {"!=", "!~", ">=", "<=", "=~", "=", ">", "<", ":"}) {
      if (text_.substr(at_).starts_with(sign))
        return Take(sign.size(), FilterToken::Kind::kOperator, token);
    }
    const bool is_value = !tokens_.empty() && tokens_.back().kind == FilterToken::Kind::kOperator;
    if (Peek() == '-' && !is_value) return Take(1, FilterToken::Kind::kMinus, token);
    if (IsWordCharacter(Peek())) return ReadWord(token);
    return errors::FilterSyntax(PlaceOf(at_), std::string(1, Peek()));
  }

  Status Take(size_t length, FilterToken::Kind kind, FilterToken& token) {
    token.kind = kind;
    token.text = text_.substr(at_, length);
    at_ += length;
    return Ok{};
  }

  // Reads a word such as resource.labels."a/b".c: its text and its path.
  Status ReadWord(FilterToken& token) {
    token.kind = FilterToken::Kind::kWord;
    token.segments.emplace_back();
    while (!AtEnd()) {
      const char c = Peek();
      const bool opens_segment = token.segments.back().empty() && token.segments.size() > 1;
      if ((c == '"' || c == '\'') && opens_segment) {
        RETURN_IF_ERROR(ReadQuoted(token.segments.back()));
        token.text += '"' + token.segments.back() + '"';
        continue;
      }
      if (!IsWordCharacter(c)) break;
      token.text.push_back(c);
      ++at_;
      if (c == '.') {
        token.segments.emplace_back();
      } else {
        token.segments.back().push_back(c);
      }
    }
    return Ok{};
  }

  Status ReadQuoted(std::string& value) {
    const size_t begin = at_;
    const char quote = text_[at_++];
    while (!AtEnd() && Peek() != quote) {
      if (Peek() == '\\') {
        RETURN_IF_ERROR(ReadEscape(value));
      } else {
        value.push_back(text_[at_++]);
      }
    }
    if (AtEnd()) return errors::FilterQuoteOpen(PlaceOf(begin));
    ++at_;
    return Ok{};
  }

  // Reads \x41, \101, \u00e9, \U0001f600 and C's letters. Keeps the backslash of any other escape,
  // because quoted regular expressions contain them.
  Status ReadEscape(std::string& value) {
    const size_t begin = at_;
    const char letter = Peek(1);
    at_ += 2;
    constexpr std::string_view kLetters = "abfnrtv\"'\\?`";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\"'\\?`";
    if (const size_t i = kLetters.find(letter); letter != '\0' && i != std::string_view::npos) {
      value.push_back(kMeanings[i]);
      return Ok{};
    }
    if (letter >= '0' && letter <= '7') {
      --at_;
      return ReadCode(begin, 8, 1, 3, value);
    }
    if (letter == 'x') return ReadCode(begin, 16, 2, 2, value);
    if (letter == 'u') return ReadCode(begin, 16, 4, 4, value);
    if (letter == 'U') return ReadCode(begin, 16, 8, 8, value);
    at_ = begin + 1;
    value.push_back('\\');
    return Ok{};
  }

  Status ReadCode(size_t begin, int base, int least, int most, std::string& value) {
    uint32_t code = 0;
    int digits = 0;
    for (; digits < most; ++digits, ++at_) {
      const char c = Peek();
      const int digit = std::isdigit(static_cast<unsigned char>(c))    ? c - '0'
                        : std::isxdigit(static_cast<unsigned char>(c)) ? (c | 0x20) - 'a' + 10
                                                                       : 99;
      if (digit >= base) break;
      code = code * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit);
    }
    const bool is_character = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    if (digits < least || !is_character) {
      return errors::FilterSyntax(PlaceOf(begin), std::string(text_.substr(begin, 2)));
    }
    AppendUtf8(value, code);
    return Ok{};
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t placed_ = 0;
  FilterPlace place_;
  std::vector<FilterToken> tokens_;
};

}  // namespace

Result<std::vector<FilterToken>> TokenizeFilter(std::string_view text) {
  if (text.size() > kFilterBytesMax) return errors::FilterTooLong(text.size(), kFilterBytesMax);
  if (!IsUtf8(text)) return errors::FilterNotUtf8();
  return FilterTokenizer(text).Run();
}

}  // namespace caip::logging
