// Rules of the service for copies, metadata, customTime, compositions and customers' keys.
#include "base/encoding.h"
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

class ObjectRules : public ApiTest {
 protected:
  static std::string At(const std::string& name) { return "/storage/v1/b/bkt/o/" + name; }
  Answer Patch(const std::string& name, const std::string& body) {
    return Call("PATCH", At(name), body);
  }
  using Fields = std::vector<std::pair<std::string, std::string>>;
  static Fields Key() {
    return {{"x-goog-encryption-algorithm", "AES256"},
            {"x-goog-encryption-key", Base64(std::string(32, 'k'))}};
  }
};

// objects.rewrite: "If the request body is empty, the editable metadata associated with the source
// object is applied to the destination object". Users of the service saw that a body with a part of
// it replaces all: googleapis/google-cloud-ruby#4275, fsouza/fake-gcs-server#2316, minio#5800.
TEST_F(ObjectRules, MetadataOfACopyReplacesThatOfTheSource) {
  PutMedia("a", "1");
  Patch("a", R"({"metadata":{"from":"source","kept":"no"},"contentType":"text/x",
                 "contexts":{"custom":{"c":{"value":"1"}}}})");
  for (const std::string verb : {"rewriteTo", "copyTo"}) {
    const std::string copy = At("a") + "/" + verb + "/b/bkt/o/b";
    Call("POST", copy, R"({"metadata":{"own":"1"},"contexts":{"custom":{"d":{"value":"2"}}}})");
    Json made = Call("GET", At("b")).json;
    EXPECT_EQ(made["metadata"], (Json{{"own", "1"}})) << verb;
    EXPECT_EQ(made["contexts"]["custom"].size(), 1u) << verb;
    EXPECT_EQ(made["contentType"], "application/octet-stream") << verb;
    Call("POST", copy, R"({"contentType":"text/y"})");
    made = Call("GET", At("b")).json;
    EXPECT_FALSE(made.contains("metadata")) << verb;
    EXPECT_EQ(made["contentType"], "text/y") << verb;
    Call("POST", copy, R"({"metadata":null})");
    EXPECT_FALSE(Call("GET", At("b")).json.contains("metadata")) << verb;
  }
}

TEST_F(ObjectRules, NumbersAndBooleansInMetadataBecomeText) {
  PutMedia("a", "1");
  const Answer made = Patch("a", R"({"metadata":{"n":7,"f":0.5,"b":true,"s":"x"}})");
  EXPECT_EQ(made.json["metadata"], (Json{{"b", "true"}, {"f", "0.5"}, {"n", "7"}, {"s", "x"}}));
  EXPECT_EQ(Patch("a", R"({"metadata":{"list":[1]}})").status, 400);
  EXPECT_EQ(Patch("a", R"({"metadata":{"map":{}}})").status, 400);
}

TEST_F(ObjectRules, CustomTimeNeitherGoesBackNorAway) {
  PutMedia("a", "1");
  EXPECT_EQ(Patch("a", R"({"customTime":"2030-01-02T00:00:00Z"})").status, 200);
  EXPECT_EQ(Patch("a", R"({"customTime":"2030-01-01T00:00:00Z"})").status, 400);
  EXPECT_EQ(Patch("a", R"({"customTime":null})").status, 400);
  EXPECT_EQ(Patch("a", R"({"customTime":"2030-01-02T01:00:00+01:00"})").status, 200);  // the same
  EXPECT_EQ(Patch("a", R"({"customTime":"2031-01-01T00:00:00Z"})").status, 200);
  EXPECT_EQ(Call("PUT", At("a"), R"({"contentType":"text/x"})").json["customTime"],
            "2031-01-01T00:00:00Z");
  const std::string rewrite = At("a") + "/rewriteTo/b/bkt/o/a";
  EXPECT_EQ(Call("POST", rewrite, R"({"customTime":"2020-01-01T00:00:00Z"})").status, 200);
  EXPECT_EQ(Call("GET", At("a")).json["customTime"], "2020-01-01T00:00:00Z");
}

// Clients parse these times: google-cloud-storage for Python takes no other form than UTC with "Z".
TEST_F(ObjectRules, TimesAreAnsweredInUtc) {
  PutMedia("a", "1");
  const std::pair<const char*, const char*> cases[] = {
      {"2024-05-05T02:00:00+02:00", "2024-05-05T00:00:00Z"},
      {"2024-05-05t00:00:01.25z", "2024-05-05T00:00:01.250Z"},
      {"2262-04-12T00:00:00Z", "2262-04-12T00:00:00Z"},
      {"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"},
  };
  for (const auto& [given, shown] : cases) {
    const std::string fields = std::string(R"({"customTime":")") + given + "\"}";
    const std::string body =
        "--b\r\n\r\n{\"name\":\"new\"," + fields.substr(1) + "\r\n--b\r\n\r\n1\r\n--b--";
    const Answer made = RawUpload("uploadType=multipart", "multipart/related; boundary=b", body);
    EXPECT_EQ(made.json["customTime"], shown) << made.body;
    EXPECT_EQ(Patch("a", fields).json["customTime"], shown) << given;
    const Answer copy = Call("POST", At("a") + "/rewriteTo/b/bkt/o/c", fields);
    EXPECT_EQ(copy.json["resource"]["customTime"], shown) << copy.body;
    const std::string parts = R"({"sourceObjects":[{"name":"a"}],"destination":)" + fields + "}";
    EXPECT_EQ(Call("POST", At("d") + "/compose", parts).json["customTime"], shown) << given;
    Restart();
    EXPECT_EQ(Call("GET", At("a")).json["customTime"], shown) << given;
  }
  EXPECT_EQ(Patch("a", R"({"customTime":"2300-01-01T00:00:00Z"})").status, 400) << "earlier";
  for (const char* bad : {"10000-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "2024-05-05"}) {
    EXPECT_EQ(Patch("d", std::string(R"({"customTime":")") + bad + "\"}").status, 400) << bad;
  }
}

TEST_F(ObjectRules, TimesThatAnEarlierVersionKeptAsGivenAreAnsweredInUtc) {
  PutMedia("a", "1");
  ObjectInfo stored = *world_->GetObject("bkt", "a");
  stored.custom_time = "2024-05-05T02:00:00+02:00";
  ASSERT_TRUE(world_->UpdateObject(stored, {}).ok());
  EXPECT_EQ(Call("GET", At("a")).json["customTime"], "2024-05-05T00:00:00Z");
}

TEST_F(ObjectRules, AnObjectCanBeRetainedUntilTheYear9999) {
  Call("POST", "/storage/v1/b?project=p&enableObjectRetention=true", R"({"name":"kept"})");
  Call("POST", "/upload/storage/v1/b/kept/o?uploadType=media&name=o", "x");
  const std::string object = "/storage/v1/b/kept/o/o";
  const std::string fields =
      R"({"retention":{"mode":"Locked","retainUntilTime":"9999-12-31T23:59:59+01:00"}})";
  const Answer kept = Call("PATCH", object, fields);
  ASSERT_EQ(kept.status, 200) << kept.body;
  EXPECT_EQ(kept.json["retention"]["retainUntilTime"], "9999-12-31T22:59:59Z");
  EXPECT_EQ(Call("DELETE", object).reason(), "retentionPolicyNotMet");
  const std::string shorter =
      R"({"retention":{"mode":"Locked","retainUntilTime":"9999-12-31T22:59:58Z"}})";
  EXPECT_EQ(Call("PATCH", object, shorter).status, 403);
}

// Nanoseconds since 1970 end in April 2262.
TEST_F(ObjectRules, ARefusalNamesTheEndOfARetentionAlsoAfter2262) {
  Call("POST", "/storage/v1/b?project=p&enableObjectRetention=true", R"({"name":"kept"})");
  const std::pair<const char*, const char*> cases[] = {
      {"2262-04-11T00:00:00.25Z", "2262-04-11T00:00:00.250Z."},
      {"2262-04-12T00:00:00Z", "2262-04-12T00:00:00Z."},
      {"2262-04-12T00:00:00.25Z", "2262-04-12T00:00:00.250Z."},
      {"9999-12-31T23:59:59+01:00", "9999-12-31T22:59:59Z."},
  };
  for (const auto& [end, shown] : cases) {
    Call("POST", "/upload/storage/v1/b/kept/o?uploadType=media&name=o", "x");
    const std::string object = "/storage/v1/b/kept/o/o";
    const std::string fields =
        std::string(R"({"retention":{"mode":"Unlocked","retainUntilTime":")") + end + "\"}}";
    ASSERT_EQ(Call("PATCH", object, fields).status, 200) << end;
    const Answer refused = Call("DELETE", object);
    EXPECT_EQ(refused.reason(), "retentionPolicyNotMet");
    EXPECT_THAT(refused.body, ::testing::HasSubstr(std::string("until ") + shown)) << end;
    Call("PATCH", object + "?overrideUnlockedRetention=true", R"({"retention":null})");
    ASSERT_EQ(Call("DELETE", object).status, 204) << end;
  }
}

TEST_F(ObjectRules, ACompositionThatMayNotDeleteASourceMakesNoObject) {
  PutMedia("a", "1");
  PutMedia("b", "2");
  const std::string body =
      R"({"sourceObjects":[{"name":"a"},{"name":"b"}],"deleteSourceObjects":true})";
  Patch("b", R"({"temporaryHold":true})");
  EXPECT_EQ(Call("POST", At("x") + "/compose", body).reason(), "objectUnderActiveHold");
  EXPECT_EQ(Call("GET", At("x")).status, 404);
  Patch("b", R"({"temporaryHold":false})");
  const std::string bucket = "/storage/v1/b/bkt";
  Call("PATCH", bucket, R"({"retentionPolicy":{"retentionPeriod":"3600"}})");
  EXPECT_EQ(Call("POST", At("x") + "/compose", body).reason(), "retentionPolicyNotMet");
  EXPECT_EQ(Call("GET", At("x")).status, 404);
  EXPECT_EQ(Call("GET", At("a")).status, 200);
  world_.clock().Advance(std::chrono::hours(2));
  EXPECT_EQ(Call("POST", At("x") + "/compose", body).status, 200);
  EXPECT_EQ(Call("GET", At("a")).status, 404);
}

// A live source without a generation becomes noncurrent, which a hold allows. One with a generation
// would be lost.
TEST_F(ObjectRules, AHeldSourceOfACompositionMayBecomeNoncurrent) {
  Call("PATCH", "/storage/v1/b/bkt", R"({"versioning":{"enabled":true}})");
  const std::string a = PutMedia("a", "1").json["generation"];
  Patch("a", R"({"temporaryHold":true})");
  const auto compose = [&](const std::string& source) {
    const std::string body =
        R"({"sourceObjects":[{"name":"a")" + source + R"(}],"deleteSourceObjects":true})";
    return Call("POST", At("x") + "/compose", body).status;
  };
  EXPECT_EQ(compose(R"(,"generation":")" + a + "\""), 403);
  EXPECT_EQ(Call("GET", At("x")).status, 404);
  EXPECT_EQ(compose(""), 200);
  EXPECT_EQ(Call("GET", At("a")).status, 404);
}

TEST_F(ObjectRules, CompositionsDeleteTheGenerationsOfTheirSources) {
  ASSERT_EQ(Call("PATCH", "/storage/v1/b/bkt", R"({"versioning":{"enabled":true}})").status, 200);
  const std::string a = PutMedia("a", "1").json["generation"];
  const std::string old_b = PutMedia("b", "2").json["generation"];
  PutMedia("b", "3");
  const std::string c = PutMedia("c", "4").json["generation"];
  const std::string body = R"({"sourceObjects":[{"name":"a","generation":")" + a +
                           R"("},{"name":"b","generation":")" + old_b +
                           R"("},{"name":"c"}],"deleteSourceObjects":true})";
  EXPECT_EQ(Call("POST", At("x") + "/compose", body).json["size"], "3");
  EXPECT_EQ(Call("GET", At("a") + "?generation=" + a).status, 404);
  EXPECT_EQ(Call("GET", At("b") + "?generation=" + old_b).status, 404);
  EXPECT_EQ(Call("GET", At("b")).status, 200);
  EXPECT_EQ(Call("GET", At("c")).status, 404);
  EXPECT_EQ(Call("GET", At("c") + "?generation=" + c).status, 200);  // now noncurrent
}

TEST_F(ObjectRules, ChecksumsNeedTheKeyOfACustomer) {
  const std::string upload = "/upload/storage/v1/b/bkt/o?uploadType=media&name=k";
  EXPECT_TRUE(Call("POST", upload, "secret", Key()).json.contains("md5Hash"));
  const auto has_sums = [](const Json& json) {
    EXPECT_EQ(json.contains("md5Hash"), json.contains("crc32c")) << CompactJson(json);
    return json.contains("md5Hash");
  };
  EXPECT_FALSE(has_sums(Call("GET", At("k")).json));
  EXPECT_TRUE(has_sums(Call("GET", At("k"), "", Key()).json));
  EXPECT_FALSE(has_sums(Call("GET", "/storage/v1/b/bkt/o").json["items"][0]));
  EXPECT_FALSE(has_sums(Patch("k", R"({"contentType":"text/x"})").json));
  PutMedia("plain", "1");
  EXPECT_TRUE(has_sums(Call("GET", At("plain")).json));
}

}  // namespace
}  // namespace caip::gcs
