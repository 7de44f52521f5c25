#pragma once
// An HTTP server: version 1.1 on Boost.Beast, version 2 on nghttp2. Each connection has its own
// thread, and so has each request over HTTP/2, so handlers may block.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "http/message.h"
#include "http/transport/tls.h"

namespace caip::http {

/// Settings for "CONNECT name:443" with a name that the server does not serve.
struct RelayOptions {
  bool enabled = false;  // false: 403
  std::vector<uint16_t> ports = {443};
  bool to_this_machine = false;  // also relays to loopback and link-local addresses, for tests
  int idle_seconds = 600;
  std::string upstream = {};         // "http://user:password@host:port": the proxy to use
  std::string upstream_exempt = {};  // "localhost,.corp.example": hosts to reach directly
};

/// The clients that are served. The server's own user and root always are. Others get 403: a
/// loopback port is open to all users of a host.
struct Admission {
  bool anyone = false;
  std::vector<uint32_t> users = {};  // further users of this host, by number
  /// Whether a token (credentials.h) admits its bearer, who may be any user and on any host. Empty:
  /// no token does. Any thread.
  std::function<bool(std::string_view token)> is_token_valid = {};
  /// True for requests of clients that send credentials only after a 401 that asks for them, such
  /// as docker. They get it instead of a 403. Any thread.
  std::function<bool(const Request&)> wants_challenge = {};
};

/// A client that ended a TLS handshake because it does not trust the server's certificate.
struct CertificateRejection {
  std::string peer;         // "127.0.0.1:51234"
  std::string listener;     // the tag
  std::string server_name;  // that the client asked for; "" none
  std::string alert;        // TLS's name of the reason: "unknown_ca"
  std::string user_agent;   // of the client's CONNECT; "" unknown
};

/// The time at which a client stops waiting, and the answer that it gets then.
struct TimeLimit {
  MonotonicTime at;
  Response answer;
  /// Ends a body that has begun and has trailers. nullptr: such a stream is reset.
  std::shared_ptr<const Headers> trailers = nullptr;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: any free one
  /// Hosts, without port, that are allowed in addition to loopback addresses and localhost.
  std::vector<std::string> allowed_hosts = {};
  /// Public names that this server answers for, also as the https proxy of a client:
  /// "metadata.google.internal", "*.storage.googleapis.com" (any subdomain), "*-ml.googleapis.com".
  std::vector<std::string> served_names = {};
  /// If set, the same port also speaks TLS. The first byte of a connection decides.
  std::shared_ptr<CertificateProvider> tls = nullptr;
  Admission admission = {};
  RelayOptions relay = {};
  /// Beyond it, the server closes the connection that is idle longest, or answers 503. 0: as many
  /// as the limit of open descriptors allows.
  int connections_max = 0;
  /// Requests over HTTP/2 that handlers answer at the same time. Beyond it, the server refuses
  /// streams. 0: as many as the limit of open descriptors allows.
  int http2_requests_max = 0;
  int idle_seconds = 120;  // closes a connection after this silence
  int head_seconds = 20;   // from a request's first byte to the end of its header
  size_t header_bytes_max = 64 << 10;
  /// Called before a request is answered without the handler: refusals, and tunnels that are not
  /// opened ("CONNECT" with the destination as the path). Any thread.
  std::function<void(const Request&, const Response&)> on_own_answer = {};
  /// Renders an answer of the server itself in the form that the client expects. Any thread.
  std::function<Response(const Request&, Response)> render_own_answer = {};
  /// The limit of a request over HTTP/2; nullopt: none. At the limit, the client gets the answer,
  /// and the handler's work is abandoned. Any thread.
  std::function<std::optional<TimeLimit>(const Request&)> time_limit = {};
  /// Called when a client rejects the certificate. Any thread.
  std::function<void(const CertificateRejection&)> on_certificate_rejected = {};
};

/// Serves plain connections, TLS connections, and clients that use it as their https proxy, all
/// with HTTP/1.1, or HTTP/2 if the client begins with it (RFC 9113, section 3). Refuses a foreign
/// Host or Origin (both 403) before it calls the handler, so that a web page cannot reach it by DNS
/// rebinding. Refuses clients that the admission does not name (403), and tokens that are not valid
/// (401; 407 if the server is used as a proxy). A client with a valid token may use any Host,
/// because it is not a web page. If a handler throws, the server answers 500. If a handler leaves
/// more than 64 MiB of the body unread, the server closes the connection.
class Server {
 public:
  /// Starts listening. kAlreadyExists: the port is in use.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Handler handler);
  virtual ~Server() = default;
  virtual uint16_t port() const = 0;
  /// Adds a listener on a free port of `address`. Its requests have `tag` as Request::listener.
  /// kAlreadyExists: the tag already has a listener. Any thread.
  virtual Result<uint16_t> Listen(const std::string& address, const std::string& tag) = 0;
  /// Adds a listener on a socket that already listens, in a network namespace of its own. Admits
  /// all clients that reach it there. A tag may have several of them. Any thread.
  virtual void Adopt(Fd listening, const std::string& tag) = 0;
  /// Closes the listeners of the tag and their connections. Any thread.
  virtual void Unlisten(const std::string& tag) = 0;
  /// Stops accepting, waits at most `grace_ms` for running handlers, closes all connections, and
  /// returns when all threads have ended. A handler that ignores its closed connection delays that.
  virtual void Stop(int grace_ms) = 0;
  /// The number of requests being handled now, and since the start. For the idle shutdown.
  virtual int active_requests() const = 0;
  virtual uint64_t total_requests() const = 0;
};

}  // namespace caip::http
