#pragma once
// A server for one test, and the requests to ask it with.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "http/server.h"
#include "tests/http/raw_peer.h"

namespace caip::http {

inline Response Text(std::string body) {
  Response response;
  response.headers.Add("Content-Type", "text/plain");
  response.body = std::move(body);
  return response;
}

inline std::string GetRequest(const std::string& path, const std::string& more = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}
inline std::string LastGetRequest(const std::string& path, const std::string& more = "") {
  return GetRequest(path, "Connection: close\r\n" + more);
}

class Served {
 public:
  explicit Served(Handler handler, ServerOptions options = {}) {
    auto started = Server::Start(std::move(options), std::move(handler));
    if (started.ok()) {
      server = std::move(*started);
    } else {
      ADD_FAILURE() << started.error().message;
    }
  }
  Server& operator*() const { return *server; }
  Server* operator->() const { return server.get(); }
  /// Sends bytes that ask for the connection's end, and answers all that came back.
  std::string Ask(const std::string& request, uint16_t port = 0) const {
    RawPeer peer(port != 0 ? port : server->port());
    peer.Send(request);
    return peer.ReadToEnd();
  }

  std::unique_ptr<Server> server;
};

}  // namespace caip::http
