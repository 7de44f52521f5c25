#pragma once
// Splits the text of a setup.py into tokens, without Python.

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace caip::host {

enum class SetupTokenKind { kName, kText, kNumber, kSign, kLineEnd };

/// A token is a part of the script's text. The end of a statement's line is a token, too. Line ends
/// inside brackets are none.
struct SetupToken {
  SetupTokenKind kind;
  std::string_view text;
  bool at_margin = false;  // no blank is before it on its line
};

/// Returns the tokens of a script of the simple part of Python. The last one is a line end.
/// nullopt: the text holds something else, such as a decorator, f"..." or another encoding.
std::optional<std::vector<SetupToken>> SplitSetup(std::string_view text);

/// A place among the tokens of a script, which SplitSetup has returned.
class SetupCursor {
 public:
  explicit SetupCursor(const std::vector<SetupToken>& tokens) : tokens_(tokens) {}

  size_t at() const { return at_; }
  /// Moves to the token `at`, and returns the place before.
  size_t Move(size_t at) { return std::exchange(at_, at); }
  bool IsAtEnd() const { return at_ >= tokens_.size(); }
  SetupTokenKind Kind() const { return IsAtEnd() ? SetupTokenKind::kLineEnd : tokens_[at_].kind; }
  /// The text of the next token, or of one that is further ahead; "" after the last one.
  std::string_view Peek(size_t ahead = 0) const;
  /// The token that was taken last.
  const SetupToken& Last() const { return tokens_[at_ - 1]; }
  /// True if a statement begins here that is in no block.
  bool IsAtMargin() const;
  /// Takes the next token if it has this text.
  bool Takes(std::string_view text);
  /// Takes the next token.
  std::string_view Take() { return tokens_[at_++].text; }
  /// Takes a name, or returns nullopt.
  std::optional<std::string_view> TakeName();
  /// The place of the first `word` inside the present brackets, or nullopt.
  std::optional<size_t> Find(std::string_view word) const;

 private:
  const std::vector<SetupToken>& tokens_;
  size_t at_ = 0;
};

}  // namespace caip::host
