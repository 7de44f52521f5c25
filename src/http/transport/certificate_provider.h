#pragma once
// The source of certificates for a TLS listener.

#include <string>

#include "base/result.h"

namespace caip::http {

/// A certificate, followed by those that lead to its root, and its private key. All PEM.
struct ServerCertificate {
  std::string chain;
  std::string key;
};

/// Supplies the certificate for the name that a client asks for. Any thread.
class CertificateProvider {
 public:
  virtual ~CertificateProvider() = default;
  /// `server_name` is in lower case; "" if the client names none, or one that is not served.
  virtual Result<ServerCertificate> CertificateFor(const std::string& server_name) = 0;
};

}  // namespace caip::http
