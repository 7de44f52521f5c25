// Any text is an event list, or an error with a line number. Every valid list can be drawn.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "harness/timeline/timeline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace caip;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto list = harness::ReadEventList(text, "e.jsonl");
  if (!list.ok()) {
    if (!list.error().message.starts_with("e.jsonl:")) std::abort();
    return 0;
  }
  for (const char c : harness::TimelineText(*list, {60, false})) {
    if (c != '\n' && static_cast<unsigned char>(c) < 0x20) std::abort();
  }
  if (harness::TimelineHtml(*list).empty()) std::abort();
  return 0;
}
