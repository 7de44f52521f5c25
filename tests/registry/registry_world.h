#pragma once
// The registry on a real socket over an image store in a temporary directory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "fakes/registry/registry_api.h"
#include "http/client.h"
#include "http/server.h"
#include "tests/http/raw_peer.h"

namespace caip::registry {

struct Answer {
  int status = 0;
  http::Headers headers;
  std::string body;

  std::string Header(std::string_view name) const { return std::string(headers.Get(name)); }
  Json json() const {
    const auto parsed = ParseJson(body);
    return parsed.ok() ? *parsed : Json();
  }
  // errors[0].code of the specification; "" if the body has another form.
  std::string code() const {
    const Json parsed = json();
    const Json* const errors = Member(parsed, "errors");
    const bool has_one = errors != nullptr && errors->is_array() && errors->size() == 1;
    return has_one ? StringOr((*errors)[0], "code") : "";
  }
};

using Fields = std::vector<std::pair<std::string, std::string>>;

inline std::string DigestOf(std::string_view bytes) { return images::Digest::Of(bytes).text(); }

inline Json DescriptorOf(const std::string& bytes, const std::string& type) {
  return {{"mediaType", type}, {"digest", DigestOf(bytes)}, {"size", bytes.size()}};
}

using images::kDockerList;
using images::kDockerManifest;
using images::kOciConfig;
using images::kOciIndex;
using images::kOciManifest;

inline constexpr char kLayerType[] = "application/vnd.oci.image.layer.v1.tar+gzip";

// A manifest of a configuration and layers with these bytes.
inline Json ImageManifest(const std::string& config, const std::vector<std::string>& layers) {
  Json manifest = {{"schemaVersion", 2},
                   {"mediaType", kOciManifest},
                   {"config", DescriptorOf(config, kOciConfig)},
                   {"layers", Json::array()}};
  for (const std::string& layer : layers) {
    manifest["layers"].push_back(DescriptorOf(layer, kLayerType));
  }
  return manifest;
}

inline Json IndexOf(const std::vector<std::string>& manifests) {
  Json index = {{"schemaVersion", 2}, {"mediaType", kOciIndex}, {"manifests", Json::array()}};
  for (const std::string& manifest : manifests) {
    index["manifests"].push_back(DescriptorOf(manifest, kOciManifest));
  }
  return index;
}

class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() { Serve(); }

  // As after the emulator was killed and started again with the same seed. Any program may have
  // taken its port.
  void Restart() {
    server_.reset();
    router_.reset();
    registry_.reset();
    blobs_.reset();
    names_.reset();
    Serve();
  }

  Answer Call(const std::string& method, const std::string& target, const std::string& body = "",
              const Fields& fields = {}) {
    http::ClientRequest request{.method = method, .target = target, .body = body};
    for (const auto& [name, value] : fields) request.headers.Add(name, value);
    http::Client client("http://127.0.0.1:" + std::to_string(port_));
    auto response = client.Send(request);
    EXPECT_TRUE(response.ok()) << (response.ok() ? "" : response.error().message);
    if (!response.ok()) return {};
    return {response->status, response->headers, response->body};
  }

  // The first line and the fields of a request on the wire, without the blank line.
  std::string Head(const std::string& line, const std::string& fields) const {
    return line + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + fields;
  }

  std::string Start(const std::string& name = "p/i") {
    const Answer answer = Call("POST", "/v2/" + name + "/blobs/uploads/");
    EXPECT_EQ(answer.status, 202) << answer.body;
    return answer.Header("Location");
  }
  Answer Finish(const std::string& location, const std::string& digest,
                const std::string& last = "") {
    return Call("PUT", location + "?digest=" + digest, last);
  }
  void PushBlob(const std::string& bytes, const std::string& name = "p/i") {
    const Answer answer = Finish(Start(name), DigestOf(bytes), bytes);
    EXPECT_EQ(answer.status, 201) << answer.body;
  }
  Answer PushManifest(const std::string& manifest, const std::string& reference,
                      const std::string& name = "p/i", const std::string& type = kOciManifest) {
    return Call("PUT", "/v2/" + name + "/manifests/" + reference, manifest,
                {{"Content-Type", type}});
  }
  // Pushes an image of one layer, and returns its manifest.
  std::string PushImage(const std::string& layer, const std::string& tag,
                        const std::string& name = "p/i") {
    PushBlob("{}", name);
    PushBlob(layer, name);
    const std::string manifest = CompactJson(ImageManifest("{}", {layer}));
    EXPECT_EQ(PushManifest(manifest, tag, name).status, 201);
    return manifest;
  }
  Answer GetBlob(const std::string& bytes, const std::string& name = "p/i",
                 const Fields& fields = {}) {
    return Call("GET", "/v2/" + name + "/blobs/" + DigestOf(bytes), "", fields);
  }
  Answer GetManifest(const std::string& reference, const std::string& name = "p/i",
                     const Fields& fields = {}) {
    return Call("GET", "/v2/" + name + "/manifests/" + reference, "", fields);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<images::BlobStore> blobs_;
  std::unique_ptr<images::ImageNames> names_;
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<http::Router> router_;
  std::unique_ptr<http::Server> server_;
  uint16_t port_ = 0;

  // A lock that counts how often it was taken, and calls `when_locked_`.
  StoreLock CountedLock() {
    return [this]() -> Result<Fd> {
      ++locks_;
      if (when_locked_) when_locked_();
      return Fd();
    };
  }
  std::atomic<int> locks_{0};
  std::function<void()> when_locked_;

 private:
  void Serve() {
    blobs_ = *images::BlobStore::Open(directory_.path());
    names_ = *images::ImageNames::Open(directory_.path() / "names.db");
    router_ = std::make_unique<http::Router>(NoRegistryRoute);
    registry_ = std::make_unique<Registry>(*blobs_, *names_, CountedLock(), Random(1));
    router_->Add(RegistryRoutes([this] { return Result<Registry*>(registry_.get()); }));
    auto server = http::Server::Start({.allowed_hosts = {"gcr.io", "eu.gcr.io"}},
                                      [this](const auto& r) { return router_->Handle(r); });
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    port_ = server_->port();
  }
};

}  // namespace caip::registry
