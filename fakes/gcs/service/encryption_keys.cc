#include "fakes/gcs/service/encryption_keys.h"

#include <openssl/sha.h>

#include "base/encoding.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

constexpr size_t kKeyBytes = 32;

std::string Sha256(const std::string& bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return {reinterpret_cast<const char*>(digest), sizeof digest};
}

}  // namespace

Result<std::string> KeyShown(const http::Request& request, const char* prefix) {
  const auto header = [&](const char* name) {
    return std::string(request.headers.Get(std::string(prefix) + name));
  };
  const std::string algorithm = header("algorithm");
  const std::string key = header("key");
  const std::string sum = header("key-sha256");
  if (algorithm.empty() && key.empty() && sum.empty()) return std::string();
  if (algorithm != "AES256") return errors::KeyInvalid("the algorithm must be AES256");
  const auto bytes = FromBase64(key);
  if (!bytes || bytes->size() != kKeyBytes) {
    return errors::KeyInvalid("it must be 32 bytes in base64");
  }
  const std::string computed = Base64(Sha256(*bytes));
  if (!sum.empty() && sum != computed) return errors::KeyInvalid("it is not what its SHA-256 says");
  return computed;
}

Status CheckKey(const ObjectInfo& info, const std::string& shown_sha256) {
  const std::string object = info.bucket + "/" + info.name;
  if (info.customer_key_sha256 == shown_sha256) return Ok{};
  if (info.customer_key_sha256.empty()) {
    return errors::KeyInvalid("object '" + object + "' is not encrypted by such a key");
  }
  return shown_sha256.empty() ? errors::KeyNeeded(object) : errors::KeyWrong(object);
}

}  // namespace caip::gcs
