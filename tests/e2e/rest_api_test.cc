// The REST API of a running server, called over HTTP.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/time_text.h"
#include "http/client.h"
#include "tests/support/caip_command.h"

namespace caip::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kJobs[] = "/v1/projects/demo/jobs";

class RestApi : public ::testing::Test {
 protected:
  void SetUp() override {
    // Any command starts the background server; `env` prints its address.
    const Transcript env =
        caip_.Run({"env", "--format", "json", "--map-image", "gcr.io/demo/probe=sh -c 'exit 0'",
                   "--map-image", "gcr.io/demo/sleep=sleep 1000"});
    ASSERT_EQ(env.exit_code, 0) << env.err;
    base_ = StringOr(*ParseJson(env.out), "STORAGE_EMULATOR_HOST");
    client_ = std::make_unique<http::Client>(base_);
  }

  struct Answer {
    int status;
    Json body;
  };
  Answer Ask(const std::string& method, const std::string& target, const Json& body = nullptr) {
    http::ClientRequest request;
    request.method = method;
    request.target = target;
    if (!body.is_null()) request.body = CompactJson(body);
    const auto response = client_->Send(request);
    EXPECT_TRUE(response.ok());
    auto parsed = ParseJson(response.ok() ? response->body : "null");
    return {response.ok() ? response->status : 0, parsed.ok() ? *parsed : Json()};
  }

  static Json Job(const std::string& id, const std::string& image = "gcr.io/demo/probe") {
    return {
        {"jobId", id},
        {"trainingInput", {{"region", "us-central1"}, {"masterConfig", {{"imageUri", image}}}}}};
  }

  CaipCommand caip_;
  std::string base_;
  std::unique_ptr<http::Client> client_;
};

TEST_F(RestApi, AddressesMayEndWithASlash) {
  EXPECT_EQ(Ask("POST", "//storage/v1/b?project=demo", {{"name", "slashes"}}).status, 200);
  EXPECT_EQ(StringOr(Ask("GET", "//b/slashes").body, "name"), "slashes");
  EXPECT_EQ(Ask("POST", "//upload/storage/v1/b/slashes/o?uploadType=media&name=x", 7).status, 200);
  EXPECT_EQ(Ask("GET", "//storage/v1/b/slashes/o/x").status, 200);
  EXPECT_EQ(Ask("GET", "//slashes/x").body, 7);  // the XML API
  EXPECT_EQ(Ask("GET", "//").status, 404);
  EXPECT_EQ(Ask("GET", "/projects/demo/serviceAccount").status, 200);
  EXPECT_EQ(Ask("GET", "/projects/demo/hmacKeys").status, 200);
}

// google-cloud-storage for Python puts the address into each call of client.batch().
TEST_F(RestApi, AddressesOfBatchesMayEndWithASlash) {
  ASSERT_EQ(Ask("POST", "/storage/v1/b?project=demo", {{"name", "batched"}}).status, 200);
  http::ClientRequest request;
  request.method = "POST";
  request.target = "//batch/storage/v1";
  request.headers.Set("Content-Type", "multipart/mixed; boundary=b");
  request.body = "--b\nContent-Type: application/http\n\nDELETE " + base_ +
                 "//storage/v1/b/batched HTTP/1.1\n\n\n--b--";
  const auto response = client_->Send(request);
  ASSERT_TRUE(response.ok());
  EXPECT_NE(response->body.find("HTTP/1.1 204"), std::string::npos) << response->body;
  EXPECT_EQ(Ask("GET", "/storage/v1/b/batched").status, 404);
}

TEST_F(RestApi, CreateReturnsAQueuedJobWithEtagAndTime) {
  const Answer created = Ask("POST", kJobs, Job("created"));
  ASSERT_EQ(created.status, 200) << created.body.dump();
  EXPECT_EQ(StringOr(created.body, "state"), "QUEUED");
  EXPECT_EQ(FromBase64(StringOr(created.body, "etag"))->size(), 8u);
  EXPECT_TRUE(ParseRfc3339(StringOr(created.body, "createTime")));
  EXPECT_EQ(Member(created.body, "endTime"), nullptr);
}

TEST_F(RestApi, AllViolationsAreReportedAtOnceInTheServicesFormat) {
  Json job = Job("9lives");
  job["trainingInput"]["region"] = "mars";
  const Answer refused = Ask("POST", kJobs, job);
  EXPECT_EQ(refused.status, 400);
  const Json& error = refused.body["error"];
  EXPECT_EQ(StringOr(error, "status"), "INVALID_ARGUMENT");
  const Json& violations = error["details"][0]["fieldViolations"];
  ASSERT_EQ(violations.size(), 2u) << refused.body.dump();
  EXPECT_EQ(StringOr(violations[0], "field"), "job.job_id");
  EXPECT_EQ(StringOr(violations[1], "field"), "region");
  EXPECT_EQ(StringOr(error, "message"),
            "Field: job.job_id Error: " + StringOr(violations[0], "description"));
}

TEST_F(RestApi, AnUnknownFieldIsNamedWithItsPath) {
  Json job = Job("unknown");
  job["trainingInput"]["parameter_server_tipe"] = "x";
  const Answer refused = Ask("POST", kJobs, job);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(StringOr(refused.body["error"], "message"),
              HasSubstr("Unknown name \"parameter_server_tipe\" at 'job.training_input'"));
}

TEST_F(RestApi, AMissingJobIs404) {
  EXPECT_EQ(Ask("GET", std::string(kJobs) + "/nothing").status, 404);
  EXPECT_EQ(Ask("POST", std::string(kJobs) + "/nothing:cancel", Json::object()).status, 404);
  EXPECT_EQ(Ask("DELETE", std::string(kJobs) + "/nothing").status, 405) << "there is no delete";
}

TEST_F(RestApi, LabelsAreReplacedAndProtectedByTheEtag) {
  ASSERT_EQ(Ask("POST", kJobs, Job("labelled")).status, 200);
  const std::string path = std::string(kJobs) + "/labelled";
  const Answer set = Ask("PATCH", path + "?updateMask=labels", {{"labels", {{"a", "b"}}}});
  ASSERT_EQ(set.status, 200) << set.body.dump();
  EXPECT_EQ(set.body["labels"], (Json{{"a", "b"}}));
  const std::string etag = StringOr(set.body, "etag");
  const Json change = {{"labels", {{"c", "d"}}}, {"etag", etag}};
  const Answer guarded = Ask("PATCH", path + "?updateMask=labels,etag", change);
  ASSERT_EQ(guarded.status, 200) << guarded.body.dump();
  EXPECT_NE(StringOr(guarded.body, "etag"), etag);
  EXPECT_EQ(Ask("PATCH", path + "?updateMask=labels,etag", change).status, 409) << "stale";
  EXPECT_EQ(Ask("PATCH", path + "?updateMask=labels&update_mask=etag", change).status, 409)
      << "stale, of a mask in two parts";
  EXPECT_EQ(Ask("PATCH", path + "?updateMask=trainingInput", Json::object()).status, 400);
  EXPECT_EQ(Ask("PATCH", path, Json::object()).status, 400) << "the mask is required";
}

TEST_F(RestApi, ListsNewestFirstInPagesAndFilters) {
  for (int i = 1; i <= 5; ++i) {
    ASSERT_EQ(Ask("POST", kJobs, Job("list_" + std::to_string(i))).status, 200);
  }
  std::string ids;
  std::string token;
  int pages = 0;
  do {
    const Answer page =
        Ask("GET", std::string(kJobs) + "?pageSize=2&filter=jobId:list_*&pageToken=" + token);
    ASSERT_EQ(page.status, 200) << page.body.dump();
    for (const Json& job : page.body["jobs"]) ids += StringOr(job, "jobId") + " ";
    token = StringOr(page.body, "nextPageToken");
    ++pages;
  } while (!token.empty() && pages < 10);
  EXPECT_EQ(ids, "list_5 list_4 list_3 list_2 list_1 ");
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(Ask("GET", "/v1/projects/nobody/jobs").body, Json::object());
  EXPECT_EQ(Ask("GET", std::string(kJobs) + "?filter=nonsense").status, 400);
}

TEST_F(RestApi, AQueuedJobShowsItsPositionAndCanBeCancelled) {
  ASSERT_EQ(Ask("POST", kJobs, Job("sleeper", "gcr.io/demo/sleep")).status, 200);
  const std::string path = std::string(kJobs) + "/sleeper";
  ASSERT_TRUE(Eventually([&] { return StringOr(Ask("GET", path).body, "state") == "RUNNING"; }));
  EXPECT_EQ(Ask("POST", path + ":cancel", Json::object()).body, Json::object());
  ASSERT_TRUE(Eventually([&] { return StringOr(Ask("GET", path).body, "state") == "CANCELLED"; }));
  EXPECT_NE(Member(Ask("GET", path).body, "endTime"), nullptr);
  EXPECT_EQ(Ask("POST", path + ":cancel", Json::object()).status, 200) << "a no-op, and success";
}

TEST_F(RestApi, ProjectsHaveAnAccountAndLocations) {
  const Answer config = Ask("GET", "/v1/projects/demo:getConfig");
  EXPECT_EQ(config.status, 200);
  EXPECT_THAT(StringOr(config.body, "serviceAccount"), HasSubstr("@"));
  EXPECT_TRUE(config.body["serviceAccountProject"].is_string()) << "int64 is text";
  const Answer locations = Ask("GET", "/v1/projects/demo/locations?pageSize=100");
  EXPECT_GE(locations.body["locations"].size(), 10u);
  EXPECT_EQ(Ask("GET", "/v1/projects/demo/locations/us-central1").status, 200);
  EXPECT_EQ(Ask("GET", "/v1/projects/demo/locations/mars").status, 404);
}

}  // namespace
}  // namespace caip::testing
