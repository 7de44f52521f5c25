#pragma once
// The ends of TCP connections: connecting, listening, and who is there.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "http/transport/socket.h"

struct sockaddr;

namespace caip::http {

/// Connects to host and port; kUnavailable with the resolver's or the system's words. Addresses
/// that `allowed` does not like are passed over; kPermissionDenied when none is left.
Result<Socket> ConnectTo(const std::string& host, const std::string& port,
                         std::chrono::milliseconds limit,
                         const std::function<bool(const sockaddr&)>& allowed = nullptr);

/// Listens; `port` 0 picks one, read it back with LocalPort.
Result<Fd> ListenOn(const std::string& address, uint16_t port);
uint16_t LocalPort(int fd);
/// "127.0.0.1:51234" of the other end, "" where it is gone.
std::string PeerOf(int fd);

}  // namespace caip::http
