#include "ml/etag.h"

#include <cstdint>

#include "base/random.h"

namespace caip::ml {
namespace {

void Mix(uint64_t& hash, std::string_view text) {
  for (unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3ULL;  // FNV-1a
  hash = (hash ^ 0x1ff) * 0x100000001b3ULL;  // no byte: "a","bc" is not "ab","c"
}

}  // namespace

std::string NextEtag(std::string_view previous, const std::map<std::string, std::string>& labels) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  Mix(hash, previous);
  for (const auto& [key, value] : labels) {
    Mix(hash, key);
    Mix(hash, value);
  }
  uint64_t mixed = Random(hash).Next();
  std::string etag;
  for (int i = 0; i < 8; ++i, mixed >>= 8) etag += static_cast<char>(mixed & 0xff);
  return etag;
}

}  // namespace caip::ml
