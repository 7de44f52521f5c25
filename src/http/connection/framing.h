#pragma once
// Headers that tell a body's length twice, as curl inside TensorFlow sends them. The parser refuses
// what RFC 9112 (6.1, 6.3) allows a server to understand.

#include <span>

namespace caip::http {

/// Where `bytes` begin with a whole header (or its rest, from the start of a line), gives fields a
/// name of the same length that nobody knows: "Transfer-Encoding: identity", which means nothing,
/// and Content-Length beside "Transfer-Encoding: chunked", which overrides it. True in the latter
/// case: then the connection is to be closed behind the answer.
bool SettleFraming(std::span<char> bytes);

}  // namespace caip::http
