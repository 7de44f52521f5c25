// Requests with wrong types and values in objects, access lists, IAM policies and notification
// configurations are refused, and nothing of them is stored.
#include "tests/gcs/api_world.h"
#include "tests/support/large_bodies.h"

namespace caip::gcs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTypesBucket = "/storage/v1/b/bkt";
constexpr const char* kTypesObject = "/storage/v1/b/bkt/o/x";

class ResourceTypesTest : public ApiTest {
 protected:
  ResourceTypesTest() { PutMedia("x", "bytes"); }

  // Refused with 400, by a message that names the field, and without a trace in what `read` gives.
  void ExpectRefused(const std::string& method, const std::string& target, const std::string& body,
                     const std::string& named, const std::string& read) {
    const Json before = Call("GET", read).json;
    const Answer answer = Call(method, target, body);
    EXPECT_EQ(answer.status, 400) << method << " " << target << " " << body << answer.body;
    EXPECT_THAT(answer.body, HasSubstr(named)) << body;
    EXPECT_EQ(Call("GET", read).json, before) << body;
  }
  void ExpectObjectRefused(const std::string& fields, const std::string& named) {
    const std::string body = "{" + fields + "}";
    const std::string full = std::string(kTypesObject) + "?projection=full";
    for (const char* method : {"PATCH", "PUT"}) {
      ExpectRefused(method, kTypesObject, body, named, full);
    }
    ExpectRefused("POST", std::string(kTypesObject) + "/rewriteTo/b/bkt/o/copy", body, named, full);
    ExpectRefused("POST", "/upload/storage/v1/b/bkt/o?uploadType=resumable&name=y", body, named,
                  full);
    ExpectRefused("POST", "/storage/v1/b/bkt/o/y/compose",
                  R"({"sourceObjects":[{"name":"x"}],"destination":)" + body + "}",
                  named.starts_with("'") ? "'destination." + named.substr(1) : named, full);
    EXPECT_EQ(Call("GET", "/storage/v1/b/bkt/o/copy").status, 404) << fields;
    EXPECT_EQ(Call("GET", "/storage/v1/b/bkt/o/y").status, 404) << fields;
  }
};

TEST_F(ResourceTypesTest, OfObjectsAreThoseOfTheApiDescription) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("contentType":7)", "'contentType'"},
      {R"("md5Hash":5)", "'md5Hash'"},
      {R"("crc32c":{})", "'crc32c'"},
      {R"("temporaryHold":"yes")", "'temporaryHold'"},
      {R"("customTime":"yesterday")", "'customTime'"},
      {R"("storageClass":"FAST")", "'storageClass'"},
      {R"("metadata":[1])", "'metadata'"},
      {R"("metadata":{"k":[1]})", "'metadata.k'"},
      {R"("retention":[])", "'retention'"},
      {R"("retention":{"mode":true})", "'retention.mode'"},
      {R"("retention":{"mode":"Locked","retainUntilTime":5})", "'retention.retainUntilTime'"},
      {R"("contexts":{"custom":[]})", "'contexts.custom'"},
      {R"("contexts":{"custom":{"a":"text"}})", "'contexts.custom.a'"},
      {R"("contexts":{"custom":{"a":{"value":5}}})", "'contexts.custom.a.value'"},
      {R"("contexts":{"custom":{"a":{"value":["b"]}}})", "'contexts.custom.a.value'"},
      {R"("contexts":{"custom":{"a":{"value":""}}})", "'contexts.custom.a.value'"},
      {R"("contexts":{"custom":{"a/b":{"value":"c"}}})", "'contexts.custom.a/b'"},
      {R"("contexts":{"custom":{"-a":{"value":"c"}}})", "'contexts.custom.-a'"},
      {R"("contexts":{"custom":{"google:a":{"value":"c"}}})", "'contexts.custom.google:a'"},
      {R"("acl":{})", "'acl'"},
      {R"("acl":["allUsers"])", "'acl[0]'"},
      {R"("acl":[{"entity":7,"role":"READER"}])", "'acl[0].entity'"},
      {R"("acl":[{"entity":"allUsers"}])", "'acl[0].role'"},
      {R"("acl":[{"entity":"allUsers","role":"WRITER"}])", "'acl[0].role'"},
      {R"("acl":[{"entity":"king","role":"OWNER"}])", "'acl[0].entity'"},
  };
  for (const auto& [fields, named] : cases) ExpectObjectRefused(fields, named);
}

TEST_F(ResourceTypesTest, OfAccessEntriesAreThoseOfTheApiDescription) {
  const std::string bucket = kTypesBucket;
  const std::string object = kTypesObject;
  struct Case {
    std::string list;
    const char* body;
    const char* named;
  };
  std::vector<Case> cases = {
      {object + "/acl", R"({"entity":"allUsers","role":"WRITER"})", "'role'"},
      {bucket + "/defaultObjectAcl", R"({"entity":"allUsers","role":"WRITER"})", "'role'"},
  };
  for (const std::string& list : {bucket + "/acl", bucket + "/defaultObjectAcl", object + "/acl"}) {
    cases.push_back({list, R"({"entity":7,"role":"READER"})", "'entity'"});
    cases.push_back({list, R"({"entity":["allUsers"],"role":"READER"})", "'entity'"});
    cases.push_back({list, R"({"entity":"allUsers","role":{}})", "'role'"});
    cases.push_back({list, R"({"entity":"allUsers","role":"KING"})", "'role'"});
    cases.push_back({list, R"({"entity":"allUsers"})", "'role'"});
    cases.push_back({list, R"({"role":"READER"})", "'entity'"});
    for (const char* entity :
         {"king", "user-", "group", "project-owners-", "project-kings-1", "allusers", "domain"}) {
      EXPECT_EQ(
          Call("POST", list, CompactJson(Json{{"entity", entity}, {"role", "READER"}})).status, 400)
          << entity;
    }
  }
  for (const Case& row : cases) ExpectRefused("POST", row.list, row.body, row.named, row.list);
  EXPECT_EQ(Call("PUT", bucket + "/acl/king", R"({"role":"READER"})").status, 400);
  EXPECT_EQ(Call("PUT", bucket + "/acl/allUsers", R"({"entity":7,"role":"READER"})").status, 400);
}

TEST_F(ResourceTypesTest, TakeEveryFormOfAnEntity) {
  for (const char* entity : {"user-1", "user-a@example.com", "group-2", "group-b@example.com",
                             "domain-example.com", "project-owners-1", "project-editors-1",
                             "project-viewers-1", "allUsers", "allAuthenticatedUsers"}) {
    const std::string body = CompactJson(Json{{"entity", entity}, {"role", "READER"}});
    EXPECT_EQ(Call("POST", std::string(kTypesBucket) + "/acl", body).status, 200) << entity;
  }
}

TEST_F(ResourceTypesTest, LetOnlyBucketsHaveWriters) {
  const std::string upload = "/upload/storage/v1/b/bkt/o?uploadType=media&name=y&predefinedAcl=";
  EXPECT_EQ(Call("POST", upload + "publicReadWrite", "").status, 400);
  EXPECT_EQ(Call("POST", upload + "bucketOwnerRead", "").status, 200);
  const auto insert = [&](const std::string& name, const std::string& query) {
    return Call("POST", "/storage/v1/b?project=p&" + query, "{\"name\":\"" + name + "\"}").status;
  };
  EXPECT_EQ(insert("bucket-a", "predefinedAcl=publicReadWrite"), 200);
  EXPECT_EQ(insert("bucket-b", "predefinedAcl=bucketOwnerRead"), 400);
  EXPECT_EQ(insert("bucket-c", "predefinedDefaultObjectAcl=publicReadWrite"), 400);
  EXPECT_EQ(insert("bucket-d", "predefinedDefaultObjectAcl=bucketOwnerRead"), 200);
  EXPECT_EQ(
      Call("PATCH", kTypesBucket, R"({"defaultObjectAcl":[{"entity":"allUsers","role":"WRITER"}]})")
          .status,
      400);
}

TEST_F(ResourceTypesTest, OfPoliciesAreThoseOfTheApiDescription) {
  const std::string iam = std::string(kTypesBucket) + "/iam";
  const auto binding = [](const std::string& more) {
    return R"({"version":3,"bindings":[{"role":"roles/storage.admin","members":["allUsers"],)" +
           more + "}]}";
  };
  const std::pair<std::string, const char*> cases[] = {
      {R"({"bindings":{}})", "'bindings'"},
      {R"({"bindings":[7]})", "'bindings[0]'"},
      {R"({"bindings":[{"members":["allUsers"]}]})", "'bindings[0].role'"},
      {R"({"bindings":[{"role":7,"members":["allUsers"]}]})", "'bindings[0].role'"},
      {R"({"bindings":[{"role":"admin","members":["allUsers"]}]})", "The role name must be"},
      {R"({"bindings":[{"role":"roles/storage.admin"}]})", "'bindings[0].members'"},
      {R"({"bindings":[{"role":"roles/storage.admin","members":"allUsers"}]})",
       "'bindings[0].members'"},
      {R"({"bindings":[{"role":"roles/storage.admin","members":[7]}]})",
       "'bindings[0].members[0]'"},
      {R"({"bindings":[{"role":"roles/storage.admin","members":["a@b.c"]}]})",
       "The member a@b.c is of an unknown type."},
      {binding(R"("condition":"never")"), "'bindings[0].condition'"},
      {binding(R"("condition":{})"), "'bindings[0].condition.expression'"},
      {binding(R"("condition":{"expression":true})"), "'bindings[0].condition.expression'"},
      {binding(R"("condition":{"expression":"true","title":[]})"), "'bindings[0].condition.title'"},
      {R"({"version":2})", "'version'"},
      {R"({"version":"three"})", "'version'"},
      {R"({"etag":5})", "'etag'"},
      {R"({"etag":"no base64"})", "'etag'"},
  };
  for (const auto& [body, named] : cases) ExpectRefused("PUT", iam, body, named, iam);
}

TEST_F(ResourceTypesTest, TakeConditionsOnlyWithVersion3AndUniformAccess) {
  const std::string iam = std::string(kTypesBucket) + "/iam";
  const auto policy = [](int version) {
    return CompactJson(Json{{"version", version},
                            {"bindings",
                             {{{"role", "roles/storage.admin"},
                               {"members", {"user:a@example.com"}},
                               {"condition", {{"title", "t"}, {"expression", "true"}}}}}}});
  };
  for (const int version : {1, 3}) {
    const Answer refused = Call("PUT", iam, policy(version));
    EXPECT_EQ(refused.status, 412) << version;
    EXPECT_THAT(refused.body, HasSubstr("enable uniform bucket-level access"));
  }
  const std::string uniform =
      R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})";
  ASSERT_EQ(Call("PATCH", kTypesBucket, uniform).status, 200);
  for (const int version : {0, 1}) {
    const Answer refused = Call("PUT", iam, policy(version));
    EXPECT_EQ(refused.status, 400) << version;
    EXPECT_THAT(refused.body, HasSubstr("at least 3"));
  }
  EXPECT_EQ(Call("PUT", iam, policy(3)).status, 200);
  EXPECT_EQ(Call("GET", iam).json["bindings"][0]["condition"]["expression"], "true");
}

TEST_F(ResourceTypesTest, OfNotificationsAreThoseOfTheApiDescription) {
  const std::string configs = std::string(kTypesBucket) + "/notificationConfigs";
  const auto with = [](const std::string& more) {
    return R"({"topic":"//pubsub.googleapis.com/projects/p/topics/t","payload_format":"NONE",)" +
           more + "}";
  };
  const std::pair<std::string, const char*> cases[] = {
      {R"({"topic":"//pubsub.googleapis.com/projects/p/topics/t"})", "'payload_format'"},
      {R"({"payload_format":"NONE"})", "'topic'"},
      {with(R"("topic":7)"), "'topic'"},
      {with(R"("topic":"t")"), "Invalid Google Cloud Pub/Sub topic."},
      {with(R"("payload_format":"XML")"), "'payload_format'"},
      {with(R"("payload_format":{})"), "'payload_format'"},
      {with(R"("event_types":"OBJECT_DELETE")"), "'event_types'"},
      {with(R"("event_types":[5])"), "'event_types[0]'"},
      {with(R"("event_types":["OBJECT_SOLD"])"), "'event_types[0]'"},
      {with(R"("custom_attributes":[])"), "'custom_attributes'"},
      {with(R"("custom_attributes":{"a":5})"), "'custom_attributes.a'"},
      {with(R"("custom_attributes":{"":"a"})"), "'custom_attributes.'"},
      {with(R"("object_name_prefix":5)"), "'object_name_prefix'"},
  };
  for (const auto& [body, named] : cases) ExpectRefused("POST", configs, body, named, configs);
  const Answer made = Call("POST", configs,
                           with(R"("unknown":5,"id":[],"event_types":[],)"
                                R"("custom_attributes":{"a":null})"));
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_FALSE(made.json.contains("custom_attributes"));
  EXPECT_FALSE(made.json.contains("unknown"));
  EXPECT_EQ(made.json["id"], "1");
}

TEST_F(ResourceTypesTest, OfOtherRequestsAreThoseOfTheApiDescription) {
  struct Case {
    const char* target;
    const char* body;
    const char* named;
  };
  const Case cases[] = {
      {"/storage/v1/b/bkt/managedFolders", R"({"name":5})", "'name'"},
      {"/storage/v1/b/bkt/o/y/compose", R"({"sourceObjects":{}})", "'sourceObjects'"},
      {"/storage/v1/b/bkt/o/y/compose", R"({"sourceObjects":["x"]})", "'sourceObjects[0]'"},
      {"/storage/v1/b/bkt/o/y/compose", R"({"sourceObjects":[{"name":5}]})",
       "'sourceObjects[0].name'"},
      {"/storage/v1/b/bkt/o/y/compose", R"({"sourceObjects":[{"name":"x","generation":true}]})",
       "'sourceObjects[0].generation'"},
      {"/storage/v1/b/bkt/o/y/compose",
       R"({"sourceObjects":[{"name":"x","objectPreconditions":{"ifGenerationMatch":[]}}]})",
       "'sourceObjects[0].objectPreconditions.ifGenerationMatch'"},
      {"/storage/v1/b/bkt/o/y/compose",
       R"({"sourceObjects":[{"name":"x"}],"deleteSourceObjects":"yes"})", "'deleteSourceObjects'"},
      {"/storage/v1/b/bkt/o/bulkRestore", R"({"matchGlobs":[5]})", "'matchGlobs[0]'"},
      {"/storage/v1/b/bkt/o/bulkRestore", R"({"allowOverwrite":1})", "'allowOverwrite'"},
      {"/storage/v1/b/bkt/o/bulkRestore", R"({"softDeletedAfterTime":"then"})",
       "'softDeletedAfterTime'"},
  };
  for (const Case& row : cases) {
    ExpectRefused("POST", row.target, row.body, row.named, "/storage/v1/b/bkt/o");
  }
}

TEST_F(ResourceTypesTest, ReportAllViolationsAtOnce) {
  const Answer answer = Call("PATCH", kTypesObject,
                             R"({"contentType":7,"temporaryHold":"no","acl":[{"entity":"x"}]})");
  std::vector<std::string> messages;
  for (const Json& error : answer.json["error"]["errors"]) messages.push_back(error["message"]);
  EXPECT_THAT(messages, ElementsAre(HasSubstr("'contentType': expected a string, found 7"),
                                    HasSubstr("'temporaryHold'"), HasSubstr("'acl[0].role'"),
                                    HasSubstr("'acl[0].entity'")));
  const std::string message = answer.json["error"]["message"];
  for (const std::string& part : messages) EXPECT_THAT(message, HasSubstr(part));
}

TEST_F(ResourceTypesTest, ReportAllRulesOfAnObjectAtOnce) {
  const Json body = {{"kmsKeyName", "key"},
                     {"retention", Json::object({{"mode", "Locked"}})},
                     {"metadata", {{"k", std::string(9 << 10, 'v')}}}};
  const std::string text = Call("PATCH", kTypesObject, CompactJson(body)).body;
  for (const char* named : {"'kmsKeyName'", "'retention.retainUntilTime'", "'metadata'"}) {
    EXPECT_THAT(text, HasSubstr(named));
  }
}

TEST_F(ResourceTypesTest, ReportTheFirstHundredOfManyViolations) {
  Json metadata = Json::object();
  for (int i = 0; i < 100'000; ++i) metadata["k" + std::to_string(i)] = Json::array();
  const Answer answer = Call("PATCH", kTypesObject, CompactJson(Json{{"metadata", metadata}}));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.json["error"]["errors"].size(), 100u);
  EXPECT_THAT(answer.body, HasSubstr("99990 more violations are not shown."));
}

TEST_F(ResourceTypesTest, ReportTheFirstHundredOfHalfAMillionViolations) {
  const std::string body = "{\"cors\":[{\"origin\":" + ListText(500'000, "5") + "}]}";
  const Answer answer = Call("PATCH", kTypesBucket, body);
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.json["error"]["errors"].size(), 100u);
  EXPECT_THAT(answer.body, HasSubstr("499990 more violations are not shown."));
  EXPECT_LT(answer.body.size(), 100'000u);
}

}  // namespace
}  // namespace caip::gcs
