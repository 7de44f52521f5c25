#pragma once
// The https proxy that this machine itself must use to reach the world. Private to src/http.

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "http/connection/relay.h"
#include "http/server.h"
#include "http/transport/socket.h"

namespace caip::http {

/// Where a proxy is and how it is greeted.
struct ProxyAddress {
  std::string host;
  std::string port;
  std::string authorization;  // value of Proxy-Authorization, "" none
};
/// "http://user:password@host:3128", "host:3128". nullopt: none, or one spoken to over TLS.
std::optional<ProxyAddress> ParseProxyAddress(std::string_view url);

/// Whether `no_proxy` ("localhost,.corp.example,10.0.0.1", "*") takes the host out.
bool IsExempt(std::string_view host, std::string_view no_proxy);

/// Whether a host is written as an address, or a name, of this machine or its link. Nothing is
/// looked up.
bool IsThisMachineByName(const std::string& host);

/// A connection to the destination, direct or through the machine's proxy. `already` gets what the
/// destination has said meanwhile.
Result<Socket> ReachFromHere(const RelayOptions& options, const Destination& to,
                             std::chrono::milliseconds limit, std::string& already);

}  // namespace caip::http
