// What the service's own system tests (google-cloud-storage for Python) expect, and nobody else
// did.
#include "base/time_text.h"
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

constexpr const char* kObject = "/storage/v1/b/bkt/o/x";

TEST_F(ApiTest, ReadsUnderConditionsOnTheEtag) {
  const std::string etag = PutMedia("x", "bytes").json["etag"];
  for (const std::string target : {"", "?alt=media"}) {
    const auto status = [&](const char* header, const std::string& value) {
      return Call("GET", kObject + target, "", {{header, value}}).status;
    };
    EXPECT_EQ(status("If-Match", etag), 200) << target;
    EXPECT_EQ(status("If-Match", "\"" + etag + "\", \"other\""), 200) << target;
    EXPECT_EQ(status("If-Match", "kittens"), 412) << target;
    EXPECT_EQ(status("If-None-Match", etag), 304) << target;
    EXPECT_EQ(status("If-None-Match", "kittens"), 200) << target;
  }
}

TEST_F(ApiTest, MergesContextsKeyByKey) {
  PutMedia("x", "bytes");
  const auto contexts = [&](const std::string& patch) {
    const Json json = Call("PATCH", kObject, R"({"contexts":)" + patch + "}").json;
    return json.contains("contexts") ? CompactJson(json["contexts"]["custom"]) : "none";
  };
  EXPECT_EQ(contexts(R"({"custom":{"a":{"value":"1"},"b":{"value":"2"}}})"),
            R"({"a":{"value":"1"},"b":{"value":"2"}})");
  EXPECT_EQ(contexts(R"({"custom":{"a":{"value":"3"}}})"),
            R"({"a":{"value":"3"},"b":{"value":"2"}})");
  EXPECT_EQ(contexts(R"({"custom":{"b":{"value":null}}})"), R"({"a":{"value":"3"}})");
  EXPECT_EQ(contexts("null"), "none");
  EXPECT_EQ(Call("PATCH", kObject, R"({"contexts":7})").status, 400);
}

TEST_F(ApiTest, TellsUntilWhenTheBucketsPolicyKeepsAnObject) {
  PutMedia("x", "bytes");
  EXPECT_FALSE(Call("GET", kObject).json.contains("retentionExpirationTime"));
  const std::string policy = R"({"retentionPolicy":{"retentionPeriod":"60"}})";
  ASSERT_EQ(Call("PATCH", "/storage/v1/b/bkt", policy).status, 200);
  const auto times = [](const Json& object) {
    const auto created = ParseRfc3339(StringOr(object, "timeCreated"));
    const auto until = ParseRfc3339(StringOr(object, "retentionExpirationTime"));
    return created && until ? *until - *created : Duration(0);
  };
  EXPECT_EQ(times(Call("GET", kObject).json), std::chrono::seconds(60));
  EXPECT_EQ(times(Call("GET", "/storage/v1/b/bkt/o").json["items"][0]), std::chrono::seconds(60));
  ASSERT_EQ(Call("PATCH", kObject, R"({"eventBasedHold":true})").status, 200);
  EXPECT_FALSE(Call("GET", kObject).json.contains("retentionExpirationTime"));  // without an end
}

TEST_F(ApiTest, GivesACompositionNoTypeByItself) {
  PutMedia("a", "1");
  const std::string parts = R"({"sourceObjects":[{"name":"a"}])";
  const std::string compose = std::string(kObject) + "/compose";
  EXPECT_FALSE(Call("POST", compose, parts + "}").json.contains("contentType"));
  EXPECT_EQ(Call("GET", std::string(kObject) + "?alt=media").headers.Get("Content-Type"),
            "application/octet-stream");
  const Answer typed = Call("POST", compose, parts + R"(,"destination":{"contentType":"a/b"}})");
  EXPECT_EQ(typed.json["contentType"], "a/b");
}

TEST_F(ApiTest, DeletesTheSourcesOfACompositionWhenAsked) {
  PutMedia("a", "1");
  PutMedia("b", "2");
  const std::string body =
      R"({"sourceObjects":[{"name":"a"},{"name":"b"}],"deleteSourceObjects":true})";
  EXPECT_EQ(Call("POST", std::string(kObject) + "/compose", body).json["size"], "2");
  EXPECT_EQ(Call("GET", "/storage/v1/b/bkt/o/a").status, 404);
  EXPECT_EQ(Call("GET", "/storage/v1/b/bkt/o/b").status, 404);
  // The composition itself may be one of them.
  const std::string onto = R"({"sourceObjects":[{"name":"x"}],"deleteSourceObjects":true})";
  EXPECT_EQ(Call("POST", std::string(kObject) + "/compose", onto).status, 200);
  EXPECT_EQ(Call("GET", kObject).status, 200);
}

TEST_F(ApiTest, ChecksTheSumsOfAnUploadsStartAndOfItsEnd) {
  const std::string start = "/upload/storage/v1/b/bkt/o?uploadType=resumable&name=x";
  const auto upload = [&](const std::string& at_start, const std::string& at_end) {
    const Answer session = Call("POST", start, R"({"crc32c":")" + at_start + "\"}");
    return Call("PUT", TargetOf(session), "bytes", {{"x-goog-hash", "crc32c=" + at_end}}).status;
  };
  const std::string right = PutMedia("y", "bytes").json["crc32c"];
  EXPECT_EQ(upload("AAAAAA==", right), 400);
  EXPECT_EQ(upload(right, "AAAAAA=="), 400);
  EXPECT_EQ(Call("GET", kObject).status, 404);
  EXPECT_EQ(upload(right, right), 200);
}

TEST_F(ApiTest, MakesBucketsWithObjectRetention) {
  const Answer made =
      Call("POST", "/storage/v1/b?project=p&enableObjectRetention=true", R"({"name":"kept"})");
  EXPECT_EQ(made.json["objectRetention"]["mode"], "Enabled");
}

}  // namespace
}  // namespace caip::gcs
