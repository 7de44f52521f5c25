// The settings of a bucket: which values a request may send, and what is returned for them.
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSettingsBucket = "/storage/v1/b/bkt";

class BucketSettingsTest : public ApiTest {
 protected:
  Answer Patch(const std::string& body) { return Call("PATCH", kSettingsBucket, body); }
  Answer Insert(const std::string& body) { return Call("POST", "/storage/v1/b?project=p", body); }

  // PATCH, PUT and POST refuse the fields ("\"rpo\":7"), name the field, and change nothing.
  void ExpectRefused(const std::string& fields, const std::string& named) {
    const std::string body = "{" + fields + "}";
    for (const Answer& answer : {Patch(body), Call("PUT", kSettingsBucket, body),
                                 Insert("{\"name\":\"other\"," + fields + "}")}) {
      EXPECT_EQ(answer.status, 400) << fields << answer.body;
      EXPECT_EQ(answer.reason(), "invalid") << fields;
      EXPECT_THAT(answer.body, HasSubstr(named)) << fields;
    }
    EXPECT_EQ(Call("GET", kSettingsBucket).json["metageneration"], "1") << fields;
    EXPECT_EQ(Call("GET", "/storage/v1/b/other").status, 404) << fields;
  }
};

TEST_F(BucketSettingsTest, HaveTheTypesOfTheApiDescriptionAtEveryDepth) {
  struct Case {
    const char* fields;
    const char* named;
  };
  const Case cases[] = {
      {R"("versioning":{"enabled":"maybe"})", "versioning.enabled"},
      {R"("versioning":[])", "versioning"},
      {R"("labels":{"a":["b"]})", "labels.a"},
      {R"("location":7)", "location"},
      {R"("storageClass":{})", "storageClass"},
      {R"("rpo":true)", "rpo"},
      {R"("acl":{})", "acl"},
      {R"("defaultObjectAcl":[{"entity":7,"role":"OWNER"}])", "defaultObjectAcl[0].entity"},
      {R"("autoclass":{"enabled":1})", "autoclass.enabled"},
      {R"("billing":{"requesterPays":"yes"})", "billing.requesterPays"},
      {R"("cors":[{"method":"GET"}])", "cors[0].method"},
      {R"("cors":[{},{"maxAgeSeconds":1.5}])", "cors[1].maxAgeSeconds"},
      {R"("cors":[null])", "cors[0]"},
      {R"("customPlacementConfig":{"dataLocations":[1,2]})",
       "customPlacementConfig.dataLocations[0]"},
      {R"("encryption":{"defaultKmsKeyName":[]})", "encryption.defaultKmsKeyName"},
      {R"("hierarchicalNamespace":{"enabled":"x"})", "hierarchicalNamespace.enabled"},
      {R"("iamConfiguration":{"uniformBucketLevelAccess":{"enabled":"x"}})",
       "iamConfiguration.uniformBucketLevelAccess.enabled"},
      {R"("iamConfiguration":{"publicAccessPrevention":true})",
       "iamConfiguration.publicAccessPrevention"},
      {R"("lifecycle":[])", "lifecycle"},
      {R"("lifecycle":{"rule":{}})", "lifecycle.rule"},
      {R"("lifecycle":{"rule":[{"action":"Delete"}]})", "lifecycle.rule[0].action"},
      {R"("lifecycle":{"rule":[{"condition":{"age":"old"}}]})", "lifecycle.rule[0].condition.age"},
      {R"("lifecycle":{"rule":[{"condition":{"age":3000000000}}]})",
       "lifecycle.rule[0].condition.age"},
      {R"("lifecycle":{"rule":[{"condition":{"isLive":"true"}}]})",
       "lifecycle.rule[0].condition.isLive"},
      {R"("lifecycle":{"rule":[{"condition":{"createdBefore":"2013-02-30"}}]})",
       "lifecycle.rule[0].condition.createdBefore"},
      {R"("lifecycle":{"rule":[{"condition":{"matchesPrefix":"a"}}]})",
       "lifecycle.rule[0].condition.matchesPrefix"},
      {R"("logging":{"logBucket":1})", "logging.logBucket"},
      {R"("retentionPolicy":{"retentionPeriod":"1.5"})", "retentionPolicy.retentionPeriod"},
      {R"("softDeletePolicy":{"retentionDurationSeconds":18446744073709551615})",
       "softDeletePolicy.retentionDurationSeconds"},
      {R"("website":{"notFoundPage":404})", "website.notFoundPage"},
  };
  for (const Case& row : cases) ExpectRefused(row.fields, "'" + std::string(row.named) + "'");
  EXPECT_EQ(Insert(R"({"name":7})").status, 400);
}

TEST_F(BucketSettingsTest, AreReturnedInTheFormOfTheService) {
  const Answer answer = Patch(
      R"({"lifecycle":{"rule":[{"action":{"type":"Delete"},
                                "condition":{"age":"30","isLive":null,"matchesPrefix":[]}}]},
          "cors":[{"maxAgeSeconds":60.0}],"retentionPolicy":{"retentionPeriod":100},
          "logging":{"logBucket":"logs","unknown":1},"unknown":{"x":1}})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.json["lifecycle"]["rule"][0]["condition"], Json({{"age", 30}}));
  EXPECT_EQ(answer.json["cors"][0], Json({{"maxAgeSeconds", 60}}));
  EXPECT_EQ(answer.json["retentionPolicy"]["retentionPeriod"], "100");
  EXPECT_EQ(answer.json["logging"], Json({{"logBucket", "logs"}}));
  EXPECT_FALSE(answer.json.contains("unknown"));
}

TEST_F(BucketSettingsTest, KeepWhatOnlyTheServiceSets) {
  const Answer answer =
      Patch(R"({"retentionPolicy":{"retentionPeriod":"100","isLocked":true,"effectiveTime":"x"}})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_FALSE(answer.json["retentionPolicy"].contains("isLocked"));
  EXPECT_NE(answer.json["retentionPolicy"]["effectiveTime"], "x");
}

}  // namespace
}  // namespace caip::gcs
