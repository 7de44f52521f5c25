#pragma once
// What a TLS listener needs to show for itself.

#include <string>

#include "base/result.h"

namespace caip::http {

/// A certificate (with those that lead to its root behind it) and its private key, all PEM.
struct ServerCertificate {
  std::string chain;
  std::string key;
};

/// Finds the certificate for the name that a client asks for. Any thread.
class CertificateProvider {
 public:
  virtual ~CertificateProvider() = default;
  /// `server_name`: lower case; "" when the client names none or one that is not served.
  virtual Result<ServerCertificate> CertificateFor(const std::string& server_name) = 0;
};

}  // namespace caip::http
