#include "http/transport/certificates.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <ctime>

#include "http/errors.h"

namespace caip::http {
namespace {

constexpr int kSerialBytes = 16;

std::string OpenSslErrorText() {
  char text[256] = "";
  ::ERR_error_string_n(::ERR_get_error(), text, sizeof text);
  return text;
}

std::string TakeText(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  ::BIO_free(bio);
  return text;
}

bool IsAddress(const std::string& name) {
  in6_addr address;
  return ::inet_pton(AF_INET, name.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

std::string AlternativeNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ",";
    text += (IsAddress(name) ? "IP:" : "DNS:") + name;
  }
  return text;
}

bool SetSerial(X509& certificate) {
  unsigned char bytes[kSerialBytes];
  if (::RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] &= 0x7f;  // positive
  bytes[0] |= 0x40;  // always the same length
  BIGNUM* number = ::BN_bin2bn(bytes, sizeof bytes, nullptr);
  const bool set =
      number != nullptr && ::BN_to_ASN1_INTEGER(number, ::X509_get_serialNumber(&certificate));
  ::BN_free(number);
  return set;
}

bool SetTime(ASN1_TIME* time, Instant instant) {
  return ::ASN1_TIME_set(time, std::chrono::system_clock::to_time_t(
                                   std::chrono::time_point_cast<std::chrono::seconds>(instant)));
}

bool SetName(X509& certificate, const std::string& common_name) {
  X509_NAME* name = ::X509_get_subject_name(&certificate);
  const auto text = reinterpret_cast<const unsigned char*>(common_name.data());
  const int size = static_cast<int>(std::min<size_t>(common_name.size(), 64));  // the field's limit
  return ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, size, -1, 0);
}

bool AddExtension(X509& certificate, X509& issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  ::X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  const bool added = extension != nullptr && ::X509_add_ext(&certificate, extension, -1);
  ::X509_EXTENSION_free(extension);
  return added;
}

using Extensions = std::vector<std::pair<int, std::string>>;

// If `issuer` is nullptr, the certificate signs itself.
Result<CertificatePtr> NewCertificate(EVP_PKEY& key, const CertificateFields& fields, X509* issuer,
                                      EVP_PKEY& issuer_key, const Extensions& extensions) {
  CertificatePtr made(::X509_new());
  bool good = made && ::X509_set_version(made.get(), X509_VERSION_3) && SetSerial(*made) &&
              SetTime(X509_getm_notBefore(made.get()), fields.from) &&
              SetTime(X509_getm_notAfter(made.get()), fields.until) &&
              SetName(*made, fields.common_name) && ::X509_set_pubkey(made.get(), &key);
  if (!good) return errors::NoCertificate(OpenSslErrorText());
  X509& signer = issuer ? *issuer : *made;
  good = ::X509_set_issuer_name(made.get(), ::X509_get_subject_name(&signer));
  for (const auto& [kind, value] : extensions) {
    good = good && AddExtension(*made, signer, kind, value);
  }
  if (!good || ::X509_sign(made.get(), &issuer_key, ::EVP_sha256()) == 0) {
    return errors::NoCertificate(OpenSslErrorText());
  }
  return made;
}

}  // namespace

Result<KeyPtr> NewEcKey() {
  KeyPtr key(EVP_EC_gen("P-256"));
  if (!key) return errors::NoCertificate(OpenSslErrorText());
  return key;
}

Result<CertificatePtr> NewAuthority(EVP_PKEY& key, const CertificateFields& fields) {
  return NewCertificate(key, fields, nullptr, key,
                        {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                         {NID_key_usage, "critical,keyCertSign,cRLSign"},
                         {NID_subject_key_identifier, "hash"}});
}

Result<CertificatePtr> NewServerCertificate(EVP_PKEY& key, const CertificateFields& fields,
                                            X509& issuer, EVP_PKEY& issuer_key) {
  return NewCertificate(key, fields, &issuer, issuer_key,
                        {{NID_basic_constraints, "critical,CA:FALSE"},
                         {NID_key_usage, "critical,digitalSignature"},
                         {NID_ext_key_usage, "serverAuth"},
                         {NID_subject_alt_name, AlternativeNames(fields.names)},
                         {NID_subject_key_identifier, "hash"},
                         {NID_authority_key_identifier, "keyid"}});
}

std::string ToPem(EVP_PKEY& key) {
  BIO* bio = ::BIO_new(::BIO_s_mem());
  ::PEM_write_bio_PKCS8PrivateKey(bio, &key, nullptr, nullptr, 0, nullptr, nullptr);
  return TakeText(bio);
}

std::string ToPem(X509& certificate) {
  BIO* bio = ::BIO_new(::BIO_s_mem());
  ::PEM_write_bio_X509(bio, &certificate);
  return TakeText(bio);
}

KeyPtr ReadKey(const std::string& pem) {
  BIO* bio = ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  KeyPtr key(::PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr));
  ::BIO_free(bio);
  ::ERR_clear_error();
  return key;
}

CertificatePtr ReadCertificate(const std::string& pem) {
  BIO* bio = ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  CertificatePtr certificate(::PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
  ::BIO_free(bio);
  ::ERR_clear_error();
  return certificate;
}

bool HaveSameKey(X509& certificate, EVP_PKEY& key) {
  const bool fit = ::X509_check_private_key(&certificate, &key) == 1;
  ::ERR_clear_error();
  return fit;
}

Instant ExpiryOf(X509& certificate) {
  std::tm time{};
  ::ASN1_TIME_to_tm(::X509_get0_notAfter(&certificate), &time);
  return Instant(std::chrono::seconds(::timegm(&time)));
}

}  // namespace caip::http
