#pragma once
// A local certificate authority, so that the server can answer clients that insist on https. Only
// clients that are configured with its ca.pem trust it. Its key never leaves the directory.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "http/transport/tls.h"

namespace caip::http {

/// Issues certificates for server names on demand. Any thread.
class CertificateAuthority final : public CertificateProvider {
 public:
  static constexpr const char* kBundleName = "bundle.pem";

  /// Opens the authority in `directory`, or creates it: ca.key (0600) and ca.pem, valid for ten
  /// years. Replaces one that is damaged or about to expire. Reads the key only for the first
  /// certificate, because that is slow and most runs need none. bundle.pem holds this authority and
  /// those in `roots` (or the system's, if `roots` is not readable), for clients that read only one
  /// file. A client that names no server gets a certificate for `default_names`, 127.0.0.1, ::1 and
  /// localhost.
  static Result<std::unique_ptr<CertificateAuthority>> Open(Path directory,
                                                            std::vector<std::string> default_names,
                                                            const Clock& clock, Path roots = {});
  ~CertificateAuthority() override;

  Result<ServerCertificate> CertificateFor(const std::string& server_name) override;
  Path certificate_file() const { return directory_ / "ca.pem"; }
  Path bundle_file() const { return directory_ / kBundleName; }

 private:
  struct Keys;
  struct Issued {
    ServerCertificate certificate;
    Instant renewal;
  };
  CertificateAuthority(Path directory, std::vector<std::string> default_names, const Clock& clock,
                       Path roots, std::unique_ptr<Keys> keys);
  Path TrustedFile() const;
  bool IsBundleFresh(const Path& source) const;
  Status WriteBundle() const;
  Status LoadKeys();

  Path directory_;
  Path roots_;
  std::vector<std::string> default_names_;
  const Clock& clock_;
  std::unique_ptr<Keys> keys_;
  std::mutex mutex_;
  std::map<std::string, Issued> issued_;
};

/// The existing files of this host in which programs find the authorities that they trust.
std::vector<std::string> SystemBundles();

}  // namespace caip::http
