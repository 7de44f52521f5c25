// What clients must not send: refused in the right form, and nothing is stored.
#include <chrono>
#include <thread>

#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

class BadInputTest : public ApiTest {
 protected:
  // Nothing but the bucket is there, and nothing half-written either.
  void ExpectNothingStored(const std::string& what) {
    EXPECT_TRUE(world_.Names().empty()) << what;
    EXPECT_TRUE(std::filesystem::is_empty(world_.root() / "bkt")) << what;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const Path temporary = world_.root() / ".caip-tmp";
    while (!FilesIn(temporary).empty()) {  // its connection may be going down just now
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << what << ": leftovers stay";
      std::this_thread::yield();
    }
  }
};

TEST_F(BadInputTest, RefusesNamesThatNoObjectMayHave) {
  const std::string bad_names[] = {
      "%00x%0A",                           // line ends
      "a%0Db",                             //
      "%2E",                               // a dot
      "%2E%2E",                            // two
      "%FF",                               // no UTF-8
      "a%C0%AFb",                          // an overlong slash
      "%ED%A0%80",                         // half a surrogate pair
      std::string(1025, 'n'),              // too long
      ".well-known%2Facme-challenge%2Fx",  // the service's own
  };
  for (const std::string& name : bad_names) {
    for (const std::string& query :
         {"uploadType=media&name=" + name, "uploadType=resumable&name=" + name}) {
      const Answer answer = Call("POST", "/upload/storage/v1/b/bkt/o?" + query, "");
      EXPECT_EQ(answer.status, 400) << name;
      EXPECT_EQ(answer.reason(), "invalid") << name << answer.body;
    }
    EXPECT_EQ(Call("GET", "/storage/v1/b/bkt/o/" + name).status, 400) << name;
    ExpectNothingStored(name);
  }
}

TEST_F(BadInputTest, KeepsNamesThatOnlyLookBadInsideTheBucket) {
  for (const char* name : {"..%2Fx", "a%2F..%2F..%2F..%2Fx", "%2Fetc%2Fpasswd", "%252e%252e%252fx",
                           "a%00b", "..%5Cx"}) {
    ASSERT_EQ(PutMedia(name, "bytes").status, 200) << name;
    EXPECT_EQ(Call("GET", std::string("/storage/v1/b/bkt/o/") + name + "?alt=media").body, "bytes");
    ASSERT_EQ(Call("DELETE", std::string("/storage/v1/b/bkt/o/") + name).status, 204) << name;
  }
  ExpectNothingStored("all deleted");
  EXPECT_FALSE(std::filesystem::exists(world_.root().parent_path() / "x"));
  EXPECT_FALSE(std::filesystem::exists(world_.root() / "x"));
}

TEST_F(BadInputTest, RefusesNamesThatNoBucketMayHave) {
  for (const std::string& name :
       {std::string("ab"), std::string(64, 'a'), std::string("Upper"), std::string("-a-"),
        std::string("a..b"), std::string("a.-b"), std::string("192.168.5.4"), std::string("goog-x"),
        std::string("my-google-bucket"), std::string("g00gle"), std::string("a b c"),
        std::string("..%2fetc"), std::string(223, 'a'), "a." + std::string(64, 'b')}) {
    const Answer answer =
        Call("POST", "/storage/v1/b?project=p", CompactJson(Json{{"name", name}}));
    EXPECT_EQ(answer.status, 400) << name;
    EXPECT_EQ(answer.reason(), "invalid") << name;
  }
  EXPECT_EQ(world_->ListBuckets()->size(), 1u);
}

TEST_F(BadInputTest, RefusesJsonThatIsTooDeepTooLargeOrBroken) {
  std::string deep = "{\"metadata\":";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  const std::string bodies[] = {
      deep,
      "{\"metadata\":{\"k\":\"" + std::string(5 << 20, 'v') + "\"}}",
      "{\"metadata\":{\"k\":\"" + std::string(9 << 10, 'v') + "\"}}",
      "{\"metadata\":[1]}",
      "{\"metadata\":{\"k\":[1]}}",
      "{\"contentType\":7}",
      "{\"temporaryHold\":\"yes\"}",
      "{\"retention\":{\"mode\":\"Never\"}}",
      "{\"customTime\":\"yesterday\"}",
      "{\"acl\":{}}",
      "\"text\"",
      "{\"a\":1",
      std::string("{\"a\":\0}", 7),
      "\xff\xfe",
  };
  PutMedia("x", "1");
  for (const std::string& body : bodies) {
    const std::string shown = body.substr(0, 60);
    EXPECT_EQ(Call("PATCH", "/storage/v1/b/bkt/o/x", body).status, 400) << shown;
    EXPECT_EQ(Call("POST", "/upload/storage/v1/b/bkt/o?uploadType=resumable&name=y", body).status,
              400)
        << shown;
  }
  EXPECT_EQ(Call("GET", "/storage/v1/b/bkt/o/x").json["metageneration"], "1");
}

TEST_F(BadInputTest, RefusesBucketSettingsOfTheWrongKind) {
  for (const char* body :
       {R"({"labels":[]})", R"({"labels":{"a":1}})", R"({"location":7})", R"({"versioning":true})",
        R"({"cors":{}})", R"({"retentionPolicy":{"retentionPeriod":"-1"}})",
        R"({"retentionPolicy":{"retentionPeriod":"3155760001"}})",
        R"({"softDeletePolicy":{"retentionDurationSeconds":"x"}})",
        R"({"defaultEventBasedHold":"no"})", R"({"acl":[{"role":"OWNER"}]})"}) {
    EXPECT_EQ(Call("PATCH", "/storage/v1/b/bkt", body).status, 400) << body;
  }
  EXPECT_EQ(Call("GET", "/storage/v1/b/bkt").json["metageneration"], "1");
}

TEST_F(BadInputTest, StoresNothingOfAnUploadThatStopsInTheMiddle) {
  const std::string host = "Host: 127.0.0.1\r\n";
  const std::string media = "POST /upload/storage/v1/b/bkt/o?uploadType=media&name=x HTTP/1.1\r\n";
  const std::string related =
      "POST /upload/storage/v1/b/bkt/o?uploadType=multipart&name=x HTTP/1.1\r\n" + host +
      "Content-Type: multipart/related; boundary=b\r\n";
  const std::string requests[] = {
      media + host + "Content-Length: 100\r\n\r\nonly some",
      media + host + "Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n",
      media + host + "Transfer-Encoding: chunked\r\n\r\nnonsense\r\n",
      related + "Content-Length: 100\r\n\r\n--b\r\n\r\n{}\r\n--b\r\n\r\nsome",
  };
  for (const std::string& request : requests) {
    { http::RawPeer(server_->port()).Send(request); }
    ExpectNothingStored(request);
  }
}

TEST_F(BadInputTest, RefusesABatchOfMoreThanAHundredCalls) {
  const auto batch = [](int calls) {
    std::string body;
    for (int i = 0; i < calls; ++i) {
      body += "--b\r\nContent-Type: application/http\r\n\r\nGET /storage/v1/b/bkt HTTP/1.1\r\n\r\n";
    }
    return body + "\r\n--b--";
  };
  const std::pair<std::string, std::string> type = {"Content-Type", "multipart/mixed; boundary=b"};
  EXPECT_EQ(Call("POST", "/batch/storage/v1", batch(100), {type}).status, 200);
  EXPECT_EQ(Call("POST", "/batch/storage/v1", batch(101), {type}).status, 400);
}

TEST_F(BadInputTest, AnswersEveryMethodOfTheServiceByName) {
  int missing = 0;
  for (const http::Route& route : router_->routes()) {
    std::string target = route.pattern;
    for (size_t at = target.find('{'); at != std::string::npos; at = target.find('{')) {
      target.replace(at, target.find('}') - at + 1, "none");
    }
    const Answer answer = Call(route.method, target, "");
    EXPECT_LT(answer.status, 502) << route.id;
    EXPECT_NE(answer.status, 500) << route.id << answer.body;
    if (answer.status != 501) continue;
    ++missing;
    EXPECT_NE(answer.body.find(route.id), std::string::npos) << answer.body;
  }
  EXPECT_GT(missing, 5);
}

}  // namespace
}  // namespace caip::gcs
