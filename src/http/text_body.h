#pragma once
// A body whose bytes are in memory.

#include <concepts>
#include <string>
#include <string_view>

#include "http/message.h"

namespace caip::http {

/// Reads a text, which must outlive it. One thread.
class TextBody final : public BodyReader {
 public:
  explicit TextBody(std::string_view text) : rest_(text) {}
  template <std::same_as<std::string> Temporary>
  explicit TextBody(Temporary&& text) = delete;
  Result<size_t> Read(char* buffer, size_t size) override {
    const size_t count = rest_.copy(buffer, size);
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
};

}  // namespace caip::http
