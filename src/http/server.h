#pragma once
// An HTTP/1.1 server on Boost.Beast: one blocking thread a connection, so handlers may block.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "http/message.h"
#include "http/transport/certificate_provider.h"

namespace caip::http {

/// What becomes of "CONNECT name:443" for names that are not served here.
struct RelayOptions {
  bool enabled = false;  // false: 403
  std::vector<uint16_t> ports = {443};
  bool to_this_machine = false;  // loopback and link-local addresses; tests need it
  int idle_seconds = 600;
  std::string upstream = {};         // "http://user:password@host:port": a proxy to go through
  std::string upstream_exempt = {};  // "localhost,.corp.example": hosts to reach without it
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: any free one
  std::vector<std::string> allowed_hosts =
      {};  // beyond loopback literals and localhost; without port
  /// Names of the world that are answered here, also to clients that take us for their proxy:
  /// "metadata.google.internal", "*.storage.googleapis.com" (any subdomain), "*-ml.googleapis.com".
  std::vector<std::string> served_names = {};
  /// The same port speaks TLS, too, where this is set: the first byte of a connection tells.
  std::shared_ptr<CertificateProvider> tls = nullptr;
  RelayOptions relay = {};
  int connections_max = 512;  // then the one that would be missed least is closed
  int idle_seconds = 120;     // a silent connection is closed after so long
  int head_seconds = 20;      // from a request's first byte to the end of its header
  size_t header_bytes_max = 64 << 10;
};

/// Serves plain connections, TLS, and those of clients that take it for their https proxy.
/// Refuses a foreign Host or Origin (both 403) before the handler sees anything: a page on the web
/// must not reach us by DNS rebinding. A handler that throws answers 500; one that leaves the
/// request's body unread costs at most 64 MiB of reading, then the connection.
class Server {
 public:
  /// Listens at once. Error: kAlreadyExists when the port is taken, with the address in the text.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Handler handler);
  virtual ~Server() = default;
  virtual uint16_t port() const = 0;
  /// One more door to the same handler: a free port of 127.0.0.1 whose requests bear `tag` as
  /// Request::listener. Error: kAlreadyExists for a tag that has one. Any thread.
  virtual Result<uint16_t> Listen(const std::string& tag) = 0;
  /// As many doors as wanted, at sockets that listen already, wherever that is (a socket stays in
  /// the network namespace it was made in). Their tag may be one that has doors. Any thread.
  virtual void Adopt(Fd listening, const std::string& tag) = 0;
  /// Closes the doors of that tag and ends the connections that came through them. Any thread.
  virtual void Unlisten(const std::string& tag) = 0;
  /// Stops accepting, lets running handlers end for at most `grace_ms`, closes everything, and
  /// returns when no thread is left. A handler that ignores its closed connection delays that.
  virtual void Stop(int grace_ms) = 0;
  /// Requests being handled now and since the start: for idle shutdown.
  virtual int active_requests() const = 0;
  virtual uint64_t total_requests() const = 0;
};

}  // namespace caip::http
