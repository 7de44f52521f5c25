#pragma once
// Headers with two body lengths, as curl inside TensorFlow sends them. Beast's parser refuses them,
// though RFC 9112 (6.1, 6.3) allows a server to accept them.

#include <span>

namespace caip::http {

/// If `bytes` begin with a complete header (or its rest, from the start of a line), hides fields by
/// giving them unknown names of the same length: "Transfer-Encoding: identity", which means
/// nothing, and Content-Length next to "Transfer-Encoding: chunked", which overrides it. True in
/// the latter case: then the server must close the connection after the response.
bool ResolveFraming(std::span<char> bytes);

}  // namespace caip::http
