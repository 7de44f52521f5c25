#pragma once
// Reads and writes on a connected, blocking TCP descriptor, for Socket and TlsSession. Private to
// src/http.

#include <cstdint>
#include <string_view>

#include "http/transport/socket.h"

namespace caip::http {

/// kSilent: after the descriptor's limit on silence, or after the deadline.
Received ReceiveOn(int fd, char* buffer, size_t size, const Deadline& deadline);
/// Sends `first`, then `second`. Never raises SIGPIPE.
Flow SendOn(int fd, std::string_view first, std::string_view second = {});
/// Sends `head` and a part of a file without copying it.
Flow SendFileOn(int fd, std::string_view head, int file, uint64_t offset, uint64_t length);

}  // namespace caip::http
