// Any text is JSON, or an error with a position. What is written from it is the same value.

#include "base/json.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace caip;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = ParseJson(text);
  if (!read.ok()) {
    const Error& error = read.error();
    if (error.code != Code::kInvalidArgument || error.message.empty()) std::abort();
    return 0;
  }
  const std::string compact = CompactJson(*read);
  const auto again = ParseJson(compact);
  if (!again.ok() || CompactJson(*again) != compact) std::abort();
  const auto spaced = ParseJson(PythonJson(*read));
  if (!spaced.ok() || CompactJson(*spaced) != compact) std::abort();
  return 0;
}
