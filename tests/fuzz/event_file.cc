// Any bytes are an event file or a corrupt one. The result does not depend on where they are cut.

#include "host/metrics/event_file.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using caip::engine::Report;
using caip::host::EventReader;

bool Same(const Report& a, const Report& b) {
  const bool same_value = a.value == b.value || (a.value != a.value && b.value != b.value);
  return same_value && a.step == b.step && a.time == b.time && a.summary && b.summary;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<Report> whole;
  EventReader reader("loss");
  reader.Feed(bytes, whole);
  std::vector<Report> pieces;
  EventReader by_pieces("loss");
  const size_t piece = 1 + size % 7;
  for (size_t at = 0; at < size; at += piece) by_pieces.Feed(bytes.substr(at, piece), pieces);
  if (whole.size() != pieces.size() || reader.broken() != by_pieces.broken()) std::abort();
  if (!std::equal(whole.begin(), whole.end(), pieces.begin(), Same)) std::abort();
  return 0;
}
