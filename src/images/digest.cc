#include "images/digest.h"

#include <algorithm>

#include "base/hash.h"
#include "images/errors.h"

namespace caip::images {
namespace {

constexpr std::string_view kAlgorithm = "sha256:";
constexpr size_t kHexDigits = 64;

bool IsLowerHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

Result<Digest> Digest::Parse(std::string_view text) {
  if (!text.starts_with(kAlgorithm)) return errors::DigestInvalid(text);
  auto digest = ParseHex(text.substr(kAlgorithm.size()));
  if (!digest.ok()) return errors::DigestInvalid(text);
  return digest;
}

Result<Digest> Digest::ParseHex(std::string_view hex) {
  if (hex.size() != kHexDigits || !std::all_of(hex.begin(), hex.end(), IsLowerHex)) {
    return errors::DigestInvalid(hex);
  }
  return Digest(std::string(hex));
}

Digest Digest::Of(std::string_view bytes) { return Digest(Sha256Hex(bytes)); }

}  // namespace caip::images
