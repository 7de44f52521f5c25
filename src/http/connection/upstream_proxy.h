#pragma once
// The https proxy that this machine must use to reach other networks. Private to src/http.

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "http/connection/relay.h"
#include "http/server.h"
#include "http/transport/socket.h"

namespace caip::http {

/// The address of a proxy and its credentials.
struct ProxyAddress {
  std::string host;
  std::string port;
  std::string authorization;  // value of Proxy-Authorization, "" none
};
/// Reads "http://user:password@host:3128" or "host:3128". nullopt: malformed, or a proxy over TLS.
std::optional<ProxyAddress> ParseProxyAddress(std::string_view url);

/// Whether `no_proxy` ("localhost,.corp.example,10.0.0.1", "*") exempts the host.
bool IsProxyExempt(std::string_view host, std::string_view no_proxy);

/// Whether a host is written as an address or a name of this machine or its link. Does not resolve
/// names.
bool NamesThisMachine(const std::string& host);

/// Connects to the destination, directly or through the machine's proxy. Stores in `already` the
/// bytes that the destination has sent.
Result<Socket> ConnectToDestination(const RelayOptions& options, const Destination& to,
                                    std::chrono::milliseconds limit, std::string& already);

}  // namespace caip::http
