#pragma once
// Hashes, HMACs and RSA signatures by OpenSSL.

#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/result.h"

namespace caip::gcs {

/// These functions return raw bytes.
std::string HmacSha256(std::string_view key, std::string_view bytes);
std::string HmacSha1(std::string_view key, std::string_view bytes);

/// Converts lower-case hex to bytes; nullopt for anything else.
std::optional<std::string> FromHex(std::string_view text);

/// Compares in constant time.
bool SameSecret(std::string_view a, std::string_view b);

/// Extracts the RSA public key of a private key, a public key or a certificate, as PEM.
/// kInvalidArgument if there is none.
Result<std::string> PublicKeyOf(const std::string& pem);
/// RSASSA-PKCS1-v1_5 with SHA-256.
Result<std::string> RsaSign(const std::string& private_pem, std::string_view bytes);
bool RsaVerifies(const std::string& public_pem, std::string_view bytes, std::string_view signature);

}  // namespace caip::gcs
