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
