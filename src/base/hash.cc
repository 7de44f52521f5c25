#include "base/hash.h"

#include <isa-l/crc64.h>
#include <openssl/md5.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cstring>

#include "base/encoding.h"
#include "base/random.h"

namespace caip {
namespace {

// A Mersenne prime: the remainder needs no division.
constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
constexpr size_t kHmacBlockBytes = 64;
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

// The older functions of OpenSSL: the newer ones load its configuration, tables of all algorithms
// and error texts at the first digest of a process, which takes as long as a short command.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

struct Sha256State {
  static constexpr size_t kBytes = SHA256_DIGEST_LENGTH;
  Sha256State() { SHA256_Init(&context); }
  void Add(std::string_view bytes) { SHA256_Update(&context, bytes.data(), bytes.size()); }
  void Finish(unsigned char* digest) { SHA256_Final(digest, &context); }
  SHA256_CTX context;
};

struct Md5State {
  static constexpr size_t kBytes = MD5_DIGEST_LENGTH;
  Md5State() { MD5_Init(&context); }
  void Add(std::string_view bytes) { MD5_Update(&context, bytes.data(), bytes.size()); }
  void Finish(unsigned char* digest) { MD5_Final(digest, &context); }
  MD5_CTX context;
};

#pragma GCC diagnostic pop

template <typename State>
ContentDigest<State>::ContentDigest() : state_(std::make_unique<State>()) {}
template <typename State>
ContentDigest<State>::~ContentDigest() = default;
template <typename State>
ContentDigest<State>::ContentDigest(ContentDigest&&) noexcept = default;
template <typename State>
ContentDigest<State>& ContentDigest<State>::operator=(ContentDigest&&) noexcept = default;

template <typename State>
void ContentDigest<State>::Add(std::string_view bytes) {
  state_->Add(bytes);
}

template <typename State>
std::string ContentDigest<State>::HexSoFar() const {
  State copy = *state_;
  unsigned char digest[State::kBytes];
  copy.Finish(digest);
  return Hex({reinterpret_cast<const char*>(digest), sizeof digest});
}

template <typename State>
std::string ContentDigest<State>::Finish() {
  unsigned char digest[State::kBytes];
  state_->Finish(digest);
  return {reinterpret_cast<const char*>(digest), sizeof digest};
}

template <typename State>
std::string ContentDigest<State>::FinishHex() {
  return Hex(Finish());
}

template class ContentDigest<Sha256State>;
template class ContentDigest<Md5State>;

std::string Sha256(std::string_view bytes) {
  Sha256Digest digest;
  digest.Add(bytes);
  return digest.Finish();
}

std::string Sha256Hex(std::string_view bytes) { return Hex(Sha256(bytes)); }

std::string HmacSha256(std::string_view key, std::string_view bytes) {
  std::string block(key.size() > kHmacBlockBytes ? Sha256(key) : std::string(key));
  block.resize(kHmacBlockBytes);
  const auto digest = [&block](char pad, std::string_view message) {
    std::string padded = block;
    for (char& c : padded) c = static_cast<char>(c ^ pad);
    Sha256Digest hash;
    hash.Add(padded);
    hash.Add(message);
    return hash.Finish();
  };
  return digest(0x5c, digest(0x36, bytes));
}

std::string Md5(std::string_view bytes) {
  Md5Digest digest;
  digest.Add(bytes);
  return digest.Finish();
}

// The text is a polynomial over the prime field, taken at a random point, and then mixed by a
// random line (Carter and Wegman 1979): two texts rarely meet, whatever they are.
uint64_t Crc64(std::string_view bytes, uint64_t before) {
  return crc64_ecma_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()),
                         bytes.size());
}

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
