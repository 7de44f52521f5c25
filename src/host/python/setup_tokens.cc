#include "host/python/setup_tokens.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace caip::host {
namespace {

constexpr int kBracketsMax = 64;  // inside each other; a usual script has a few

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

/// Splits a text that has no bare carriage return and no NUL.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  /// nullopt: something that it does not know.
  std::optional<std::vector<SetupToken>> All() {
    for (SkipBlanks(); at_ < text_.size(); SkipBlanks()) {
      const bool at_margin = at_ == 0 || Before() == '\n';
      auto token = Next();
      if (!token) return std::nullopt;
      token->at_margin = at_margin;
      tokens_.push_back(*token);
    }
    EndLine();
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  char Before() const { return text_[at_ - 1]; }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (Peek() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (Peek() == ' ' || Peek() == '\t' || Peek() == '\r') {
        ++at_;
      } else if (Peek() == '\n') {
        EndLine();
        ++at_;
      } else {
        return;
      }
    }
  }

  void EndLine() {
    if (depth_ != 0 || tokens_.empty()) return;
    if (tokens_.back().kind == SetupTokenKind::kLineEnd) return;
    tokens_.push_back({SetupTokenKind::kLineEnd, "\n"});
  }

  std::optional<SetupToken> Next() {
    const size_t start = at_;
    if (Peek() == '\'' || Peek() == '"') return Text(start);
    if (IsNameStart(Peek())) {
      while (IsNamePart(Peek())) ++at_;
      const std::string_view name = text_.substr(start, at_ - start);
      if (Peek() != '\'' && Peek() != '"') return SetupToken{SetupTokenKind::kName, name};
      if (name != "r" && name != "u" && name != "b") return std::nullopt;  // such as f"..."
      return Text(start);
    }
    if (std::isdigit(static_cast<unsigned char>(Peek()))) {
      while (std::isdigit(static_cast<unsigned char>(Peek())) || Peek() == '.') ++at_;
      return SetupToken{SetupTokenKind::kNumber, text_.substr(start, at_ - start)};
    }
    return Sign(start);
  }

  std::optional<SetupToken> Sign(size_t start) {
    constexpr std::array<std::string_view, 7> kLongSigns = {
        "==", "!=", "<=", ">=", "+=", "//", "->"};
    constexpr std::string_view kSigns = "()[]{},:=+-*/%<>.";
    const bool is_long = std::count(kLongSigns.begin(), kLongSigns.end(), text_.substr(at_, 2)) > 0;
    if (!is_long && kSigns.find(Peek()) == std::string_view::npos) return std::nullopt;
    if (Peek() == '(' || Peek() == '[' || Peek() == '{') ++depth_;
    if (Peek() == ')' || Peek() == ']' || Peek() == '}') --depth_;
    if (depth_ < 0 || depth_ > kBracketsMax) return std::nullopt;
    at_ += is_long ? 2 : 1;
    return SetupToken{SetupTokenKind::kSign, text_.substr(start, at_ - start)};
  }

  std::optional<SetupToken> Text(size_t start) {
    const bool is_long = Peek(1) == Peek() && Peek(2) == Peek();
    const std::string_view end = text_.substr(at_, is_long ? 3 : 1);
    for (at_ += end.size(); at_ < text_.size(); ++at_) {
      if (Peek() == '\n' && !is_long) return std::nullopt;
      if (text_.substr(at_).starts_with(end)) {
        at_ += end.size();
        return SetupToken{SetupTokenKind::kText, text_.substr(start, at_ - start)};
      }
      if (Peek() == '\\') ++at_;
    }
    return std::nullopt;
  }

  const std::string_view text_;
  std::vector<SetupToken> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

// Python also ends a line at a carriage return.
bool HasOddCharacters(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\0') return true;
    if (text[at] == '\r' && text.substr(at, 2) != "\r\n") return true;
  }
  return false;
}

// In another encoding, other bytes are a quote or a line end. PEP 263: a comment in one of the
// first two lines names the encoding.
bool HasOtherEncoding(std::string_view text) {
  static const RE2 named(R"(coding[:=][ \t]*([-_.a-zA-Z0-9]+))");
  static const RE2 usual(R"((?i)utf[-_]?8|(?:us-)?ascii|latin-?1)");
  const size_t first = std::min(text.find('\n'), text.size());
  const size_t second = std::min(text.find('\n', first + 1), text.size());
  for (const std::string_view line : {text.substr(0, first), text.substr(first, second - first)}) {
    std::string encoding;
    if (RE2::PartialMatch(line, named, &encoding) && !RE2::FullMatch(encoding, usual)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<SetupToken>> SplitSetup(std::string_view text) {
  if (HasOddCharacters(text) || HasOtherEncoding(text)) return std::nullopt;
  auto tokens = Tokenizer(text).All();
  const bool is_complete =
      tokens && !tokens->empty() && tokens->back().kind == SetupTokenKind::kLineEnd;
  return is_complete ? std::move(tokens) : std::nullopt;
}

std::string_view SetupCursor::Peek(size_t ahead) const {
  return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : std::string_view();
}

bool SetupCursor::IsAtMargin() const {
  return !IsAtEnd() && tokens_[at_].at_margin &&
         (at_ == 0 || Last().kind == SetupTokenKind::kLineEnd);
}

bool SetupCursor::Takes(std::string_view text) {
  const bool is_next = Peek() == text;
  if (is_next) ++at_;
  return is_next;
}

std::optional<std::string_view> SetupCursor::TakeName() {
  if (Kind() != SetupTokenKind::kName) return std::nullopt;
  return Take();
}

std::optional<size_t> SetupCursor::Find(std::string_view word) const {
  int depth = 0;
  for (size_t at = at_; at < tokens_.size() && depth >= 0; ++at) {
    const std::string_view text = tokens_[at].text;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
    if (depth == 0 && text == word) return at;
  }
  return std::nullopt;
}

}  // namespace caip::host
