#pragma once
// Being the https proxy of clients that take us for one. Private to src/http.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/transport/socket.h"

struct sockaddr;

namespace caip::http {

/// Where a CONNECT or a request with a whole URL as its target wants to go.
struct Destination {
  std::string host;  // lower case, an IPv6 address without brackets
  uint16_t port;
};
/// "name:443", "[::1]:443"; nullopt where it is none.
std::optional<Destination> ParseDestination(std::string_view text);

/// Whether an address is some other machine's: not loopback, link-local, multicast or nobody's,
/// in whatever guise. A stranger's request must not reach what trusts this machine.
bool IsElsewhere(const sockaddr& address);

/// Passes bytes both ways until both sides have ended, nothing came for `idle`, or the descriptor
/// `stop` is readable. What each side has sent already goes out first.
void Relay(Socket& client, std::string_view from_client, Socket& server,
           std::string_view from_server, std::chrono::seconds idle, int stop);

}  // namespace caip::http
