#pragma once
// Hashes: FNV-1a for stored numbers, a keyed one for tables of clients' names, SHA-256 and MD5 for
// contents, CRC-64 for changes of them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace caip {

inline constexpr uint64_t kFnvStart = 14695981039346656037u;
inline constexpr uint64_t kFnvPrime = 1099511628211u;

/// FNV-1a with 64 bits: a fast hash that gives the same number on every host and in every version.
/// Stored and shown values depend on it, so it must never change. It is not cryptographic.
/// Continues `hash` with the bytes of `text`.
constexpr uint64_t Fnv1a(std::string_view text, uint64_t hash = kFnvStart) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return hash;
}

/// The SHA-256 digest of `bytes`: 32 raw bytes.
std::string Sha256(std::string_view bytes);
/// The same digest as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

/// The HMAC of `bytes` with SHA-256 (RFC 2104): 32 raw bytes.
std::string HmacSha256(std::string_view key, std::string_view bytes);
/// The MD5 digest of `bytes`: 16 raw bytes. Cloud Storage names contents by it; it protects
/// nothing.
std::string Md5(std::string_view bytes);

/// Computes a digest of bytes that arrive in pieces. One thread.
template <typename State>
class ContentDigest {
 public:
  ContentDigest();
  ~ContentDigest();
  ContentDigest(ContentDigest&&) noexcept;
  ContentDigest& operator=(ContentDigest&&) noexcept;

  void Add(std::string_view bytes);
  /// The digest of the pieces so far, as hexadecimal digits. More may follow.
  std::string HexSoFar() const;
  /// The digest of all pieces, raw or as hexadecimal digits. No other call may follow.
  std::string Finish();
  std::string FinishHex();

 private:
  std::unique_ptr<State> state_;
};

struct Sha256State;
struct Md5State;
using Sha256Digest = ContentDigest<Sha256State>;
using Md5Digest = ContentDigest<Md5State>;

/// CRC-64 (ECMA-182, reflected) of bytes that follow those with the checksum `before`. It finds
/// changes as fast as memory is read, but not those of somebody who wants to hide them.
uint64_t Crc64(std::string_view bytes, uint64_t before = 0);

/// A client who does not know the random key of this process cannot find many texts with one hash,
/// unlike with std::hash. Do not store it, and let no result depend on it. Any thread.
uint64_t KeyedHash(std::string_view text);

/// For the tables of the standard library.
struct KeyedHasher {
  size_t operator()(std::string_view text) const { return KeyedHash(text); }
};

}  // namespace caip
