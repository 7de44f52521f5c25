#pragma once
// gzip both ways, wrapped once around all handlers.

#include "http/message.h"

namespace caip::http {

/// Hands `next` a body without its `Content-Encoding: gzip` (streamed, so of any size; broken gzip
/// is an error of the body), unless `keeps` says that this request's body is to stay as it came.
/// Packs answers that are text, larger than a packet and complete in `body` when the client says
/// `Accept-Encoding: gzip`. Answers that stand for stored bytes pass as they are: streamed ones,
/// files, parts (Content-Range), what has an ETag or an encoding already, and "no-transform".
Handler WithCompression(Handler next, std::function<bool(const Request&)> keeps = nullptr);

/// Reads what `packed` reads, unpacked. `packed` outlives it.
std::unique_ptr<BodyReader> Gunzipped(BodyReader& packed);

/// The bytes as one gzip member.
std::string Gzip(std::string_view bytes);

}  // namespace caip::http
