#include "fakes/logging/filter/text_pattern.h"

#include <re2/re2.h>

#include "fakes/logging/filter/errors.h"

namespace caip::logging {
namespace {

constexpr int64_t kPatternBytesMax = 1 << 20;

RE2::Options Settings() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternBytesMax);
  return options;
}

}  // namespace

struct TextPattern::Compiled {
  explicit Compiled(std::string_view expression)
      : pattern(re2::StringPiece(expression.data(), expression.size()), Settings()) {}
  RE2 pattern;
};

Result<TextPattern> TextPattern::Compile(std::string_view expression) {
  auto compiled = std::make_shared<const Compiled>(expression);
  if (!compiled->pattern.ok()) {
    return errors::PatternInvalid(compiled->pattern.error());
  }
  return TextPattern(std::move(compiled));
}

bool TextPattern::IsIn(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_->pattern);
}

}  // namespace caip::logging
