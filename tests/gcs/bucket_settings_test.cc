// The settings of a bucket: which values a request may send, and what is
// returned for them.
#include <algorithm>

#include "base/time_text.h"
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSettingsBucket = "/storage/v1/b/bkt";

class BucketSettingsTest : public ApiTest {
 protected:
  Answer Patch(const std::string& body) { return Call("PATCH", kSettingsBucket, body); }
  Answer Insert(const std::string& body) { return Call("POST", "/storage/v1/b?project=p", body); }

  // PATCH, PUT and POST refuse the fields ("\"rpo\":7"), name the field, and
  // change nothing.
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

TEST_F(BucketSettingsTest, HaveValuesThatTheServiceHas) {
  struct Case {
    const char* fields;
    const char* named;
  };
  const Case cases[] = {
      {R"("storageClass":"FOO")", "'storageClass'"},
      {R"("rpo":"SOON")", "'rpo'"},
      {R"("rpo":"ASYNC_TURBO")", "ASYNC_TURBO cannot be enabled on REGION bucket"},
      {R"("storageClass":"MULTI_REGIONAL")", "combination of locationConstraint and storageClass"},
      {R"("labels":{"Upper":"x"})", "'labels'"},
      {R"("labels":{"":"x"})", "'labels'"},
      {R"("labels":{"1a":"x"})", "'labels'"},
      {R"("labels":{"a":"No Good"})", "'labels.a'"},
      {R"("iamConfiguration":{"publicAccessPrevention":"maybe"})",
       "'iamConfiguration.publicAccessPrevention'"},
      {R"("autoclass":{"enabled":true,"terminalStorageClass":"COLDLINE"})",
       "'autoclass.terminalStorageClass'"},
      {R"("autoclass":{"enabled":true},"storageClass":"ARCHIVE")",
       "Cannot set default storage class"},
      {R"("encryption":{"googleManagedEncryptionEnforcementConfig":{"restrictionMode":"x"}})",
       "restrictionMode"},
      {R"("objectRetention":{"mode":"Sometimes"})", "'objectRetention.mode'"},
      {R"("cors":[{"maxAgeSeconds":-1}])", "'cors[0].maxAgeSeconds'"},
      {R"("retentionPolicy":{"retentionPeriod":0})", "'retentionPolicy.retentionPeriod'"},
  };
  for (const Case& row : cases) ExpectRefused(row.fields, row.named);
  const std::string too_long(64, 'a');
  ExpectRefused("\"labels\":{\"" + too_long + "\":\"x\"}", "'labels'");
  ExpectRefused("\"labels\":{\"a\":\"" + too_long + "\"}", "'labels.a'");
  PutMedia("x", "1");
  EXPECT_EQ(Call("PATCH", "/storage/v1/b/bkt/o/x", R"({"storageClass":"FOO"})").status, 400);
  EXPECT_EQ(Insert(R"({"name":"fast","storageClass":"RAPID"})").status, 501);
}

TEST_F(BucketSettingsTest, HaveLifecycleRulesThatTheServiceAccepts) {
  const auto rule = [](const std::string& action, const std::string& condition) {
    return R"("lifecycle":{"rule":[{"action":{)" + action + R"(},"condition":{)" + condition +
           "}}]}";
  };
  const std::string age = R"("age":1)";
  const std::pair<std::string, std::string> bad[] = {
      {rule(R"("type":"Fly")", age), "action.type"},
      {rule("", age), "action.type"},
      {rule(R"("type":"SetStorageClass")", age), "action.storageClass"},
      {rule(R"("type":"SetStorageClass","storageClass":"FOO")", age), "action.storageClass"},
      {rule(R"("type":"Delete","storageClass":"NEARLINE")", age), "action.storageClass"},
      {rule(R"("type":"Delete")", ""), "condition"},
      {rule(R"("type":"Delete")", R"("matchesPrefix":[])"), "condition"},
      {rule(R"("type":"Delete")", R"("age":-1)"), "condition.age"},
      {rule(R"("type":"Delete")", R"("matchesStorageClass":["FOO"])"),
       "condition.matchesStorageClass[0]"},
      {rule(R"("type":"AbortIncompleteMultipartUpload")", R"("isLive":true)"), "condition.isLive"},
      {R"("lifecycle":{"rule":[{"condition":{"age":1}}]})", "lifecycle.rule[0].action"},
      {R"("lifecycle":{"rule":[{"action":{"type":"Delete"}}]})", "lifecycle.rule[0].condition"},
      {R"("autoclass":{"enabled":true},)" +
           rule(R"("type":"SetStorageClass","storageClass":"NEARLINE")", age),
       "Autoclass"},
  };
  for (const auto& [fields, named] : bad) ExpectRefused(fields, named);
  for (const std::string& fields :
       {rule(R"("type":"SetStorageClass","storageClass":"NEARLINE")", R"("isLive":false)"),
        rule(R"("type":"AbortIncompleteMultipartUpload")", R"("age":7,"matchesSuffix":["x"])"),
        rule(R"("type":"Delete")", R"("age":0,"createdBefore":"2013-01-15")")}) {
    EXPECT_EQ(Patch("{" + fields + "}").status, 200) << fields;
  }
}

TEST_F(BucketSettingsTest, ALocationIsOneOfTheServiceAndStays) {
  EXPECT_THAT(Insert(R"({"name":"mars","location":"MARS"})").body,
              HasSubstr("The specified location constraint is not valid"));
  for (const char* bad :
       {R"("location":"IN")", R"("location":"x1+x2")", R"("location":"US-EAST1+EUROPE-WEST1")",
        R"("customPlacementConfig":{"dataLocations":["US-EAST1"]})",
        R"("customPlacementConfig":{"dataLocations":["US-EAST1","MARS"]})",
        R"("location":"EU","customPlacementConfig":{"dataLocations":["US-EAST1","US-WEST1"]})",
        R"("location":"EU","storageClass":"REGIONAL")", R"("location":"US","rpo":"ASYNC_TURBO")"}) {
    const Answer answer = Insert("{\"name\":\"mars\"," + std::string(bad) + "}");
    EXPECT_EQ(answer.status, 400) << bad << answer.body;
    EXPECT_EQ(answer.reason(), "invalid") << bad;
  }
  EXPECT_EQ(Call("GET", "/storage/v1/b/mars").status, 404);
  ExpectRefused(R"("location":"MARS")", "");
  EXPECT_EQ(Patch(R"({"location":"EU"})").status, 400);
  EXPECT_EQ(Patch(R"({"location":"us-central1"})").status, 200);
  EXPECT_EQ(Patch(R"({"customPlacementConfig":{"dataLocations":["US-EAST1","US-WEST1"]}})").status,
            400);
}

TEST_F(BucketSettingsTest, APairOfRegionsIsADualRegion) {
  struct Case {
    const char* name;
    const char* fields;
    const char* location;
  };
  for (const Case& row :
       {Case{"by-placement", R"("customPlacementConfig":{"dataLocations":["us-east1","us-east4"]})",
             "US"},
        Case{"by-sum", R"("location":"us-east1+us-east4")", "US"}}) {
    const Answer answer = Insert("{\"name\":\"" + std::string(row.name) + "\"," + row.fields + "}");
    EXPECT_EQ(answer.json["location"], row.location) << answer.body;
    EXPECT_EQ(answer.json["locationType"], "dual-region");
    EXPECT_EQ(answer.json["customPlacementConfig"]["dataLocations"],
              Json::array({"US-EAST1", "US-EAST4"}));
    const Answer put = Call("PUT", std::string("/storage/v1/b/") + row.name,
                            R"({"rpo":"ASYNC_TURBO","location":"US"})");
    EXPECT_EQ(put.json["rpo"], "ASYNC_TURBO") << put.body;
    EXPECT_EQ(put.json["locationType"], "dual-region");
  }
}

TEST_F(BucketSettingsTest, AnEmptySettingIsDropped) {
  Patch(
      R"({"cors":[{"origin":["*"]}],"website":{"notFoundPage":"x"},
          "lifecycle":{"rule":[{"action":{"type":"Delete"},"condition":{"age":1}}]}})");
  const Answer answer =
      Patch(R"({"cors":[],"lifecycle":{"rule":[]},"website":{"notFoundPage":null},"logging":{}})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  for (const char* name : {"cors", "lifecycle", "website", "logging"}) {
    EXPECT_FALSE(answer.json.contains(name)) << name;
  }
  EXPECT_EQ(Patch(R"({"versioning":{"enabled":false}})").json["versioning"]["enabled"], false);
  EXPECT_EQ(Patch(R"({"defaultEventBasedHold":false})").json["defaultEventBasedHold"], false);
}

TEST_F(BucketSettingsTest, AHoldThatWasReleasedIsFalse) {
  const std::string object = "/storage/v1/b/bkt/o/x";
  PutMedia("x", "1");
  EXPECT_FALSE(Call("GET", object).json.contains("temporaryHold"));
  for (const char* hold : {"temporaryHold", "eventBasedHold"}) {
    for (const bool value : {false, true, false}) {
      const Json body = {{hold, value}};
      EXPECT_EQ(Call("PATCH", object, CompactJson(body)).json[hold], value) << hold;
      Restart();
      EXPECT_EQ(Call("GET", object).json[hold], value) << hold;
    }
    EXPECT_FALSE(Call("PATCH", object, CompactJson(Json{{hold, nullptr}})).json.contains(hold));
  }
  Call("PATCH", object, R"({"temporaryHold":false})");
  const Answer copied = Call("POST", object + "/rewriteTo/b/bkt/o/y");
  EXPECT_FALSE(copied.json["resource"].contains("temporaryHold")) << copied.body;
}

TEST_F(BucketSettingsTest, TheServiceSaysWhenAutoclassWasSwitched) {
  EXPECT_EQ(Patch(R"({"storageClass":"NEARLINE"})").status, 200);
  const Json on = Patch(R"({"autoclass":{"enabled":true}})").json;
  EXPECT_EQ(on["storageClass"], "STANDARD");
  EXPECT_EQ(on["autoclass"]["terminalStorageClass"], "NEARLINE");
  EXPECT_EQ(on["autoclass"]["toggleTime"], on["updated"]);
  EXPECT_EQ(on["autoclass"]["terminalStorageClassUpdateTime"], on["updated"]);
  world_.clock().Advance(std::chrono::hours(1));
  const Json deeper = Patch(R"({"autoclass":{"terminalStorageClass":"ARCHIVE"}})").json;
  EXPECT_EQ(deeper["autoclass"]["toggleTime"], on["updated"]);
  EXPECT_EQ(deeper["autoclass"]["terminalStorageClassUpdateTime"], deeper["updated"]);
  world_.clock().Advance(std::chrono::hours(1));
  Json put = deeper;
  EXPECT_EQ(Call("PUT", kSettingsBucket, CompactJson(put)).json["autoclass"], deeper["autoclass"]);
  const Json off =
      Patch(R"({"autoclass":{"enabled":false,"terminalStorageClass":"ARCHIVE"}})").json;
  EXPECT_EQ(off["autoclass"], Json({{"enabled", false}, {"toggleTime", off["updated"]}}));
}

TEST_F(BucketSettingsTest, TheServiceDerivesTimesAndReplication) {
  const Json bucket = Call("GET", kSettingsBucket).json;
  EXPECT_EQ(bucket["locationType"], "region");
  EXPECT_FALSE(bucket.contains("rpo"));
  EXPECT_EQ(bucket["softDeletePolicy"]["effectiveTime"], bucket["timeCreated"]);
  EXPECT_EQ(Insert(R"({"name":"in-europe","location":"EU"})").json["rpo"], "DEFAULT");
  EXPECT_EQ(Insert(R"({"name":"in-two","location":"NAM4"})").json["rpo"], "DEFAULT");
  const Json uniform =
      Patch(R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})").json;
  const auto access = [](const Json& json) {
    return json["iamConfiguration"]["uniformBucketLevelAccess"];
  };
  ASSERT_TRUE(access(uniform).contains("lockedTime")) << uniform;
  const auto updated = ParseRfc3339(uniform["updated"].get<std::string>());
  const auto locked = ParseRfc3339(access(uniform)["lockedTime"].get<std::string>());
  EXPECT_EQ(*locked - *updated, std::chrono::hours(24 * 90));
  EXPECT_EQ(uniform["iamConfiguration"]["bucketPolicyOnly"], access(uniform));
  world_.clock().Advance(std::chrono::hours(1));
  EXPECT_EQ(access(Patch(R"({"labels":{"a":"b"}})").json), access(uniform));
  const Json open =
      Patch(R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":false}}})").json;
  EXPECT_EQ(access(open), Json({{"enabled", false}}));
}

TEST_F(BucketSettingsTest, KeysThatWereNeverRestrictedHaveNoEffectiveTime) {
  constexpr const char* kKind = "customerManagedEncryptionEnforcementConfig";
  const auto set = [&](const std::string& mode) {
    const Json config = {{"encryption", {{kKind, {{"restrictionMode", mode}}}}}};
    const Json bucket = Patch(CompactJson(config)).json;
    EXPECT_EQ(Call("GET", kSettingsBucket).json, bucket);
    return bucket["encryption"][kKind].value("effectiveTime", Json()) == bucket["updated"];
  };
  EXPECT_FALSE(set("NotRestricted"));
  EXPECT_TRUE(set("FullyRestricted"));
  world_.clock().Advance(std::chrono::hours(1));
  EXPECT_TRUE(set("NotRestricted"));
}

// gcloud switches a filter off by this, with --clear-ip-filter.
TEST_F(BucketSettingsTest, AFilterOfAddressesMayBeOff) {
  const Json off = {{"mode", "Disabled"}};
  EXPECT_EQ(Patch(R"({"ipFilter":{"mode":"Disabled"}})").json["ipFilter"], off);
  EXPECT_EQ(Patch(R"({"ipFilter":{"mode":"Enabled"}})").status, 501);
  EXPECT_EQ(Call("GET", kSettingsBucket).json["ipFilter"], off);
  EXPECT_EQ(Patch(R"({"ipFilter":null})").status, 200);
  EXPECT_FALSE(Call("GET", kSettingsBucket).json.contains("ipFilter"));
}

TEST_F(BucketSettingsTest, ABucketBelongsToTheNumberedProject) {
  const std::string full = "&projection=full&predefinedAcl=private";
  const Json made = Call("POST", "/storage/v1/b?project=p" + full, R"({"name":"own"})").json;
  EXPECT_EQ(made["projectNumber"], "123");
  EXPECT_EQ(made["owner"]["entity"], "project-owners-123");
  EXPECT_EQ(made["acl"][0]["entity"], "project-owners-123");
  EXPECT_EQ(made["acl"][0]["projectTeam"]["projectNumber"], "123");
  EXPECT_EQ(made["defaultObjectAcl"][1]["entity"], "project-editors-123");
  EXPECT_EQ(Call("GET", "/storage/v1/b/own/acl/project-owners-123").status, 200);
  EXPECT_EQ(Call("GET", "/storage/v1/b?project=p").json["items"][0]["projectNumber"], "123");
  PutMedia("x", "1");
  const Json object = Call("GET", "/storage/v1/b/bkt/o/x?projection=full").json;
  EXPECT_EQ(object["owner"]["entity"], "project-owners-123");
  EXPECT_EQ(object["acl"][2]["entity"], "project-viewers-123");
}

TEST_F(BucketSettingsTest, ANewBucketHasThePolicyOfTheService) {
  ASSERT_EQ(Insert(R"({"name":"own"})").status, 200);
  const auto binding = [](const std::string& role, const Json& members) {
    return Json{{"role", "roles/storage." + role}, {"members", members}};
  };
  const Json owners = Json::array({"projectEditor:p", "projectOwner:p"});
  const Json viewers = Json::array({"projectViewer:p"});
  Json wanted =
      Json::array({binding("legacyBucketOwner", owners), binding("legacyBucketReader", viewers)});
  EXPECT_EQ(Call("GET", "/storage/v1/b/own/iam").json["bindings"], wanted);
  Call("PATCH", "/storage/v1/b/own",
       R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})");
  wanted.push_back(binding("legacyObjectOwner", owners));
  wanted.push_back(binding("legacyObjectReader", viewers));
  EXPECT_EQ(Call("GET", "/storage/v1/b/own/iam").json["bindings"], wanted);
  Call("POST", "/storage/v1/b/own/managedFolders", R"({"name":"a"})");
  EXPECT_FALSE(Call("GET", "/storage/v1/b/own/managedFolders/a%2F/iam").json.contains("bindings"));
}

TEST_F(BucketSettingsTest, ANewBucketWithUniformAccessHasNoAccessLists) {
  const std::string name = R"({"name":"new")";
  for (const char* access : {"uniformBucketLevelAccess", "bucketPolicyOnly"}) {
    for (const char* list : {"acl", "defaultObjectAcl"}) {
      Json fields = {{"name", "new"}};
      fields["iamConfiguration"][access]["enabled"] = true;
      fields[list].push_back({{"entity", "user-a@b.c"}, {"role", "READER"}});
      const Answer refused = Insert(fields.dump());
      EXPECT_EQ(refused.status, 400) << refused.body;
      EXPECT_THAT(refused.body, HasSubstr("when uniform bucket-level access is enabled"));
      EXPECT_EQ(Call("GET", "/storage/v1/b/new").status, 404);
    }
  }
  EXPECT_EQ(Insert(name + R"(,"acl":[],"iamConfiguration":{"bucketPolicyOnly":{"enabled":true}}})")
                .status,
            200);
}

TEST_F(BucketSettingsTest, NullClearsBothNamesOfUniformAccess) {
  const char* names[] = {"uniformBucketLevelAccess", "bucketPolicyOnly"};
  for (const char* cleared : names) {
    Patch(R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})");
    const Json patch = {{"iamConfiguration", {{cleared, nullptr}}}};
    const Json shown = Patch(patch.dump()).json["iamConfiguration"];
    for (const char* name : names) EXPECT_EQ(shown[name]["enabled"], false) << cleared << shown;
    EXPECT_EQ(Call("GET", std::string(kSettingsBucket) + "/acl").status, 200) << cleared;
  }
}

TEST_F(BucketSettingsTest, ATerminalClassWithoutAutoclassIsIgnored) {
  const Answer answer = Patch(R"({"autoclass":{"terminalStorageClass":"NEARLINE"}})");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_FALSE(answer.json.contains("autoclass")) << answer.body;
}

TEST_F(BucketSettingsTest, DatesOfLifecycleRulesHaveAYearFrom1To9999) {
  const auto before = [&](const std::string& date) {
    return Patch(R"({"lifecycle":{"rule":[{"action":{"type":"Delete"},"condition":)"
                 R"({"customTimeBefore":")" +
                 date + R"("}}]}})")
        .status;
  };
  for (const char* date : {"0001-01-01", "2262-04-12", "9999-12-31"}) {
    EXPECT_EQ(before(date), 200) << date;
  }
  for (const char* date : {"0000-01-01", "10000-01-01", "2023-02-29"}) {
    EXPECT_EQ(before(date), 400) << date;
  }
}

TEST_F(BucketSettingsTest, UniformAccessRefusesAccessLists) {
  PutMedia("x", "1");
  const std::string list = R"([{"entity":"allUsers","role":"READER"}])";
  const std::string on = R"("iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}})";
  EXPECT_EQ(Patch("{" + on + ",\"acl\":" + list + "}").status, 400);
  const Json full = Call("GET", std::string(kSettingsBucket) + "?projection=full").json;
  ASSERT_TRUE(full.contains("defaultObjectAcl")) << full;
  const std::string own =
      "\"acl\":" + full["acl"].dump() + ",\"defaultObjectAcl\":" + full["defaultObjectAcl"].dump();
  ASSERT_EQ(Patch("{" + on + "," + own + "}").status, 200) << "gcloud sends back what it has read";
  const std::string before = Call("GET", kSettingsBucket).json["metageneration"];
  const std::string object = "/storage/v1/b/bkt/o/x";
  const std::string upload = "/upload/storage/v1/b/bkt/o?uploadType=";
  struct Case {
    const char* method;
    std::string target;
    std::string body;
    const char* words;
  };
  const char* of_bucket = "Cannot use ACL API to update bucket policy when uniform bucket-level";
  const char* of_object = "Cannot update access control for an object when uniform bucket-level";
  const char* of_new = "Cannot insert legacy ACL for an object when uniform bucket-level";
  const Case cases[] = {
      {"PATCH", kSettingsBucket, "{\"acl\":" + list + "}", of_bucket},
      {"PATCH", kSettingsBucket, "{\"defaultObjectAcl\":" + list + "}", of_bucket},
      {"PUT", kSettingsBucket, "{" + on + ",\"acl\":" + list + "}", of_bucket},
      {"POST", "/storage/v1/b/bkt/acl", R"({"entity":"allUsers","role":"READER"})", of_bucket},
      {"GET", "/storage/v1/b/bkt/acl", "", "Cannot get legacy ACL for a bucket"},
      {"GET", object + "/acl", "", "Cannot get legacy ACL for an object"},
      {"POST", object + "/acl", R"({"entity":"allUsers","role":"READER"})", of_object},
      {"PATCH", object, "{\"acl\":" + list + "}", of_object},
      {"PATCH", object + "?predefinedAcl=publicRead", "{}", of_object},
      {"POST", upload + "media&name=y&predefinedAcl=publicRead", "1", of_new},
      {"POST", upload + "resumable&name=y", "{\"acl\":" + list + "}", of_new},
      {"POST", object + "/rewriteTo/b/bkt/o/y", "{\"acl\":" + list + "}", of_new},
  };
  for (const Case& row : cases) {
    const Answer answer = Call(row.method, row.target, row.body);
    EXPECT_EQ(answer.status, 400) << row.method << " " << row.target << answer.body;
    EXPECT_EQ(answer.reason(), "invalid") << row.target;
    EXPECT_THAT(answer.body, HasSubstr(row.words)) << row.method << " " << row.target;
  }
  EXPECT_EQ(Patch(R"({"acl":[],"defaultObjectAcl":null})").status, 200);
  EXPECT_NE(Call("GET", kSettingsBucket).json["metageneration"], before);
  EXPECT_FALSE(world_.Has("y"));
}

// The service gives lists of access in no certain order, and clients sort them.
TEST_F(BucketSettingsTest, UniformAccessTakesTheSameListsInAnotherOrderOnly) {
  const Json full = Call("GET", std::string(kSettingsBucket) + "?projection=full").json;
  const auto switch_on = [&](const char* name, const Json& list) {
    Json fields = {{"iamConfiguration", {{"uniformBucketLevelAccess", {{"enabled", true}}}}}};
    fields[name] = list;
    return Patch(fields.dump());
  };
  for (const char* name : {"acl", "defaultObjectAcl"}) {
    ASSERT_GE(full[name].size(), 2u) << full;
    Json reversed = full[name];
    std::reverse(reversed.begin(), reversed.end());
    ASSERT_NE(reversed, full[name]);
    Json other_role = reversed;
    other_role[0]["role"] = other_role[0]["role"] == "OWNER" ? "READER" : "OWNER";
    Json other_entity = reversed;
    other_entity[0]["entity"] = "user-a@b.c";
    Json twice = reversed;
    twice[0] = twice[1];
    Json longer = reversed;
    longer.push_back({{"entity", "user-a@b.c"}, {"role", "READER"}});
    Json shorter = reversed;
    shorter.erase(0);
    for (const Json& changed : {other_role, other_entity, twice, longer, shorter}) {
      EXPECT_EQ(switch_on(name, changed).status, 400) << changed;
    }
    EXPECT_EQ(Call("GET", std::string(kSettingsBucket) + "/acl").status, 200) << "not switched on";
    const Answer taken = switch_on(name, reversed);
    EXPECT_EQ(taken.status, 200) << taken.body;
    Patch(R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":false}}})");
  }
}

}  // namespace
}  // namespace caip::gcs
