#pragma once
// Sends a Response to a socket. Private to src/http.

#include <string>
#include <string_view>

#include "http/message.h"
#include "http/transport/socket.h"

namespace caip::http {

/// The form of a response, which depends on the request.
struct ResponseForm {
  bool head = false;       // no body, the same headers
  bool chunks = true;      // HTTP/1.1: a body of unknown length can be sent in chunks
  bool keep_alive = true;  // false: announce the end of the connection
};

/// Sends a response. False if the connection must be closed: it is lost, the body was shorter than
/// announced, or only closing can mark the end of the body.
bool WriteResponse(Socket& socket, const Response& response, ResponseForm form);

}  // namespace caip::http
