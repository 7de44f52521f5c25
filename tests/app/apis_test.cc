// The APIs together: each method with the layers around it.
#include "emulator/app/apis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "emulator/app/emulator.h"
#include "http/client.h"
#include "http/compression.h"
#include "images/digest.h"

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

TEST_F(ServedApis, ServeTheRegistryBesideCloudLogging) {
  EXPECT_FALSE(std::filesystem::exists(options_.state / "images")) << "opened at the first use";
  const auto answer = [this](const std::string& target, const std::string& host = "") {
    http::ClientRequest request{.target = target};
    if (!host.empty()) request.headers.Set("Host", host);
    return Send(std::move(request));
  };
  EXPECT_EQ(answer("/v2/").body, "{}");
  EXPECT_EQ(answer("/v2/", "eu.gcr.io").body, "{}");
  EXPECT_THAT(answer("/v2/p/i/tags/list").body, HasSubstr("NAME_UNKNOWN"));
  EXPECT_THAT(answer("/v2/projects/p/tags/list").body, HasSubstr("NAME_UNKNOWN"));
  EXPECT_EQ(answer("/v2/projects/p/logs").body, "{}\n");
  EXPECT_THAT(answer("/v2/projects/p/nothing").body, HasSubstr("\"error\""));
  EXPECT_THAT(answer("/bucket/object", "gcr.io").body, HasSubstr("not a path of the registry"));
  EXPECT_THAT(answer("/v2/p/i/blobs/x").body, HasSubstr("DIGEST_INVALID"));
  EXPECT_TRUE(std::filesystem::exists(options_.state / "images/names.db"));
}

TEST_F(ServedApis, LetNoWebPagePush) {
  for (const auto& [field, value] : {std::pair{"Origin", "https://evil.example"},
                                     {"Host", "evil.example"},
                                     {"Sec-Fetch-Site", "cross-site"}}) {
    http::ClientRequest push{.method = "POST", .target = "/v2/p/i/blobs/uploads/"};
    push.headers.Set(field, value);
    EXPECT_EQ(Send(push).status, 403) << field;
  }
}

TEST_F(ServedApis, KeepPushedBlobsUnchangedAndInTheLog) {
  const std::string packed = http::Gzip("layer");
  http::ClientRequest push{.method = "POST", .body = packed};
  push.target = "/v2/p/i/blobs/uploads/?digest=" + images::Digest::Of(packed).text();
  push.headers.Set("Content-Encoding", "gzip");
  const auto pushed = Send(push);
  ASSERT_EQ(pushed.status, 201) << pushed.body;
  http::ClientRequest pull{.target = std::string(pushed.headers.Get("Location"))};
  pull.headers.Set("Accept-Encoding", "gzip");
  const auto pulled = Send(pull);
  EXPECT_EQ(pulled.body, packed);
  EXPECT_EQ(pulled.headers.Get("Content-Encoding"), "");
  EXPECT_THAT(*ReadFile(options_.state / "access.log"),
              HasSubstr(" POST /v2/p/i/blobs/uploads/ 201 "));
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
