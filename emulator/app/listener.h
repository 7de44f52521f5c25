#pragma once
// The listener for all requests: the port, its certificates, the identity of callers and the access
// log.

#include <cstdint>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "emulator/app/client_tokens.h"
#include "emulator/app/settings/options.h"
#include "emulator/front/access_log.h"
#include "emulator/front/http_front_end.h"
#include "emulator/front/trust_warnings.h"
#include "fakes/metadata/machine.h"
#include "fakes/metadata/token_mint.h"
#include "http/server.h"
#include "http/transport/certificate_authority.h"

namespace caip::app {

/// The listener opens its port before the APIs exist, because they need its address. Requests wait
/// until StartAnswering. One thread makes and destroys the listener. Requests arrive on any thread.
class Listener {
 public:
  /// `apis` answers all requests except those for the metadata server and the token endpoints,
  /// after StartAnswering. `mint`, and `wall`, the time of the access log, outlive the listener.
  static Result<std::unique_ptr<Listener>> Open(const EmulatorOptions& options,
                                                const metadata::TokenMint& mint, const Clock& wall,
                                                http::Handler apis);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Writes warnings to the logs of jobs whose programs reject the certificates. Call it before
  /// Listen. `log` and `clock` outlive the listener.
  void WarnAboutTrust(engine::LogSink& log, const Clock& clock);
  /// Listens at the port of the options, or fails. If the options name no port, tries the ports of
  /// PortsToTry.
  Status Listen(const EmulatorOptions& options);
  void StartAnswering();
  /// Ends the requests that wait for a change, and stops the server. It may be called again.
  void Close();

  http::Server& server() { return *server_; }
  metadata::MachineTable& machines() { return *machines_; }
  /// A file with the certificate authorities of the host and of the emulator.
  Path bundle_file() const { return authority_->bundle_file(); }
  /// "http://127.0.0.1:PORT".
  const std::string& base_url() const { return base_url_; }
  /// Tokens for clients that the kernel does not know.
  const ClientTokens& tokens() const { return *tokens_; }
  /// A note for the user if the port is not the default one; else "".
  const std::string& port_note() const { return port_note_; }

 private:
  Listener() = default;
  Result<std::unique_ptr<http::Server>> ServeAt(const EmulatorOptions& options, uint16_t port);

  std::optional<ClientTokens> tokens_;
  std::shared_ptr<http::CertificateAuthority> authority_;
  std::unique_ptr<metadata::MachineTable> machines_;
  std::unique_ptr<front::AccessLog> access_log_;
  std::unique_ptr<front::HttpFrontEnd> front_end_;
  std::unique_ptr<front::TrustWarnings> trust_warnings_;
  std::latch ready_{1};
  std::unique_ptr<http::Server> server_;
  std::string base_url_;
  std::string port_note_;
};

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Opens the local certificate authority in <state>/ca. `wall` is real time, because clients
/// compare the dates of certificates with their own clocks. `own`, the environment, may name the
/// certificate authorities of this host (SSL_CERT_FILE).
Result<std::shared_ptr<http::CertificateAuthority>> OpenAuthority(const Path& state,
                                                                  const Clock& wall,
                                                                  const Variables& own);

/// Plain HTTP, TLS and an HTTPS proxy on one port. `own`, the environment, may name the host's
/// proxy.
http::ServerOptions ServingOptions(const EmulatorOptions& options, uint16_t port,
                                   std::shared_ptr<http::CertificateProvider> certificates,
                                   const Variables& own);

/// The served names for a hosts file. They include each region's name. They exclude the names of
/// buckets and of the metadata server.
std::vector<std::string> NamesOfHostsFile();

/// "http://[::1]:2247": where clients of this host find a server that listens on the address.
std::string BaseUrlAt(const std::string& address, uint16_t port);

/// The hosts that this host reaches without a proxy (no_proxy), except entries that match Google's
/// names.
std::vector<std::string> DirectHosts(const Variables& own);

/// Adds gzip in both directions to the JSON APIs. Bodies of the XML API stay unchanged.
http::Handler WithEncodings(http::Handler next);

inline constexpr uint16_t kUsualPort = 2247;  // "CAIP" on a telephone

/// The ports to try, in this order: the last port of this state directory, 2247, the ports after
/// it, and 0 for any free port.
std::vector<uint16_t> PortsToTry(const Path& state);

/// A note for users who expect the emulator at the port `usual`.
std::string PortNote(uint16_t usual, uint16_t port);

/// Stores the port, so that environment variables of open shells stay valid.
Status RememberPort(const Path& state, uint16_t port);

}  // namespace caip::app
