#pragma once
// Where all requests arrive: the one port, the certificates it shows, who is asking, and the access
// log.

#include <cstdint>
#include <latch>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "emulator/app/options.h"
#include "emulator/front/access_log.h"
#include "emulator/front/front_door.h"
#include "fakes/metadata/machine.h"
#include "fakes/metadata/token_mint.h"
#include "http/server.h"
#include "http/transport/certificate_authority.h"

namespace caip::app {

/// Listens before the APIs are there, as they must know the address; requests wait until LetIn.
/// Made and ended by one thread; requests come on any.
class Reception {
 public:
  /// `apis` answers what neither the metadata server nor the token endpoints do; not before LetIn.
  /// `mint` and `wall`, of the access log, outlive it.
  static Result<std::unique_ptr<Reception>> Open(const EmulatorOptions& options,
                                                 const metadata::TokenMint& mint, const Clock& wall,
                                                 http::Handler apis);
  ~Reception();
  Reception(const Reception&) = delete;
  Reception& operator=(const Reception&) = delete;

  /// A port that was asked for is taken or refused; the usual one has neighbours.
  Status Listen(const EmulatorOptions& options);
  void LetIn();
  /// Requests that wait for a change go home, and no others are taken. May be called again.
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
  Reception() = default;
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
