#include "base/hash.h"

#include <openssl/evp.h>

#include "base/encoding.h"

namespace caip {

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

}  // namespace caip
