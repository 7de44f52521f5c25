#include "ml/etag.h"

#include <cstdint>

#include "base/hash.h"
#include "base/random.h"

namespace caip::ml {
namespace {

void Mix(uint64_t& hash, std::string_view text) {
  hash = Fnv1a(text, hash);
  hash = (hash ^ 0x1ff) * kFnvPrime;  // not a byte, so that "a","bc" differs from "ab","c"
}

}  // namespace

std::string NextEtag(std::string_view previous, const std::map<std::string, std::string>& labels) {
  uint64_t hash = kFnvStart;
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
