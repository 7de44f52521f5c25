// The numbers of entries that resources may have, as the service documents them:
// https://cloud.google.com/storage/quotas. A request with 100,000 entries is refused as well.
#include "tests/gcs/api_world.h"
#include "tests/support/large_bodies.h"

namespace caip::gcs {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLimitsBucket = "/storage/v1/b/bkt";
constexpr const char* kLimitsObject = "/storage/v1/b/bkt/o/x";
constexpr int kVeryMany = 100'000;

class ResourceLimitsTest : public ApiTest {
 protected:
  ResourceLimitsTest() { PutMedia("x", "bytes"); }

  // `body` makes the request with so many entries.
  void ExpectLimit(const std::string& method, const std::string& target, int most,
                   const std::function<Json(int)>& body) {
    for (const int count : {kVeryMany, most + 1}) {
      const Answer refused = Call(method, target, CompactJson(body(count)));
      EXPECT_EQ(refused.status, 400) << target << count << refused.body.substr(0, 300);
      EXPECT_THAT(refused.body, HasSubstr("at most")) << target;
      EXPECT_LT(refused.body.size(), 100'000u) << target;
    }
    const Answer taken = Call(method, target, CompactJson(body(most)));
    EXPECT_EQ(taken.status, 200) << target << taken.body.substr(0, 300);
  }

  // `body` makes a patch with so many entries, which is answered with `status`.
  void ExpectLinearPatch(const char* target, int status,
                         const std::function<std::string(int)>& body) {
    ExpectLinearTime(kVeryMany / 4, body, [&](const std::string& text) {
      const Answer answer = Call("PATCH", target, text);
      EXPECT_EQ(answer.status, status) << target << answer.body.substr(0, 300);
    });
  }
};

Json EntriesOf(int count) {
  Json list = Json::array();
  for (int i = 0; i < count; ++i) {
    list.push_back(Json{{"entity", "user-" + std::to_string(i)}, {"role", "READER"}});
  }
  return list;
}

Json ContextsOf(int count, const std::string& value = "v") {
  Json custom = Json::object();
  for (int i = 0; i < count; ++i) custom["k" + std::to_string(i)] = {{"value", value}};
  return {{"contexts", {{"custom", std::move(custom)}}}};
}

Json PolicyOf(int members, const char* role) {
  Json list = Json::array();
  for (int i = 0; i < members; ++i) list.push_back("user:u" + std::to_string(i) + "@a.b");
  return {{"bindings", {{{"role", role}, {"members", std::move(list)}}}}};
}

Json NotificationOf(int attributes) {
  Json notification = {{"topic", "//pubsub.googleapis.com/projects/p/topics/t"},
                       {"payload_format", "NONE"}};
  for (int i = 0; i < attributes; ++i) {
    notification["custom_attributes"]["k" + std::to_string(i)] = "v";
  }
  return notification;
}

TEST_F(ResourceLimitsTest, AnAccessListHasAtMost100Entries) {
  const auto acl = [](int count) { return Json{{"acl", EntriesOf(count)}}; };
  ExpectLimit("PATCH", kLimitsBucket, 100, acl);
  ExpectLimit("PATCH", kLimitsObject, 100, acl);
  ExpectLimit("PATCH", kLimitsBucket, 100, [](int count) {
    return Json{{"defaultObjectAcl", EntriesOf(count)}};
  });
  for (const std::string& list :
       {std::string(kLimitsBucket) + "/acl", std::string(kLimitsBucket) + "/defaultObjectAcl",
        std::string(kLimitsObject) + "/acl"}) {
    const std::string one_more = R"({"entity":"user-more","role":"READER"})";
    EXPECT_EQ(Call("POST", list, one_more).status, 400) << list;
    EXPECT_EQ(Call("POST", list, R"({"entity":"user-7","role":"OWNER"})").status, 200) << list;
  }
}

TEST_F(ResourceLimitsTest, AnObjectHasAtMost50Contexts) {
  ExpectLimit("PATCH", kLimitsObject, 50, [](int count) { return ContextsOf(count); });
  const std::string another = R"({"contexts":{"custom":{"another":{"value":"v"}}}})";
  EXPECT_EQ(Call("PATCH", kLimitsObject, another).status, 400);
  const std::string instead = R"({"contexts":{"custom":{"k0":null,"another":{"value":"v"}}}})";
  EXPECT_EQ(Call("PATCH", kLimitsObject, instead).status, 200);
}

TEST_F(ResourceLimitsTest, ContextsHaveAtMost25KibAnd256BytesEach) {
  const auto patch = [&](const Json& body) {
    return Call("PATCH", kLimitsObject, CompactJson(body)).status;
  };
  EXPECT_EQ(patch(ContextsOf(1, std::string(257, 'v'))), 400);
  EXPECT_EQ(patch(ContextsOf(1, std::string(256, 'v'))), 200);
  Json large = Json::object();
  for (int i = 10; i < 60; ++i) {
    large[std::to_string(i) + std::string(254, 'k')] = {{"value", std::string(256, 'v')}};
  }
  EXPECT_EQ(patch({{"contexts", {{"custom", nullptr}}}}), 200);
  EXPECT_EQ(patch({{"contexts", {{"custom", large}}}}), 200);
  large["60"] = {{"value", "v"}};
  EXPECT_EQ(patch({{"contexts", {{"custom", large}}}}), 400);
}

TEST_F(ResourceLimitsTest, APolicyHasAtMost1500MembersAnd100WithLegacyRoles) {
  const std::string iam = std::string(kLimitsBucket) + "/iam";
  ExpectLimit("PUT", iam, 1500,
              [](int count) { return PolicyOf(count, "roles/storage.objectViewer"); });
  ExpectLimit("PUT", iam, 100,
              [](int count) { return PolicyOf(count, "roles/storage.legacyBucketReader"); });
}

TEST_F(ResourceLimitsTest, APolicyHasAtMostAsManyBindingsAsMembers) {
  ExpectLimit("PUT", std::string(kLimitsBucket) + "/iam", 1500, [](int count) {
    const Json binding = {{"role", "roles/storage.admin"}, {"members", {"allUsers"}}};
    return Json{{"bindings", Json(Json::array_t(static_cast<size_t>(count), binding))}};
  });
}

TEST_F(ResourceLimitsTest, ABucketHas100NotificationsAnd10OfAnEvent) {
  const std::string configs = std::string(kLimitsBucket) + "/notificationConfigs";
  ExpectLimit("POST", configs, 10, NotificationOf);  // custom attributes
  Json deletions = NotificationOf(0);
  deletions["event_types"] = Json(Json::array_t(kVeryMany, "OBJECT_DELETE"));
  EXPECT_EQ(Call("POST", configs, CompactJson(deletions)).json["event_types"],
            Json::array({"OBJECT_DELETE"}));
  deletions["event_types"] = {"OBJECT_DELETE"};
  for (int i = 2; i < 10; ++i) {
    EXPECT_EQ(Call("POST", configs, CompactJson(deletions)).status, 200);
  }
  const Answer refused = Call("POST", configs, CompactJson(deletions));
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("Too many overlapping notifications. The maximum is 10."));
  deletions["object_name_prefix"] = "a/";
  EXPECT_EQ(Call("POST", configs, CompactJson(deletions)).status, 400);
  deletions["event_types"] = {"OBJECT_ARCHIVE"};
  for (int i = 10; i < 100; ++i) {
    deletions["object_name_prefix"] = std::to_string(i) + "/";
    EXPECT_EQ(Call("POST", configs, CompactJson(deletions)).status, 200) << i;
  }
  EXPECT_THAT(Call("POST", configs, CompactJson(deletions)).body,
              HasSubstr("a bucket can have at most 100 notification configurations"));
}

TEST_F(ResourceLimitsTest, LifecycleRulesHaveAtMost1000PrefixesAndSuffixes) {
  ExpectLimit("PATCH", kLimitsBucket, 1000, [](int count) {
    Json prefixes = Json::array();
    for (int i = 1; i < count; ++i) prefixes.push_back("p" + std::to_string(i));
    const Json condition = {{"matchesPrefix", std::move(prefixes)}, {"matchesSuffix", {"s"}}};
    const Json rule = {{"action", {{"type", "Delete"}}}, {"condition", condition}};
    return Json{{"lifecycle", {{"rule", Json::array({rule})}}}};
  });
}

// The service reads all keys before it counts them, so a refusal takes linear time as well.
TEST_F(ResourceLimitsTest, ManyMetadataKeysAreReadInLinearTime) {
  ExpectLinearPatch(kLimitsObject, 400,
                    [](int count) { return "{\"metadata\":" + ObjectText(count) + "}"; });
}

TEST_F(ResourceLimitsTest, ManyLabelsAreReadInLinearTime) {
  ExpectLinearPatch(kLimitsBucket, 400,
                    [](int count) { return "{\"labels\":" + ObjectText(count) + "}"; });
}

TEST_F(ResourceLimitsTest, ManyUnknownFieldsOfABucketAreReadInLinearTime) {
  ExpectLinearPatch(kLimitsBucket, 200, [](int count) { return ObjectText(count); });
}

TEST_F(ResourceLimitsTest, ManyOriginsOfACorsRuleAreStoredInLinearTime) {
  ExpectLinearPatch(kLimitsBucket, 200, [](int count) {
    std::string origins;
    for (int i = 0; i < count; ++i) {
      origins += (i == 0 ? "\"o" : ",\"o") + std::to_string(i) + "\"";
    }
    return "{\"cors\":[{\"origin\":[" + origins + "]}]}";
  });
}

}  // namespace
}  // namespace caip::gcs
