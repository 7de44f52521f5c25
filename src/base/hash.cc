#include "base/hash.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>

#include "base/encoding.h"
#include "base/random.h"

namespace caip {
namespace {

// A Mersenne prime: the remainder needs no division.
constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
constexpr size_t kChunkBytes = 7;  // a chunk is less than the prime

__extension__ typedef unsigned __int128 Product;

uint64_t MultiplyModulo(uint64_t a, uint64_t b) {
  const Product product = static_cast<Product>(a) * b;
  const uint64_t sum =
      static_cast<uint64_t>(product & kPrime) + static_cast<uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

uint64_t RandomKey() { return SeedFromSystem() % (kPrime - 2) + 2; }

}  // namespace

std::string Sha256(std::string_view bytes) {
  Sha256Digest digest;
  digest.Add(bytes);
  return digest.Finish();
}

std::string Sha256Hex(std::string_view bytes) { return Hex(Sha256(bytes)); }

Sha256Digest::Sha256Digest() : context_(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(context_, EVP_sha256(), nullptr);
}

Sha256Digest::~Sha256Digest() { EVP_MD_CTX_free(context_); }

void Sha256Digest::Add(std::string_view bytes) {
  EVP_DigestUpdate(context_, bytes.data(), bytes.size());
}

std::string Sha256Digest::Finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context_, digest, &size);
  return {reinterpret_cast<const char*>(digest), size};
}

std::string Sha256Digest::FinishHex() { return Hex(Finish()); }

// The text is a polynomial over the prime field, taken at a random point, and then mixed by a
// random line (Carter and Wegman 1979): two texts rarely meet, whatever they are.
uint64_t KeyedHash(std::string_view text) {
  static const uint64_t point = RandomKey();
  static const uint64_t slope = RandomKey();
  static const uint64_t offset = RandomKey();
  uint64_t value = text.size() + 1;
  for (size_t at = 0; at < text.size(); at += kChunkBytes) {
    uint64_t chunk = 0;
    std::memcpy(&chunk, text.data() + at, std::min(kChunkBytes, text.size() - at));
    value = MultiplyModulo(value, point) + chunk;
  }
  return MultiplyModulo(value % kPrime, slope) + offset;
}

}  // namespace caip
