// Faults injected into calls of the XML API, under the names of the JSON methods they stand for.
// for.
#include "fakes/gcs/faults/retry_tests.h"
#include "tests/gcs_xml/xml_world.h"

namespace caip::gcs {
namespace {

class XmlFaultTest : public XmlTest {
 protected:
  XmlFaultTest() {
    faults_ = tests_;
    Serve();
  }
  // The headers of a call that suffers the instructions.
  HeaderList Begin(const std::string& method, const std::string& instruction) {
    const auto id = tests_->Create(Json{{"instructions", {{method, Json::array({instruction})}}}});
    EXPECT_TRUE(id.ok()) << id.error().message;
    return {{"x-retry-test-id", *id}};
  }
  bool IsCompleted(const HeaderList& headers) {
    return (*tests_->Get(headers[0].second))["completed"] == true;
  }

  std::shared_ptr<RetryTests> tests_ = std::make_shared<RetryTests>(
      std::set<std::string>{"storage.buckets.get", "storage.objects.get"}, Random(4));
};

TEST_F(XmlFaultTest, AnswerWithTheStatusOfTheInstruction) {
  world_.Put("o", "bytes");
  struct Case {
    int status;
    const char* code;
  };
  for (const Case& c : {Case{400, "InvalidArgument"},
                        {401, "AuthenticationRequired"},
                        {403, "AccessDenied"},
                        {404, "NoSuchKey"},
                        {408, "RequestTimeout"},
                        {409, "OperationAborted"},
                        {412, "PreconditionFailed"},
                        {416, "InvalidRange"},
                        {418, "InvalidArgument"},
                        {429, "TooManyRequests"},
                        {500, "InternalError"},
                        {502, "InternalError"},
                        {503, "ServiceUnavailable"},
                        {504, "InternalError"}}) {
    const auto test = Begin("storage.objects.get", "return-" + std::to_string(c.status));
    const XmlAnswer answer = Call("GET", "/bkt/o", "", test);
    EXPECT_EQ(answer.status, c.status);
    EXPECT_EQ(answer.code(), c.code) << c.status;
    EXPECT_THAT(answer.body, ::testing::HasSubstr("Injected fault: return-"));
    EXPECT_EQ(Call("GET", "/bkt/o", "", test).body, "bytes");
  }
  EXPECT_EQ(Call("HEAD", "/bkt", "", Begin("storage.buckets.get", "return-404")).code(),
            "NoSuchBucket");
  EXPECT_EQ(Call("GET", "/bkt/o", "", {{"x-retry-test-id", "nonsense"}}).code(), "NoSuchKey");
}

TEST_F(XmlFaultTest, StrikeEachStepOfACall) {
  world_.Put("o", "bytes");
  const HeaderList source = {{"x-goog-copy-source", "/bkt/o"}};
  for (const char* method : {"storage.objects.get", "storage.objects.rewrite"}) {
    HeaderList headers = Begin(method, "return-503");
    const HeaderList test = headers;
    headers.insert(headers.end(), source.begin(), source.end());
    EXPECT_EQ(Call("PUT", "/bkt/copy", "", headers).status, 503) << method;
    EXPECT_FALSE(world_.Has("copy"));
    EXPECT_TRUE(IsCompleted(test));
  }
}

TEST_F(XmlFaultTest, BreakAnUploadAfterSomeBytes) {
  const auto test = Begin("storage.objects.insert", "return-503-after-1K");
  EXPECT_EQ(Call("PUT", "/bkt/o", std::string(1 << 10, 'x'), test).status, 200);
  EXPECT_FALSE(IsCompleted(test));
  const XmlAnswer broken = Call("PUT", "/bkt/new", std::string(2 << 10, 'x'), test);
  EXPECT_EQ(broken.status, 503);
  EXPECT_EQ(broken.code(), "ServiceUnavailable");
  EXPECT_FALSE(world_.Has("new"));
}

TEST_F(XmlFaultTest, BreakADownloadInTheMiddle) {
  world_.Put("o", "0123456789012345");
  const auto test = Begin("storage.objects.get", "return-broken-stream");
  const XmlAnswer broken = Call("GET", "/bkt/o", "", test);
  EXPECT_EQ(broken.status, 200);
  EXPECT_EQ(broken.body, "0123456789");
  EXPECT_EQ(Call("GET", "/bkt/o", "", test).body, "0123456789012345");
}

TEST_F(XmlFaultTest, ResetTheConnection) {
  world_.Put("o", "bytes");
  http::Request request = RequestOf(
      "GET", "/bkt/o", Begin("storage.objects.get", "return-reset-connection"), "127.0.0.1");
  http::TextBody nothing("");
  request.body = &nothing;
  EXPECT_TRUE(xml_->Handle(request).reset);
  const auto cut = Begin("storage.objects.insert", "return-broken-stream-final-chunk-after-5B");
  request = RequestOf("PUT", "/bkt/cut", cut, "127.0.0.1");
  http::TextBody bytes("bytes");
  request.body = &bytes;
  EXPECT_TRUE(xml_->Handle(request).reset);  // stored, though the answer is lost
  EXPECT_EQ(world_.Get("cut"), "bytes");
}

}  // namespace
}  // namespace caip::gcs
