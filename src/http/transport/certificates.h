#pragma once
// Keys and certificates by OpenSSL. Errors are kInternal with OpenSSL's text. Private to src/http.

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace caip::http {

struct X509Deleter {
  void operator()(X509* certificate) const { ::X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, X509Deleter>;
using CertificatePtr = std::unique_ptr<X509, X509Deleter>;

Result<KeyPtr> NewEcKey();

/// The contents of a new certificate. `names` are DNS names, patterns or addresses.
struct CertificateFields {
  std::string common_name;
  std::vector<std::string> names;
  Instant from;
  Instant until;
};
Result<CertificatePtr> NewAuthority(EVP_PKEY& key, const CertificateFields& fields);
Result<CertificatePtr> NewServerCertificate(EVP_PKEY& key, const CertificateFields& fields,
                                            X509& issuer, EVP_PKEY& issuer_key);

std::string ToPem(EVP_PKEY& key);
std::string ToPem(X509& certificate);
/// nullptr if the text is not a key.
KeyPtr ReadKey(const std::string& pem);
CertificatePtr ReadCertificate(const std::string& pem);
bool HaveSameKey(X509& certificate, EVP_PKEY& key);
Instant ExpiryOf(X509& certificate);

}  // namespace caip::http
