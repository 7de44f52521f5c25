#include "fakes/gcs/signing/digest.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <memory>

#include "base/encoding.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Memory = std::unique_ptr<BIO, Freed<BIO_free>>;
using Context = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string Hmac(const EVP_MD* digest, std::string_view key, std::string_view bytes) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  ::HMAC(digest, key.data(), static_cast<int>(key.size()), Bytes(bytes), bytes.size(), out, &size);
  return {reinterpret_cast<const char*>(out), size};
}

Memory MemoryOf(std::string_view text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// A callback for OpenSSL that never asks for a passphrase.
int NoPassphrase(char*, int, int, void*) { return -1; }

Key PrivateKey(const std::string& pem) {
  return Key(PEM_read_bio_PrivateKey(MemoryOf(pem).get(), nullptr, NoPassphrase, nullptr));
}

Key PublicKey(const std::string& pem) {
  Key key(PEM_read_bio_PUBKEY(MemoryOf(pem).get(), nullptr, NoPassphrase, nullptr));
  if (key) return key;
  const Certificate certificate(
      PEM_read_bio_X509(MemoryOf(pem).get(), nullptr, NoPassphrase, nullptr));
  if (certificate) return Key(X509_get_pubkey(certificate.get()));
  return PrivateKey(pem);
}

std::string TextOf(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return {data, static_cast<size_t>(size)};
}

}  // namespace

std::string HmacSha256(std::string_view key, std::string_view bytes) {
  return Hmac(EVP_sha256(), key, bytes);
}

std::string HmacSha1(std::string_view key, std::string_view bytes) {
  return Hmac(EVP_sha1(), key, bytes);
}

std::optional<std::string> FromHex(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

bool SameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> PublicKeyOf(const std::string& pem) {
  const Key key = PublicKey(pem);
  if (!key || EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA) {
    return errors::PublicKeyInvalid();
  }
  const Memory memory(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PUBKEY(memory.get(), key.get()) != 1) return errors::RsaFailed("write");
  return TextOf(memory.get());
}

Result<std::string> RsaSign(const std::string& private_pem, std::string_view bytes) {
  const Key key = PrivateKey(private_pem);
  const Context context(EVP_MD_CTX_new());
  size_t size = 0;
  if (!key || EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, Bytes(bytes), bytes.size()) != 1) {
    return errors::RsaFailed("sign with");
  }
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     Bytes(bytes), bytes.size()) != 1) {
    return errors::RsaFailed("sign with");
  }
  signature.resize(size);
  return signature;
}

bool RsaVerifies(const std::string& public_pem, std::string_view bytes,
                 std::string_view signature) {
  const Key key = PublicKey(public_pem);
  const Context context(EVP_MD_CTX_new());
  return key &&
         EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(bytes),
                          bytes.size()) == 1;
}

}  // namespace caip::gcs
