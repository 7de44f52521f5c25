#pragma once
// One HTTP/2 connection of the server (RFC 9113), on nghttp2. Private to src/http.

#include <string>
#include <string_view>

#include "http/connection/activity.h"
#include "http/connection/connection.h"
#include "http/connection/request_check.h"
#include "http/transport/socket.h"

namespace caip::http {

/// The first bytes of a client that speaks HTTP/2 without an agreement of TLS.
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The parts of the server that a connection uses. They outlive it.
struct Http2Surroundings {
  const Origin& origin;
  ConnectionContext& context;
  Activity& activity;
  const RequestCheck& check;
};

/// Serves requests, many at a time, until either side ends the connection. `already` holds the
/// bytes that were received before.
void ServeHttp2(Socket& socket, const std::string& already, const Http2Surroundings& around);

}  // namespace caip::http
