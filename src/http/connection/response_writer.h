#pragma once
// Turns a Response into bytes on a socket. Private to src/http.

#include <string>
#include <string_view>

#include "http/message.h"
#include "http/transport/socket.h"

namespace caip::http {

/// How the request wants to be answered.
struct ResponseForm {
  bool head = false;       // no body, the same headers
  bool chunks = true;      // HTTP/1.1: a body of unknown length can be sent in chunks
  bool keep_alive = true;  // false: the answer says that the connection ends
};

/// Sends all of it. False when the connection cannot be used any longer: the peer is gone, the body
/// was shorter than promised, or its end is told by closing.
bool WriteResponse(Socket& socket, const Response& response, ResponseForm form);

}  // namespace caip::http
