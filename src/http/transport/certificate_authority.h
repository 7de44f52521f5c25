#pragma once
// A certificate authority of our own, so that clients that insist on https can be answered here.
// Only who is told to trust its ca.pem does; its key never leaves the directory.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "http/transport/certificate_provider.h"

namespace caip::http {

/// Makes certificates for server names as they are asked for. Any thread.
class CertificateAuthority final : public CertificateProvider {
 public:
  /// Opens the authority that `directory` holds, or makes it: ca.key (0600) and ca.pem, good for
  /// ten years; one that is damaged or about to end is replaced (the key is looked at when the
  /// first certificate is asked for: it takes longer than a job to start, and most need none).
  /// bundle.pem is ours and the authorities in `roots` (else, or where that cannot be read, the
  /// system's), for clients that know only one file of them. `default_names` are in the certificate
  /// of a client that names no server, beside 127.0.0.1, ::1 and localhost.
  static Result<std::unique_ptr<CertificateAuthority>> Open(Path directory,
                                                            std::vector<std::string> default_names,
                                                            const Clock& clock, Path roots = {});
  ~CertificateAuthority() override;

  Result<ServerCertificate> CertificateFor(const std::string& server_name) override;
  Path certificate_file() const { return directory_ / "ca.pem"; }
  Path bundle_file() const { return directory_ / "bundle.pem"; }

 private:
  struct Keys;
  struct Minted {
    ServerCertificate certificate;
    Instant renewal;
  };
  CertificateAuthority(Path directory, std::vector<std::string> default_names, const Clock& clock,
                       Path roots, std::unique_ptr<Keys> keys);
  Path TrustedFile() const;
  bool BundleIsFresh(const Path& source) const;
  Status WriteBundle() const;
  Status LoadKeys();

  Path directory_;
  Path roots_;
  std::vector<std::string> default_names_;
  const Clock& clock_;
  std::unique_ptr<Keys> keys_;
  std::mutex mutex_;
  std::map<std::string, Minted> minted_;
};

}  // namespace caip::http
