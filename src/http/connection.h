#pragma once
// One connection of the server, from its first request to its last. Private to src/http.

#include <atomic>
#include <cstdint>
#include <string>

#include "http/message.h"
#include "http/server.h"
#include "http/socket.h"

namespace caip::http {

/// Where a connection came from.
struct Origin {
  std::string peer;      // "127.0.0.1:51234"
  std::string listener;  // the tag
};

/// What all connections of a server share. Owned by the server, outlives its threads.
struct ConnectionContext {
  ServerOptions options;
  Handler handler;
  uint16_t port = 0;
  std::atomic<bool> stopping{false};
  std::atomic<int> active_requests{0};
  std::atomic<uint64_t> total_requests{0};
};

/// Serves requests until either side ends it. `busy` is true while a request is being handled.
void ServeConnection(Socket& socket, const Origin& origin, ConnectionContext& context,
                     std::atomic<bool>& busy);

}  // namespace caip::http
