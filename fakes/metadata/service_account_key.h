#pragma once
// The key that signs for the emulator's service accounts: identity tokens, signed URLs, assertions.
// All accounts of a state directory share it. It is stored in <state>/keys.

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"

namespace caip::metadata {

/// Writes the complete file, or nothing, and never replaces one. Ok also if the file exists: the
/// first of several processes decides its contents. Only the user may read it.
Status WriteKeyIfAbsent(const Path& file, std::string_view text);

/// An RSA key pair and its self-signed certificate. Immutable; any thread.
class ServiceAccountKey {
 public:
  /// Reads <directory>/service-account.pem, or creates it and the directory. Two processes that
  /// create it at the same time get the same key. Adds a missing certificate. kDataLoss: the file
  /// does not contain a key.
  static Result<ServiceAccountKey> Open(const Path& directory, Instant now);

  /// SHA-256 with RSA, PKCS #1 v1.5: RS256 in JWTs, GOOG4-RSA-SHA256 in signed URLs.
  std::string Sign(std::string_view bytes) const;
  bool Verifies(std::string_view bytes, std::string_view signature) const;

  const std::string& id() const { return id_; }  // 40 hexadecimal digits: "kid", private_key_id
  const std::string& private_key_pem() const { return private_pem_; }  // PKCS #8
  const std::string& certificate_pem() const { return certificate_pem_; }
  std::string Modulus() const;   // big-endian bytes
  std::string Exponent() const;  // big-endian bytes

 private:
  ServiceAccountKey() = default;
  static Result<ServiceAccountKey> Parse(const std::string& pem, const Path& file);
  Status AddCertificate(const Path& file, Instant now);

  std::shared_ptr<EVP_PKEY> key_;
  std::string id_;
  std::string private_pem_;
  std::string certificate_pem_;
};

}  // namespace caip::metadata
