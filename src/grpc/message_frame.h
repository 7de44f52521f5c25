#pragma once
// The frame around each message of gRPC: a byte for its compression, and its length
// (gRPC over HTTP2, "Length-Prefixed-Message").

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace caip::grpc {

/// As in gRPC's own servers.
inline constexpr size_t kMessageBytesMax = 4 << 20;

/// Reads the only message of a call, and decompresses it. Errors have the codes that gRPC gives
/// them (statuscodes.md): kUnimplemented for another number of messages and for an unknown
/// compression, kInternal for a broken frame, kResourceExhausted for a message that is too large.
Result<std::string> ReadOnlyMessage(const http::Request& request);

/// Reads the first message in the same way, as soon as it has come.
Result<std::string> ReadFirstMessage(const http::Request& request);

/// The frame of a message without compression.
std::string FrameMessage(std::string_view message);

}  // namespace caip::grpc
