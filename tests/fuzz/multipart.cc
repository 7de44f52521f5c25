// The parts of a multipart body do not depend on how its bytes arrive, and have no other bytes.
// The input: one byte (how many bytes arrive at a time), the Content-Type up to a line end, a body.

#include "fakes/gcs/wire/multipart.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace caip;

constexpr size_t kPartsMax = 1000;
constexpr size_t kPartBytesMax = 1 << 20;

class PiecewiseBody final : public http::BodyReader {
 public:
  PiecewiseBody(std::string_view bytes, size_t piece) : bytes_(bytes), piece_(piece) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    const size_t count = bytes_.copy(buffer, std::min(size, piece_));
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
  size_t piece_;
};

// The bytes that were read, and the final status.
std::vector<std::string> PartsOf(std::string_view content_type, std::string_view body,
                                 size_t piece) {
  std::vector<std::string> parts;
  auto boundaries = gcs::BoundariesOf(content_type);
  if (boundaries.empty()) return {"no boundary"};
  PiecewiseBody source(body, piece);
  gcs::MultipartReader reader(source, std::move(boundaries));
  while (parts.size() < kPartsMax) {
    const auto more = reader.NextPart();
    if (!more.ok() || !*more) {
      parts.push_back(more.ok() ? "end" : "broken");
      return parts;
    }
    auto bytes = reader.ReadPart(kPartBytesMax);
    if (!bytes.ok()) {
      parts.push_back("broken");
      return parts;
    }
    if (!bytes->empty() && body.find(*bytes) == std::string_view::npos) std::abort();
    parts.push_back("part " + std::move(*bytes));
  }
  return parts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  const size_t piece = static_cast<unsigned char>(input.front()) + size_t{1};
  input.remove_prefix(1);
  const std::string_view content_type = input.substr(0, input.find('\n'));
  input.remove_prefix(std::min(input.size(), content_type.size() + 1));
  if (PartsOf(content_type, input, piece) != PartsOf(content_type, input, 1 << 20)) std::abort();
  return 0;
}
