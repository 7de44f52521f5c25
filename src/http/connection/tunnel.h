#pragma once
// Tunnels of clients that use the server as their https proxy: the destination, the proxy that this
// machine must use itself, and forwarding. Private to src/http.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/server.h"
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

/// True if an address belongs to another machine: not loopback, link-local, multicast, unspecified
/// or of an interface of this machine, nor such an address mapped to IPv6. A client must not reach
/// services that trust this machine.
bool IsOtherMachine(const sockaddr& address);

/// Forwards bytes in both directions until both sides have ended, nothing arrives for `idle`, or
/// the descriptor `stop` is readable. Sends `from_client` and `from_server` first.
void Relay(Socket& client, std::string_view from_client, Socket& server,
           std::string_view from_server, std::chrono::seconds idle, int stop);

/// The address of a proxy and its credentials.
struct ProxyAddress {
  std::string host;
  std::string port;
  std::string authorization;  // value of Proxy-Authorization; "": none
};
/// Reads "http://user:password@host:3128" or "host:3128". nullopt: malformed, or a proxy over TLS.
std::optional<ProxyAddress> ParseProxyAddress(std::string_view url);

/// True if `no_proxy` ("localhost,.corp.example,10.0.0.1", "*") exempts the host.
bool IsProxyExempt(std::string_view host, std::string_view no_proxy);

/// True if a host is written as an address or a name of this machine or its link. Does not resolve
/// names.
bool NamesThisMachine(const std::string& host);

/// Connects to the destination, directly or through the machine's proxy. Stores in `already` the
/// bytes that the destination has sent.
Result<Socket> ConnectToDestination(const RelayOptions& options, const Destination& to,
                                    std::chrono::milliseconds limit, std::string& already);

}  // namespace caip::http
