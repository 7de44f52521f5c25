#pragma once
// The listener of all requests: the one port, its certificates, the identity of callers and the
// access log.

#include <cstdint>
#include <latch>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "emulator/app/settings/options.h"
#include "emulator/front/access_log.h"
#include "emulator/front/http_front_end.h"
#include "fakes/metadata/machine.h"
#include "fakes/metadata/token_mint.h"
#include "http/server.h"
#include "http/transport/certificate_authority.h"

namespace caip::app {

/// Listens before the APIs exist, because they need the address; requests wait until
/// StartAnswering. Made and ended by one thread; requests come on any.
class Listener {
 public:
  /// `apis` answers the requests that neither the metadata server nor the token endpoints do, once
  /// StartAnswering was called. `mint` and `wall`, of the access log, outlive the listener.
  static Result<std::unique_ptr<Listener>> Open(const EmulatorOptions& options,
                                                const metadata::TokenMint& mint, const Clock& wall,
                                                http::Handler apis);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// A port that was asked for is taken or refused; the usual one has neighbours.
  Status Listen(const EmulatorOptions& options);
  void StartAnswering();
  /// Ends requests that wait for a change, and accepts no others. May be called again.
  void Close();

  http::Server& server() { return *server_; }
  metadata::MachineTable& guests() { return *guests_; }
  /// The host's certificate authorities and our own.
  Path bundle_file() const { return authority_->bundle_file(); }
  /// "http://127.0.0.1:PORT".
  const std::string& base_url() const { return base_url_; }
  /// What to tell about the port, where it is not the usual one; else "".
  const std::string& port_note() const { return port_note_; }

 private:
  Listener() = default;
  Result<std::unique_ptr<http::Server>> ServeAt(const EmulatorOptions& options, uint16_t port);

  std::shared_ptr<http::CertificateAuthority> authority_;
  std::unique_ptr<metadata::MachineTable> guests_;
  std::unique_ptr<front::AccessLog> access_log_;
  std::unique_ptr<front::HttpFrontEnd> door_;
  std::latch ready_{1};
  std::unique_ptr<http::Server> server_;
  std::string base_url_;
  std::string port_note_;
};

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The local authority in <state>/ca. `wall`: clients compare its dates with their own clocks.
/// `own` may tell whom this machine trusts (SSL_CERT_FILE).
Result<std::shared_ptr<http::CertificateAuthority>> OpenAuthority(const Path& state,
                                                                  const Clock& wall,
                                                                  const Variables& own);

/// Plain http, TLS and an https proxy on one port. `own` tells the machine's own proxy.
http::ServerOptions ServingOptions(const EmulatorOptions& options, uint16_t port,
                                   std::shared_ptr<http::CertificateProvider> certificates,
                                   const Variables& own);

/// The served names as a hosts file has them, the regions' written out, without those of buckets
/// and of the metadata server.
std::vector<std::string> NamesOfHostsFile();

/// What the machine itself reaches without a proxy, less what would let Google's names pass us by.
std::vector<std::string> DirectHosts(const Variables& own);

/// gzip both ways for the JSON APIs. What is uploaded or put into a bucket stays as it came.
http::Handler WithEncodings(http::Handler next);

inline constexpr uint16_t kUsualPort = 2247;  // "CAIP" on a telephone

/// To be tried in this order: where this state directory was served before, 2247, the ports after
/// it, and in the end 0, any free one.
std::vector<uint16_t> PortsToTry(const Path& state);

/// For whoever expects it at `usual`.
std::string PortNote(uint16_t usual, uint16_t port);

/// What was printed for a shell once should go on working.
Status RememberPort(const Path& state, uint16_t port);

}  // namespace caip::app
