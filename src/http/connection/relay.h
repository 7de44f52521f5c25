#pragma once
// Forwards tunnels of clients that use the server as their https proxy. Private to src/http.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/transport/socket.h"

struct sockaddr;

namespace caip::http {

/// The host and port that a CONNECT names.
struct Destination {
  std::string host;  // lower case, an IPv6 address without brackets
  uint16_t port;
};
/// Reads "name:443" or "[::1]:443"; nullopt if the text is neither.
std::optional<Destination> ParseDestination(std::string_view text);

/// Whether an address belongs to another machine: not loopback, link-local, multicast or
/// unspecified, nor such an address mapped to IPv6. A client must not reach services that trust
/// this machine.
bool IsOtherMachine(const sockaddr& address);

/// Forwards bytes in both directions until both sides have ended, nothing arrives for `idle`, or
/// the descriptor `stop` is readable. Sends `from_client` and `from_server` first.
void Relay(Socket& client, std::string_view from_client, Socket& server,
           std::string_view from_server, std::chrono::seconds idle, int stop);

}  // namespace caip::http
