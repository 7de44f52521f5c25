#pragma once
// Regular expressions in RE2's syntax, which the service uses. Matching takes linear time.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::logging {

/// Immutable, cheap to copy, any thread.
class TextPattern {
 public:
  /// The error's message is RE2's.
  static Result<TextPattern> Compile(std::string_view expression);
  /// Whether a part of the text matches. Case matters.
  bool IsIn(std::string_view text) const;

 private:
  struct Compiled;
  explicit TextPattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace caip::logging
