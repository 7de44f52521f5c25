#pragma once
// Bytes on a connected, blocking TCP descriptor. Private to src/http: Socket and TLS stand on it.

#include <chrono>
#include <optional>
#include <string_view>

#include "http/transport/socket.h"

namespace caip::http {

/// kSilent past the descriptor's own silence limit or past the deadline.
Received ReceiveOn(int fd, char* buffer, size_t size, const Deadline& deadline);
/// Sends both, one behind the other, or says why not. Never raises SIGPIPE.
Flow SendOn(int fd, std::string_view first, std::string_view second = {});
/// Sends `head` and a part of a file without copying it.
Flow SendFileOn(int fd, std::string_view head, int file, uint64_t offset, uint64_t length);

}  // namespace caip::http
