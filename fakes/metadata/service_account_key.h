#pragma once
// The key with which the emulator's service accounts sign: identity tokens, signed URLs,
// assertions. One for all accounts of a state directory, kept in <state>/keys.

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"

namespace caip::metadata {

/// An RSA pair and its self-signed certificate. Immutable: any thread may sign.
class ServiceAccountKey {
 public:
  /// Reads <directory>/service-account.pem; makes it (and the directory) where there is none. Of
  /// two processes that make it at the same time both get the same one. A key without a certificate
  /// gets one. kDataLoss when the file holds something else.
  static Result<ServiceAccountKey> Open(const Path& directory, Instant now);

  /// SHA-256 with RSA, PKCS #1 v1.5: "RS256" of JWTs, GOOG4-RSA-SHA256 of signed URLs.
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
