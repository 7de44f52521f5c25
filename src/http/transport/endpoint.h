#pragma once
// The ends of TCP connections: connecting, listening, addresses.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "http/transport/socket.h"

struct sockaddr;

namespace caip::http {

/// True for a number from 1 to 65535, in digits. The resolver of the host takes larger numbers,
/// too, and leads to another port.
bool IsPort(std::string_view text);

/// Connects to host and port. kUnavailable, with the message of the resolver or the system, if that
/// fails. Skips addresses that `allowed` rejects; kPermissionDenied if it rejects all.
Result<Socket> ConnectTo(const std::string& host, const std::string& port,
                         std::chrono::milliseconds limit,
                         const std::function<bool(const sockaddr&)>& allowed = nullptr);

/// True for localhost and addresses of 127.0.0.0/8 and ::1. Other names are not resolved.
bool IsLoopback(const std::string& host);

/// True for what ListenOn takes: localhost, and IPv4 and IPv6 addresses.
bool IsAddress(const std::string& text);

/// Listens. Port 0 picks a free one; LocalPort returns it.
Result<Fd> ListenOn(const std::string& address, uint16_t port);
uint16_t LocalPort(int fd);
/// The address of the other end, such as "127.0.0.1:51234"; "" if the connection is lost.
std::string PeerAddress(int fd);

}  // namespace caip::http
