#pragma once
// Regular expressions as the service reads them: RE2's, which take linear time whatever they are.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::logging {

/// Immutable, cheap to copy, any thread.
class TextPattern {
 public:
  /// The error's message is RE2's word.
  static Result<TextPattern> Compile(std::string_view expression);
  /// Anywhere in the text; case counts.
  bool IsIn(std::string_view text) const;

 private:
  struct Compiled;
  explicit TextPattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace caip::logging
