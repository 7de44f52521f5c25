#pragma once
// Decides which requests of one connection are served. Private to src/http.

#include <sys/types.h>

#include <optional>

#include "http/connection/connection.h"
#include "http/credentials.h"
#include "http/message.h"
#include "http/transport/socket.h"

namespace caip::http {

/// Knows the user of a connection's other end, and checks each of its requests. One thread.
class RequestCheck {
 public:
  RequestCheck(const Socket& socket, const Origin& origin, ConnectionContext& context);

  /// The answer to a request that is not served, or to a browser's preflight; nullopt if a handler
  /// may have the request. `whole_url`: the request line had a host. Sets Request::userinfo.
  std::optional<Response> Refuse(Request& request, bool whole_url) const;
  /// Whether all requests are admitted, whatever token they show.
  bool is_admitted() const { return is_admitted_; }
  /// Admits all further requests if the token is valid.
  void AdmitBearer(const Credentials& shown);
  /// The refusal of a client that is not admitted.
  Response NotAdmitted(const Credentials& shown) const;

 private:
  bool IsTokenValid(const Credentials& shown) const;

  const ServerOptions& options_;
  std::optional<uid_t> user_;  // of the client; nullopt: not known, or not needed
  bool is_admitted_ = false;
};

}  // namespace caip::http
