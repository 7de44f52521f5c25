// Objects, access lists, policies and notifications that an earlier version stored unchecked: a
// client gets what has the types of the API description.
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

constexpr const char* kStoredBucket = "/storage/v1/b/bkt";

class StoredResourcesTest : public ApiTest {
 protected:
  void StorePolicies(const std::string& json) {
    Bucket bucket = *world_->GetBucket("bkt");
    bucket.policies = json;
    EXPECT_TRUE(world_->UpdateBucket(bucket).ok());
  }
  void StoreObject(const ObjectInfo& fields) {
    EXPECT_TRUE(world_.TryPut("x", "bytes", {}, fields).ok());
  }
  Json Read(const std::string& below) { return Call("GET", kStoredBucket + below).json; }
};

TEST_F(StoredResourcesTest, AccessListsHaveTheEntriesThatARequestCouldSet) {
  StorePolicies(R"({"acl":[{"entity":"king","role":"OWNER"},{"entity":"allUsers","role":7},
                           {"entity":"allUsers","role":"WRITER"}],
                    "defaultObjectAcl":[{"entity":"allUsers","role":"WRITER"},
                                        {"entity":"project-owners-0","role":"OWNER"}]})");
  const Json acl = Read("/acl");
  ASSERT_EQ(acl["items"].size(), 1u) << acl;
  EXPECT_EQ(acl["items"][0]["entity"], "allUsers");
  const Json defaults = Read("/defaultObjectAcl");
  ASSERT_EQ(defaults["items"].size(), 1u) << defaults;
  EXPECT_EQ(defaults["items"][0]["entity"], "project-owners-123");
}

TEST_F(StoredResourcesTest, PoliciesHaveTheBindingsThatARequestCouldSet) {
  StorePolicies(R"({"iam":{"":{"version":"new","bindings":[
      {"role":7,"members":["allUsers"]},
      {"role":"roles/storage.admin","members":["king"]},
      {"role":"roles/storage.objectViewer","members":["allUsers"],"note":5}]}}})");
  const Json policy = Read("/iam");
  EXPECT_EQ(policy["version"], 1);
  EXPECT_EQ(policy["bindings"], Json::parse(R"([{"role":"roles/storage.objectViewer",
                                                 "members":["allUsers"]}])"));
}

TEST_F(StoredResourcesTest, NotificationsHaveTheFieldsThatARequestCouldSet) {
  StorePolicies(R"({"lastNotification":3,"notifications":{
      "1":{"kind":"storage#notification","id":"1","topic":7,"payload_format":"NONE"},
      "2":{"kind":"storage#notification","id":"2","payload_format":"NONE","event_types":[5],
           "topic":"//pubsub.googleapis.com/projects/p/topics/t","custom_attributes":7}}})");
  const Json list = Read("/notificationConfigs");
  const Json expected = Json::parse(R"({"kind":"storage#notification","id":"2",
      "payload_format":"NONE","event_types":[],
      "topic":"//pubsub.googleapis.com/projects/p/topics/t"})");
  EXPECT_EQ(list["items"], Json::array({expected}));
  EXPECT_EQ(Call("GET", std::string(kStoredBucket) + "/notificationConfigs/1").status, 404);
  EXPECT_EQ(Call("DELETE", std::string(kStoredBucket) + "/notificationConfigs/1").status, 204);
}

TEST_F(StoredResourcesTest, ObjectsHaveTheContextsAndEntriesThatARequestCouldSet) {
  ObjectInfo fields;
  fields.contexts = R"({"custom":{"a":{"value":["list"]},"b":{"value":"text","size":5},"c":7}})";
  fields.acl = R"([{"entity":"allUsers","role":"WRITER"},{"entity":"allUsers","role":"READER"}])";
  StoreObject(fields);
  const Json read = Read("/o/x?projection=full");
  EXPECT_EQ(read["contexts"], Json::parse(R"({"custom":{"b":{"value":"text"}}})"));
  EXPECT_EQ(read["acl"].size(), 1u);
  const std::string patch = R"({"contexts":{"custom":{"d":{"value":"new"}}}})";
  const Json patched = Call("PATCH", std::string(kStoredBucket) + "/o/x", patch).json;
  EXPECT_EQ(patched["contexts"]["custom"].size(), 2u) << patched;
}

}  // namespace
}  // namespace caip::gcs
