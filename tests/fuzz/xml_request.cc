// The first byte of an input selects a request of the XML API whose body is a document, the rest is
// the body. The server answers with a document, and never with a fault of its own. A setting that
// it has taken is unchanged when what GET shows is sent again.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/xml/xml_api.h"
#include "fakes/gcs/xml/xml_text.h"
#include "http/message.h"
#include "http/text_body.h"

namespace {

using namespace caip;
using namespace caip::gcs;

void Require(bool holds) {
  if (!holds) std::abort();
}

class NoKeys final : public KeyRing {
 public:
  std::optional<HmacSecret> SecretOf(const std::string&) const override { return std::nullopt; }
  std::vector<std::string> PublicKeysOf(const std::string&) const override { return {}; }
};

/// A bucket and an object that exist before each request.
class Server {
 public:
  Server()
      : store_(*DirectoryStore::Open({.root = directory_.path() / "buckets", .durable = false},
                                     clock_)),
        api_({.service = std::make_shared<StorageService>(*store_, 7, "123"),
              .uploads = directory_.path() / "xml-uploads",
              .seed = 7},
             keys_, clock_) {
    Require(store_->CreateBucket("bkt").ok());
    PutObject();
  }

  http::Response Ask(const std::string& method, const std::string& target, std::string_view body) {
    const auto parsed = http::ParseTarget(target);
    http::TextBody reader(body);
    http::Request request;
    request.method = method;
    request.path = parsed->path;
    request.query = parsed->query;
    request.host = "127.0.0.1:2247";
    request.body = &reader;
    return api_.Handle(request);
  }

  void PutObject() { Require(Ask("PUT", "/bkt/obj", "bytes").status == 200); }

  /// The target of a new upload with two parts.
  std::string StartUpload() {
    const auto begun = ParseXml(Ask("POST", "/bkt/obj?uploads", "").body);
    Require(begun.ok());
    const std::string target = "/bkt/obj?uploadId=" + begun->TextOf("UploadId");
    Require(Ask("PUT", target + "&partNumber=1", "a").status == 200);
    Require(Ask("PUT", target + "&partNumber=2", "b").status == 200);
    return target;
  }

 private:
  TemporaryDirectory directory_;
  VirtualClock clock_{Instant(std::chrono::seconds(1'600'000'000))};
  NoKeys keys_;
  std::unique_ptr<DirectoryStore> store_;
  XmlApi api_;
};

void CheckAnswer(const http::Response& answer) {
  Require(answer.status < 500);
  if (!answer.body.empty()) Require(ParseXml(answer.body).ok());
}

void CheckSetting(Server& server, const std::string& target, std::string_view body) {
  const http::Response answer = server.Ask("PUT", target, body);
  CheckAnswer(answer);
  if (answer.status != 200) return;
  const http::Response shown = server.Ask("GET", target, "");
  CheckAnswer(shown);
  if (shown.status != 200) return;
  Require(server.Ask("PUT", target, shown.body).status == 200);
  Require(server.Ask("GET", target, "").body == shown.body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static Server server;
  constexpr const char* kSettings[] = {
      "/bkt?cors",    "/bkt?lifecycle",     "/bkt?versioning", "/bkt?storageClass",
      "/bkt?logging", "/bkt?websiteConfig", "/bkt?billing",    "/bkt?encryption",
      "/bkt?tagging", "/bkt?acl",           "/bkt/obj?acl",    "/bkt?defaultObjectAcl"};
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t choice = data[0] % (std::size(kSettings) + 4);
  if (choice < std::size(kSettings)) {
    CheckSetting(server, kSettings[choice], body);
  } else if (choice == std::size(kSettings)) {
    const std::string upload = server.StartUpload();
    CheckAnswer(server.Ask("POST", upload, body));
    (void)server.Ask("DELETE", upload, "");  // millions of uploads would fill the disk
  } else if (choice == std::size(kSettings) + 1) {
    CheckAnswer(server.Ask("POST", "/bkt?delete", body));
    server.PutObject();
  } else if (choice == std::size(kSettings) + 2) {
    CheckAnswer(server.Ask("PUT", "/bkt2", body));
    (void)server.Ask("DELETE", "/bkt2", "");
  } else {
    CheckAnswer(server.Ask("PUT", "/bkt/composed?compose", body));
  }
  return 0;
}
