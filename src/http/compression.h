#pragma once
// gzip both ways, wrapped once around all handlers.

#include "http/message.h"

namespace caip::http {

/// Hands `next` a body without its `Content-Encoding: gzip` (streamed, so of any size; broken gzip
/// is an error of the body), and packs answers that are text, larger than a packet and complete in
/// `body` when the client says `Accept-Encoding: gzip`. Streamed answers pass as they are.
Handler WithCompression(Handler next);

/// The bytes as one gzip member.
std::string Gzip(std::string_view bytes);

}  // namespace caip::http
