#pragma once
// The JSON API on a real socket over a directory store.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "fakes/gcs/json/json_api.h"
#include "http/client.h"
#include "http/server.h"
#include "tests/gcs/store_world.h"
#include "tests/http/raw_peer.h"

namespace caip::gcs {

struct Answer {
  int status = 0;
  http::Headers headers;
  std::string body;
  Json json;
  std::string reason() const {  // error.errors[0].reason
    if (!json.is_object() || !json.contains("error")) return "";
    return json["error"]["errors"][0]["reason"].get<std::string>();
  }
};

class ApiTest : public ::testing::Test {
 protected:
  ApiTest() {
    EXPECT_TRUE(world_->CreateBucket("bkt").ok());
    Serve();
  }
  // What a request sets must stay valid.
  void TearDown() override { EXPECT_THAT(warnings_, ::testing::IsEmpty()); }
  // As after a restart of the emulator. Any program may have taken its port.
  void Restart() {
    server_.reset();
    router_.reset();
    world_.Reopen();
    Serve();
  }
  void Serve() {
    router_ = std::make_unique<http::Router>(NoStorageRoute);
    auto routes = StorageRoutes(std::make_shared<StorageService>(
        *world_, ++seed_, "123", [this](const std::string& text) { warnings_.push_back(text); }));
    routes.push_back(BatchRoute(routes));
    router_->Add(std::move(routes));
    auto server = http::Server::Start({}, [this](const auto& r) { return router_->Handle(r); });
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    port_ = server_->port();
  }
  std::string base() const { return "http://127.0.0.1:" + std::to_string(port_); }

  Answer Call(const std::string& method, const std::string& target, const std::string& body = "",
              const std::vector<std::pair<std::string, std::string>>& headers = {}) {
    http::ClientRequest request{.method = method, .target = target, .body = body};
    for (const auto& [name, value] : headers) request.headers.Set(name, value);
    http::Client client(base());
    return AnswerOf(client.Send(request));
  }
  // What `bytes` on the wire are answered with. Host and Connection: close are added.
  Answer Raw(const std::string& line, const std::string& headers, const std::string& body) {
    http::RawPeer peer(port_);
    peer.Send(line + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
              "\r\nConnection: close\r\n" + headers + "\r\n" + body);
    const std::string text = peer.ReadToEnd();
    Answer answer;
    if (text.size() > 12) answer.status = std::stoi(text.substr(9, 3));
    const size_t blank = text.find("\r\n\r\n");
    for (size_t at = text.find("\r\n") + 2; at < blank; at = text.find("\r\n", at) + 2) {
      const size_t colon = text.find(": ", at);
      const size_t end = text.find("\r\n", at);
      answer.headers.Add(text.substr(at, colon - at), text.substr(colon + 2, end - colon - 2));
    }
    answer.body = blank == std::string::npos ? "" : text.substr(blank + 4);
    return WithJson(answer);
  }
  Answer RawUpload(const std::string& query, const std::string& content_type,
                   const std::string& body) {
    return Raw("POST /upload/storage/v1/b/bkt/o?" + query,
               "Content-Type: " + content_type +
                   "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n",
               body);
  }
  Answer PutMedia(const std::string& name, const std::string& bytes, const std::string& more = "") {
    return Call("POST", "/upload/storage/v1/b/bkt/o?uploadType=media&name=" + name + more, bytes,
                {{"Content-Type", "text/plain"}});
  }
  // Path and query of a Location header.
  std::string TargetOf(const Answer& answer) {
    const std::string location(answer.headers.Get("Location"));
    EXPECT_TRUE(location.starts_with(base())) << location;
    return location.substr(base().size());
  }

  StoreWorld world_;
  std::vector<std::string> warnings_;  // of the service
  std::unique_ptr<http::Router> router_;
  std::unique_ptr<http::Server> server_;

 private:
  static Answer WithJson(Answer answer) {
    auto json = ParseJson(answer.body);
    if (json.ok()) answer.json = std::move(*json);
    return answer;
  }
  static Answer AnswerOf(Result<http::ClientResponse> response) {
    EXPECT_TRUE(response.ok()) << response.error().message;
    if (!response.ok()) return {};
    return WithJson({response->status, response->headers, response->body, Json()});
  }

  uint16_t port_ = 0;
  uint64_t seed_ = 0;
};

}  // namespace caip::gcs
