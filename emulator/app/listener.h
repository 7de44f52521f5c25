#pragma once
// The listener of all requests: the one port, its certificates, the identity of callers and the
// access log.

#include <cstdint>
#include <latch>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "emulator/app/settings/options.h"
#include "emulator/front/access_log.h"
#include "emulator/front/front_door.h"
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
  std::unique_ptr<front::FrontDoor> door_;
  std::latch ready_{1};
  std::unique_ptr<http::Server> server_;
  std::string base_url_;
  std::string port_note_;
};

}  // namespace caip::app
