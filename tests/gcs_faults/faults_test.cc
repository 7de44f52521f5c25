// Faults on purpose, over real sockets: what a client sees of them.
#include "base/abandoned_work.h"
#include "fakes/gcs/faults/faulty_calls.h"
#include "fakes/gcs/faults/retry_tests.h"
#include "fakes/gcs/json/json_api.h"
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

using ::testing::HasSubstr;

TEST(Pause, EndsWhenTheClientHasGone) {
  Pause pause;
  EXPECT_TRUE(pause.For(Duration(0)));
  const AbandonableWork gone([] { return true; });
  EXPECT_FALSE(pause.For(std::chrono::hours(1)));
}

TEST(Fault, IsReadFromTheTestbenchsWords) {
  struct Case {
    const char* text;
    Fault::Kind kind;
    int status;
    uint64_t bytes;
  };
  const Case cases[] = {
      {"return-503", Fault::Kind::kStatus, 503, 0},
      {"return-408", Fault::Kind::kStatus, 408, 0},
      {"return-reset-connection", Fault::Kind::kReset, 503, 0},
      {"return-broken-stream", Fault::Kind::kBreakAfterBytes, 503, 10},
      {"return-broken-stream-after-256K", Fault::Kind::kBreakAfterBytes, 503, 256 << 10},
      {"return-broken-stream-final-chunk-after-7B", Fault::Kind::kBreakFinalAnswer, 503, 7},
      {"return-503-after-8192K", Fault::Kind::kStatusAfterBytes, 503, 8192 << 10},
      {"stall-for-10s-after-12K", Fault::Kind::kStall, 503, 12 << 10},
  };
  for (const Case& c : cases) {
    const auto fault = ParseFault(c.text);
    ASSERT_TRUE(fault) << c.text;
    EXPECT_EQ(fault->kind, c.kind) << c.text;
    EXPECT_EQ(fault->status, c.status) << c.text;
    EXPECT_EQ(fault->bytes, c.bytes) << c.text;
  }
  for (const char* text : {"", "return-", "return-200", "return-503x", "return-503-after-K",
                           "return-broken-stream-after-1B", "stall-for-1s", "redirect-send-token-t",
                           "return-99999999999999999999", "stall-for-99999999s-after-1K"}) {
    EXPECT_FALSE(ParseFault(text)) << text;
  }
}

class FaultTest : public ApiTest {
 protected:
  FaultTest() {
    auto keys = ServiceKeys::Open(directory_.path() / "keys", world_.clock(), Random(5),
                                  [] { return Result<SignerKey>(SignerKey{}); });
    std::vector<http::Route> routes =
        StorageRoutes(std::make_shared<StorageService>(*world_, 3, "123"));
    for (auto& route : HmacKeyRoutes(std::shared_ptr<ServiceKeys>(std::move(*keys)))) {
      routes.push_back(std::move(route));
    }
    tests_ = std::make_shared<RetryTests>(MethodsOf(routes), Random(4));
    faulty_ = std::make_unique<http::Router>(NoStorageRoute);
    faulty_->Add(WithFaults(std::move(routes), tests_, pause_));
    faulty_->Add(RetryTestRoutes(tests_));
    auto server = http::Server::Start(
        {}, [this](const http::Request& request) { return faulty_->Handle(request); });
    faulty_server_ = std::move(*server);
  }
  ~FaultTest() override { pause_->End(); }

  std::string Begin(const std::string& method, const std::string& instructions) {
    const auto answer = Ask("POST", "/retry_test",
                            "{\"instructions\":{\"" + method + "\":[" + instructions + "]}}");
    EXPECT_TRUE(answer.ok() && answer->status == 200) << (answer.ok() ? answer->body : "");
    return StringOr(*ParseJson(answer->body), "id");
  }
  Result<http::ClientResponse> Ask(const std::string& method, const std::string& target,
                                   const std::string& body = "", const std::string& test = "",
                                   const std::string& range = "") {
    http::ClientRequest request{.method = method, .target = target, .body = body};
    if (!test.empty()) request.headers.Set("x-retry-test-id", test);
    if (!range.empty()) request.headers.Set("Content-Range", range);
    http::Client client("http://127.0.0.1:" + std::to_string(faulty_server_->port()));
    return client.Send(request);
  }
  int StatusOf(const Result<http::ClientResponse>& answer) {
    return answer.ok() ? answer->status : 0;
  }
  bool Completed(const std::string& test) {
    return (*ParseJson(Ask("GET", "/retry_test/" + test)->body))["completed"] == true;
  }

  TemporaryDirectory directory_;
  std::shared_ptr<Pause> pause_ = std::make_shared<Pause>();
  std::shared_ptr<RetryTests> tests_;
  std::unique_ptr<http::Router> faulty_;
  std::unique_ptr<http::Server> faulty_server_;
};

TEST_F(FaultTest, BefallOnlyTheCallsOfTheirTest) {
  const std::string test = Begin("storage.buckets.get", "\"return-503\",\"return-408\"");
  const std::string target = "/storage/v1/b/bkt";
  EXPECT_EQ(StatusOf(Ask("GET", target)), 200);
  EXPECT_EQ(StatusOf(Ask("GET", "/storage/v1/b?project=p", "", test)), 200);
  EXPECT_EQ(StatusOf(Ask("GET", target, "", test)), 503);
  EXPECT_FALSE(Completed(test));
  EXPECT_EQ(StatusOf(Ask("GET", target, "", test)), 408);
  EXPECT_TRUE(Completed(test));
  EXPECT_EQ(StatusOf(Ask("GET", target, "", test)), 200);
  EXPECT_EQ(StatusOf(Ask("GET", target, "", "nonsense")), 404);
}

TEST_F(FaultTest, AStatusMeansThatNothingHappened) {
  const std::string test = Begin("storage.buckets.insert", "\"return-503\"");
  EXPECT_EQ(StatusOf(Ask("POST", "/storage/v1/b?project=p", "{\"name\":\"new\"}", test)), 503);
  EXPECT_FALSE(world_->GetBucket("new").ok());
  EXPECT_EQ(StatusOf(Ask("POST", "/storage/v1/b?project=p", "{\"name\":\"new\"}", test)), 200);
}

TEST_F(FaultTest, AResetIsOneOnTheWire) {
  const std::string test = Begin("storage.buckets.list", "\"return-reset-connection\"");
  http::RawPeer peer(faulty_server_->port());
  peer.Send("GET /storage/v1/b?project=p HTTP/1.1\r\nHost: 127.0.0.1\r\nx-retry-test-id: " + test +
            "\r\n\r\n");
  EXPECT_EQ(peer.ReadToEnd(), "");
  EXPECT_TRUE(Completed(test));
  EXPECT_EQ(StatusOf(Ask("GET", "/storage/v1/b?project=p", "", test)), 200);
}

TEST_F(FaultTest, BreakADownloadInTheMiddle) {
  world_.Put("big", std::string(600 << 10, 'x'));
  world_.Put("small", "0123456789");
  const std::string test =
      Begin("storage.objects.get", "\"return-broken-stream\",\"return-broken-stream-after-256K\"");
  const auto raw = [&](const std::string& name) {
    http::RawPeer peer(faulty_server_->port());
    peer.Send("GET /storage/v1/b/bkt/o/" + name + "?alt=media HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
              "Connection: close\r\nx-retry-test-id: " + test + "\r\n\r\n");
    const std::string text = peer.ReadToEnd();
    return std::pair(text, text.size() - text.find("\r\n\r\n") - 4);
  };
  EXPECT_EQ(StatusOf(Ask("GET", "/storage/v1/b/bkt/o/big", "", test)), 200);  // no download
  const auto few = raw("big");
  EXPECT_THAT(few.first, HasSubstr("Content-Length: 614400"));
  EXPECT_EQ(few.second, 10u);
  EXPECT_EQ(raw("small").second, 10u);  // too short for the second: it waits
  EXPECT_FALSE(Completed(test));
  EXPECT_EQ(raw("big").second, 256u << 10);
  EXPECT_TRUE(Completed(test));
  EXPECT_EQ(raw("big").second, 600u << 10);
}

TEST_F(FaultTest, BreakAnUploadAndKeepWhatWasThere) {
  const std::string test = Begin("storage.objects.insert", "\"return-503-after-256K\"");
  const std::string bytes(600 << 10, 'y');
  const auto started =
      Ask("POST", "/upload/storage/v1/b/bkt/o?uploadType=resumable&name=up", "{}", test);
  ASSERT_EQ(StatusOf(started), 200);
  const std::string location(started->headers.Get("Location"));
  const std::string target = location.substr(location.find("/upload"));
  EXPECT_EQ(StatusOf(Ask("PUT", target, bytes, test, "bytes 0-614399/614400")), 503);
  EXPECT_TRUE(Completed(test));
  const auto where = Ask("PUT", target, "", test, "bytes */614400");
  EXPECT_EQ(StatusOf(where), 308);
  EXPECT_EQ(where->headers.Get("Range"), "bytes=0-262143");
  EXPECT_EQ(
      StatusOf(Ask("PUT", target, bytes.substr(256 << 10), test, "bytes 262144-614399/614400")),
      200);
  EXPECT_EQ(world_.Get("up"), bytes);
}

TEST_F(FaultTest, BreakAnUploadWhoseChunksMeetTheMark) {
  const std::string test = Begin("storage.objects.insert", "\"return-503-after-256K\"");
  const std::string chunk(256 << 10, 'y');
  const auto started =
      Ask("POST", "/upload/storage/v1/b/bkt/o?uploadType=resumable&name=up", "{}", test);
  const std::string location(started->headers.Get("Location"));
  const std::string target = location.substr(location.find("/upload"));
  EXPECT_EQ(StatusOf(Ask("PUT", target, chunk, test, "bytes 0-262143/524288")), 308);
  EXPECT_FALSE(Completed(test));
  EXPECT_EQ(StatusOf(Ask("PUT", target, chunk, test, "bytes 262144-524287/524288")), 503);
  EXPECT_TRUE(Completed(test));
  EXPECT_EQ(StatusOf(Ask("PUT", target, chunk, test, "bytes 262144-524287/524288")), 200);
  EXPECT_EQ(world_.Get("up"), chunk + chunk);
}

TEST_F(FaultTest, CutTheAnswerToAnUploadThatIsStored) {
  const std::string test =
      Begin("storage.objects.insert", "\"return-broken-stream-final-chunk-after-5B\"");
  http::RawPeer peer(faulty_server_->port());
  peer.Send(
      "POST /upload/storage/v1/b/bkt/o?uploadType=media&name=m HTTP/1.1\r\n"
      "Host: 127.0.0.1\r\nConnection: close\r\nContent-Length: 3\r\nx-retry-test-id: " +
      test + "\r\n\r\nabc");
  const std::string text = peer.ReadToEnd();
  EXPECT_EQ(text.size() - text.find("\r\n\r\n") - 4, 5u) << text;
  EXPECT_EQ(world_.Get("m"), "abc");
  EXPECT_TRUE(Completed(test));
}

TEST_F(FaultTest, AStallEndsWithTheServer) {
  world_.Put("o", std::string(4 << 10, 'z'));
  const std::string test = Begin("storage.objects.get", "\"stall-for-3600s-after-1K\"");
  http::RawPeer peer(faulty_server_->port());
  peer.Send(
      "GET /storage/v1/b/bkt/o/o?alt=media HTTP/1.1\r\nHost: 127.0.0.1\r\n"
      "Connection: close\r\nx-retry-test-id: " +
      test + "\r\n\r\n");
  pause_->End();
  const std::string text = peer.ReadToEnd();
  EXPECT_EQ(text.size() - text.find("\r\n\r\n") - 4, 1u << 10);
}

TEST_F(FaultTest, AreRefusedWhenUnknown) {
  EXPECT_EQ(StatusOf(Ask("POST", "/retry_test", "{\"instructions\":{\"storage.nope.get\":[]}}")),
            400);
  const auto answer =
      Ask("POST", "/retry_test", "{\"instructions\":{\"storage.buckets.get\":[\"explode\"]}}");
  EXPECT_EQ(StatusOf(answer), 400);
  EXPECT_THAT(answer->body, HasSubstr("return-X-after-YK"));
  EXPECT_EQ(StatusOf(Ask("POST", "/retry_test", "{\"transport\":\"http\",\"instructions\":{}}")),
            200);
  EXPECT_EQ(StatusOf(Ask("POST", "/retry_test", "{\"transport\":\"GRPC\",\"instructions\":{}}")),
            400);
  EXPECT_EQ(StatusOf(Ask("POST", "/retry_test", "[]")), 400);
  EXPECT_EQ(StatusOf(Ask("GET", "/retry_test/nope")), 404);
  EXPECT_EQ(StatusOf(Ask("DELETE", "/retry_test/nope")), 404);
}

TEST_F(FaultTest, AreListedAndDeleted) {
  const std::string test = Begin("storage.bucket_acl.list", "\"return-503\"");
  const auto list = ParseJson(Ask("GET", "/retry_tests")->body);
  ASSERT_EQ((*list)["retry_test"].size(), 1u);
  EXPECT_EQ((*list)["retry_test"][0]["instructions"]["storage.bucket_acl.list"][0], "return-503");
  EXPECT_EQ(StatusOf(Ask("GET", "/storage/v1/b/bkt/acl", "", test)), 503);
  EXPECT_EQ(StatusOf(Ask("DELETE", "/retry_test/" + test)), 200);
  EXPECT_EQ(StatusOf(Ask("GET", "/retry_test/" + test)), 404);
}

// Every instruction of the public retry conformance tests, for every method they name.
TEST_F(FaultTest, KnowTheInstructionsAndMethodsOfThePublicConformanceTests) {
  const char* const instructions[] = {"return-503",
                                      "return-400",
                                      "return-401",
                                      "return-408",
                                      "return-reset-connection",
                                      "return-broken-stream",
                                      "return-broken-stream-after-256K",
                                      "return-503-after-256K",
                                      "return-503-after-8192K"};
  const char* const methods[] = {"bucket_acl.delete",
                                 "bucket_acl.get",
                                 "bucket_acl.insert",
                                 "bucket_acl.list",
                                 "bucket_acl.patch",
                                 "bucket_acl.update",
                                 "buckets.delete",
                                 "buckets.get",
                                 "buckets.getIamPolicy",
                                 "buckets.insert",
                                 "buckets.list",
                                 "buckets.lockRetentionPolicy",
                                 "buckets.patch",
                                 "buckets.setIamPolicy",
                                 "buckets.testIamPermissions",
                                 "buckets.update",
                                 "default_object_acl.delete",
                                 "default_object_acl.get",
                                 "default_object_acl.insert",
                                 "default_object_acl.list",
                                 "default_object_acl.patch",
                                 "default_object_acl.update",
                                 "hmacKey.create",
                                 "hmacKey.delete",
                                 "hmacKey.get",
                                 "hmacKey.list",
                                 "hmacKey.update",
                                 "notifications.delete",
                                 "notifications.get",
                                 "notifications.insert",
                                 "notifications.list",
                                 "object_acl.delete",
                                 "object_acl.get",
                                 "object_acl.insert",
                                 "object_acl.list",
                                 "object_acl.patch",
                                 "object_acl.update",
                                 "objects.compose",
                                 "objects.copy",
                                 "objects.delete",
                                 "objects.get",
                                 "objects.insert",
                                 "objects.list",
                                 "objects.patch",
                                 "objects.rewrite",
                                 "objects.update",
                                 "serviceaccount.get"};
  for (const char* method : methods) {
    for (const char* instruction : instructions) {
      Json resource;
      resource["instructions"][std::string("storage.") + method] = Json::array({instruction});
      const auto made = tests_->Create(resource);
      EXPECT_TRUE(made.ok()) << made.error().message;
    }
  }
}

}  // namespace
}  // namespace caip::gcs
