#include "http/connection/upstream_proxy.h"

#include <netdb.h>
#include <sys/socket.h>

#include "base/encoding.h"
#include "base/text.h"
#include "http/errors.h"
#include "http/transport/endpoint.h"

namespace caip::http {
namespace {

constexpr size_t kReplyBytesMax = 64 << 10;

std::string Authority(const Destination& to) {
  const bool six = to.host.find(':') != std::string::npos;
  return (six ? "[" + to.host + "]" : to.host) + ":" + std::to_string(to.port);
}

// "HTTP/1.1 200 Connection established" -> true.
bool IsSuccess(std::string_view head) {
  return head.starts_with("HTTP/1.") && head.size() > 9 && head[9] == '2';
}

Result<Socket> ConnectThrough(const ProxyAddress& proxy, const Destination& to,
                              std::chrono::milliseconds limit, std::string& already) {
  const std::string place = proxy.host + ":" + proxy.port;
  ASSIGN_OR_RETURN(Socket socket, ConnectTo(proxy.host, proxy.port, limit));
  std::string ask = "CONNECT " + Authority(to) + " HTTP/1.1\r\nHost: " + Authority(to) + "\r\n";
  if (!proxy.authorization.empty()) ask += "Proxy-Authorization: " + proxy.authorization + "\r\n";
  socket.SetDeadline(std::chrono::steady_clock::now() + limit);
  if (socket.Send(ask + "\r\n") != Flow::kData) return errors::CannotReach(place, "it hung up");
  std::string reply;
  size_t end;
  while ((end = reply.find("\r\n\r\n")) == std::string::npos && reply.size() < kReplyBytesMax) {
    char buffer[4096];
    const Received received = socket.Receive(buffer, sizeof buffer);
    if (received.flow != Flow::kData) {
      return errors::CannotReach(place, "the proxy did not answer CONNECT");
    }
    reply.append(buffer, received.count);
  }
  if (end == std::string::npos || !IsSuccess(reply)) {
    const std::string line = reply.substr(0, reply.find('\r'));
    return errors::CannotReach(Authority(to), "the proxy " + place + " says: " + line);
  }
  already = reply.substr(end + 4);
  socket.SetDeadline(std::nullopt);
  return socket;
}

}  // namespace

std::optional<ProxyAddress> ParseProxyAddress(std::string_view url) {
  if (const size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    if (LowerCase(url.substr(0, scheme)) != "http") return std::nullopt;
    url.remove_prefix(scheme + 3);
  }
  url = url.substr(0, url.find('/'));
  ProxyAddress proxy;
  if (const size_t at = url.rfind('@'); at != std::string_view::npos) {
    const auto user = PercentDecoded(url.substr(0, at));
    if (user) proxy.authorization = "Basic " + Base64(*user);
    url.remove_prefix(at + 1);
  }
  const std::string with_port =
      url.rfind(':') == std::string_view::npos ? std::string(url) + ":80" : std::string(url);
  const auto place = ParseDestination(with_port);
  if (!place) return std::nullopt;
  proxy.host = place->host;
  proxy.port = std::to_string(place->port);
  return proxy;
}

bool IsExempt(std::string_view host, std::string_view no_proxy) {
  const std::string name = LowerCase(host);
  for (const std::string& item : Split(LowerCase(no_proxy), ',')) {
    std::string_view pattern = Trim(item);
    if (pattern == "*") return true;
    while (pattern.starts_with('.') || pattern.starts_with('*')) pattern.remove_prefix(1);
    if (pattern.empty()) continue;
    if (name == pattern || name.ends_with("." + std::string(pattern))) return true;
  }
  return false;
}

bool IsThisMachineByName(const std::string& host) {
  std::string name = LowerCase(host);
  while (name.ends_with('.')) name.pop_back();
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return false;
  const bool here = !IsElsewhere(*found->ai_addr);
  ::freeaddrinfo(found);
  return here;
}

Result<Socket> ReachFromHere(const RelayOptions& options, const Destination& to,
                             std::chrono::milliseconds limit, std::string& already) {
  if (!options.to_this_machine && IsThisMachineByName(to.host)) {
    return errors::AddressForbidden(to.host);
  }
  const auto proxy = ParseProxyAddress(options.upstream);
  if (!options.upstream.empty() && !IsExempt(to.host, options.upstream_exempt)) {
    if (!proxy) return errors::BaseInvalid(options.upstream);
    return ConnectThrough(*proxy, to, limit, already);
  }
  std::function<bool(const sockaddr&)> allowed = IsElsewhere;
  if (options.to_this_machine) allowed = nullptr;
  return ConnectTo(to.host, std::to_string(to.port), limit, allowed);
}

}  // namespace caip::http
