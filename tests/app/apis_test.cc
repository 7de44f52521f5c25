// The APIs together: each method with the layers around it.
#include "emulator/app/apis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "emulator/app/emulator.h"
#include "http/client.h"

namespace caip::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ServedApis : public ::testing::Test {
 protected:
  ServedApis() {
    options_.state = directory_.path() / "state";
    options_.port = 0;
    options_.create_buckets = true;
    auto started = Emulator::Start(options_, {});
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    if (started.ok()) emulator_ = std::move(*started);
  }
  http::ClientResponse Send(http::ClientRequest request) {
    http::Client client(emulator_->base_url());
    auto answer = client.Send(std::move(request));
    EXPECT_TRUE(answer.ok());
    return answer.ok() ? *answer : http::ClientResponse();
  }

  TemporaryDirectory directory_;
  EmulatorOptions options_;
  std::unique_ptr<Emulator> emulator_;
};

TEST_F(ServedApis, PartsOfABatchUnderstandFields) {
  ASSERT_EQ(
      Send({.method = "POST", .target = "/storage/v1/b?project=p", .body = R"({"name":"bkt"})"})
          .status,
      200);
  const auto part = [](const std::string& query) {
    return "--b\r\nContent-Type: application/http\r\n\r\nGET /storage/v1/b/bkt" + query +
           " HTTP/1.1\r\n\r\n\r\n";
  };
  http::ClientRequest batch{.method = "POST", .target = "/batch/storage/v1"};
  batch.headers.Add("Content-Type", "multipart/mixed; boundary=b");
  batch.body = part("?fields=name,location") + part("?fields=nonsense") + "--b--\r\n";
  const auto answer = Send(batch);
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"({"name":"bkt","location":"US-CENTRAL1"})"));
  EXPECT_THAT(answer.body, HasSubstr("HTTP/1.1 400"));
  EXPECT_THAT(answer.body, Not(HasSubstr("metageneration")));
}

TEST_F(ServedApis, LogRefusedRequests) {
  http::ClientRequest request{.method = "GET", .target = "/storage/v1/b"};
  request.headers.Add("Origin", "https://evil.example");
  EXPECT_EQ(Send(request).status, 403);
  EXPECT_THAT(*ReadFile(options_.state / "access.log"), HasSubstr(" GET /storage/v1/b 403 "));
}

// The port of an emulator that has ended may belong to another one by now.
TEST_F(ServedApis, RefuseToEndForAClientThatMeansAnotherProcess) {
  const std::string own = std::to_string(::getpid());
  for (const std::string& action :
       {std::string("shutdown?owner=1"), "join?pid=" + own + "&owner=1"}) {
    const auto answer = Send({.method = "POST", .target = "/emulator/v1:" + action});
    EXPECT_EQ(answer.status, 400) << action;
    EXPECT_THAT(answer.body, HasSubstr("process id 1. This one has " + own));
  }
  EXPECT_EQ(emulator_->MayEnd(), Emulator::End::kIdle);  // not kAsked
  const std::string meant = "/emulator/v1:shutdown?owner=" + own;
  EXPECT_EQ(Send({.method = "POST", .target = meant}).status, 200);
  EXPECT_EQ(emulator_->MayEnd(), Emulator::End::kAsked);
}

}  // namespace
}  // namespace caip::app
