#pragma once
// One connection of the server, from its first request to its last. Private to src/http.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "http/connection/activity.h"
#include "http/message.h"
#include "http/server.h"
#include "http/transport/peer_user.h"
#include "http/transport/socket.h"
#include "http/transport/tls.h"

namespace caip::http {

/// The peer and the listener of a connection.
struct Origin {
  std::string peer;       // "127.0.0.1:51234"
  std::string listener;   // the tag
  bool isolated = false;  // the listener is in a network namespace of its own
};

/// The state that all connections of a server share. The server owns it; it outlives all threads.
struct ConnectionContext {
  ServerOptions options;
  Handler handler;
  uint16_t port = 0;
  PeerUsers peer_users;
  std::unique_ptr<TlsServerContext> tls;  // nullptr: plain connections only
  std::atomic<bool> stopping{false};
  Fd stop_event;  // readable once `stopping`
  std::atomic<int> active_requests{0};
  std::atomic<uint64_t> total_requests{0};
  std::atomic<int> http2_requests{0};  // that handlers answer
};

/// Calls the handler. If it throws, the answer is a 500.
Response HandleSafely(const Handler& handler, const Request& request);

/// Answers with a refusal, without reading the request, and ends the connection. Waits a short time
/// for the client to read it.
void RefuseConnection(Socket& socket, const Response& refusal, const std::atomic<bool>& stopping);

/// Ends the sending side and reads until a silence, or for a short time: closing with unread bytes
/// would reset the connection, and the peer could lose the response.
void LingerOn(Socket& socket, const std::atomic<bool>& stopping,
              std::chrono::milliseconds silence = std::chrono::milliseconds(1000));

/// Serves requests until either side ends the connection.
void ServeConnection(Socket& socket, const Origin& origin, ConnectionContext& context,
                     Activity& activity);

}  // namespace caip::http
