#pragma once
// The XML API over a directory store, called without sockets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/json.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/signing/service_keys.h"
#include "fakes/gcs/xml/xml_api.h"
#include "fakes/gcs/xml/xml_text.h"
#include "http/message.h"
#include "http/text_body.h"
#include "tests/gcs/store_world.h"
#include "tests/support/a_signing_key.h"

namespace caip::gcs {

struct XmlAnswer {
  int status = 0;
  http::Headers headers;
  std::string body;
  XmlElement xml;
  std::string code() const { return xml.TextOf("Code"); }
};

/// All that a sink would get of a response.
inline std::string BodyOf(const http::Response& response) {
  std::string body = response.body;
  if (response.write_body) {
    response.write_body([&](std::string_view piece) {
      body += piece;
      return true;
    });
  }
  if (response.file) {
    body.resize(response.file->length);
    EXPECT_EQ(::pread(response.file->descriptor.get(), body.data(), body.size(),
                      static_cast<off_t>(response.file->offset)),
              static_cast<ssize_t>(body.size()));
  }
  return body;
}

inline Result<SignerKey> TestSigner() { return SignerKey{"key-1", kTestPrivateKey}; }

class XmlTest : public ::testing::Test {
 protected:
  using HeaderList = std::vector<std::pair<std::string, std::string>>;

  XmlTest() {
    EXPECT_TRUE(world_->CreateBucket("bkt").ok());
    auto keys =
        ServiceKeys::Open(directory_.path() / "keys", world_.clock(), Random(5), TestSigner);
    EXPECT_TRUE(keys.ok());
    keys_ = std::move(*keys);
    Serve();
  }
  // As after a restart of the emulator.
  void Restart() {
    xml_.reset();
    world_.Reopen();
    Serve();
  }
  void Serve(SignatureOptions signatures = {}) {
    xml_ =
        std::make_unique<XmlApi>(XmlApiOptions{std::make_shared<StorageService>(*world_, 7, "123"),
                                               FaultyCalls(faults_, pause_),
                                               directory_.path() / "xml-uploads", 7, signatures},
                                 *keys_, world_.clock());
  }
  http::Request RequestOf(const std::string& method, const std::string& target,
                          const HeaderList& headers, const std::string& host) {
    http::Request request;
    const auto parsed = http::ParseTarget(target);
    EXPECT_TRUE(parsed) << target;
    request.method = method;
    request.path = parsed->path;
    request.query = parsed->query;
    for (const auto& [name, value] : headers) request.headers.Add(name, value);
    request.host = host;
    return request;
  }
  XmlAnswer Call(const std::string& method, const std::string& target, const std::string& body = "",
                 const HeaderList& headers = {}, const std::string& host = "127.0.0.1:2247") {
    http::Request request = RequestOf(method, target, headers, host);
    EXPECT_TRUE(IsXmlRequest(request)) << target;
    http::TextBody bytes(body);
    request.body = &bytes;
    const http::Response response = xml_->Handle(request);
    XmlAnswer answer{response.status, response.headers, BodyOf(response), {}};
    if (auto xml = ParseXml(answer.body); xml.ok()) answer.xml = std::move(*xml);
    return answer;
  }
  std::string Header(const XmlAnswer& answer, const char* name) {
    return std::string(answer.headers.Get(name));
  }
  static std::vector<std::string> KeysIn(const XmlAnswer& answer, const char* list = "Contents",
                                         const char* field = "Key") {
    std::vector<std::string> keys;
    for (const XmlElement* item : answer.xml.All(list)) keys.push_back(item->TextOf(field));
    return keys;
  }

  StoreWorld world_;
  TemporaryDirectory directory_;
  std::unique_ptr<ServiceKeys> keys_;
  std::shared_ptr<FaultPlan> faults_;  // before Serve()
  std::shared_ptr<Pause> pause_ = std::make_shared<Pause>();
  std::unique_ptr<XmlApi> xml_;
};

}  // namespace caip::gcs
