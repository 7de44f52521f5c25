#pragma once
// Compression with gzip in both directions, which wraps all handlers once.

#include <optional>
#include <string_view>

#include "http/message.h"

namespace caip::http {

/// Decompresses request bodies with `Content-Encoding: gzip` for `next`, as a stream of any size;
/// broken gzip is an error of the body. Leaves a body unchanged if `keeps` holds for the request.
/// Compresses responses that are text, larger than a packet and complete in `body`, if the client
/// sends `Accept-Encoding: gzip`. Never compresses responses that represent stored bytes: streams,
/// files, parts (Content-Range), and those with an ETag, an encoding or "no-transform".
Handler WithCompression(Handler next, std::function<bool(const Request&)> keeps = nullptr);

/// Whether an Accept-Encoding header accepts the coding (in lower case); nullopt if the header does
/// not name it. A weight of zero refuses it: "gzip;q=0.0" (RFC 9110, section 12.5.3).
std::optional<bool> AcceptsCoding(std::string_view header, std::string_view coding);

/// Compresses the bytes into one gzip member.
std::string Gzip(std::string_view bytes);

}  // namespace caip::http
