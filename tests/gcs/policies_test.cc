// IAM policies: the etag in both alphabets of base64, and the policies of objects.
#include <algorithm>

#include "base/encoding.h"
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

using ::testing::HasSubstr;

constexpr const char* kBucketPolicy = "/storage/v1/b/bkt/iam";
constexpr const char* kObjectPolicy = "/storage/v1/b/bkt/o/x/iam";
constexpr const char* kOwnerRole = "roles/storage.legacyObjectOwner";
constexpr const char* kReaderRole = "roles/storage.legacyObjectReader";

Json BindingOf(const char* role, const Json& members) {
  return {{"role", role}, {"members", members}};
}

class PoliciesTest : public ApiTest {
 protected:
  PoliciesTest() { PutMedia("x", "bytes"); }

  Answer Put(const char* target, const Json& policy) {
    return Call("PUT", target, CompactJson(policy));
  }
  Json PutBindings(const char* target, const Json& bindings) {
    const Answer answer = Put(target, {{"bindings", bindings}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json;
  }
};

// Among 64 policies, some have an etag with + or /.
TEST_F(PoliciesTest, AnEtagComesBackInEitherAlphabet) {
  for (const char* target : {kBucketPolicy, kObjectPolicy}) {
    int differing = 0;
    for (int i = 0; i < 64; ++i) {
      Json policy = Call("GET", target).json;
      const std::string etag = policy["etag"];
      const std::string sent = Base64Url(*FromBase64(etag), true);
      differing += sent != etag;
      policy["etag"] = sent;
      policy["bindings"] = {
          BindingOf(kReaderRole, Json::array({"user:u" + std::to_string(i) + "@a.b"}))};
      const Answer set = Put(target, policy);
      EXPECT_EQ(set.status, 200) << set.body;
      EXPECT_EQ(Put(target, policy).status, 412);  // the etag is not the current one any more
    }
    EXPECT_GT(differing, 0) << target;
  }
}

TEST_F(PoliciesTest, AnObjectHasAPolicyOfItsOwn) {
  PutMedia("y", "bytes");
  const Json of_bucket = Call("GET", kBucketPolicy).json;
  const Json of_other = Call("GET", "/storage/v1/b/bkt/o/y/iam").json;
  const Json wanted = Json::array({BindingOf(kReaderRole, Json::array({"user:a@b.c"}))});
  EXPECT_EQ(PutBindings(kObjectPolicy, wanted)["bindings"], wanted);
  Restart();
  EXPECT_EQ(Call("GET", kObjectPolicy).json["bindings"], wanted);
  EXPECT_EQ(Call("GET", kObjectPolicy).json["resourceId"], "projects/_/buckets/bkt/objects/x");
  EXPECT_EQ(Call("GET", kBucketPolicy).json, of_bucket);
  EXPECT_EQ(Call("GET", "/storage/v1/b/bkt/o/y/iam").json, of_other);
}

TEST_F(PoliciesTest, ThePolicyOfAnObjectIsItsAccessList) {
  const Json before = Call("GET", kObjectPolicy).json;
  EXPECT_EQ(before["bindings"],
            Json::array({BindingOf(kOwnerRole, {"projectOwner:123", "projectEditor:123"}),
                         BindingOf(kReaderRole, Json::array({"projectViewer:123"}))}));
  const std::string list = "/storage/v1/b/bkt/o/x/acl";
  Call("POST", list, R"({"entity":"allUsers","role":"READER"})");
  Call("POST", list, R"({"entity":"user-r@p.iam.gserviceaccount.com","role":"OWNER"})");
  const Json after = Call("GET", kObjectPolicy).json;
  EXPECT_NE(after["etag"], before["etag"]);
  EXPECT_EQ(after["bindings"][0]["members"][2], "serviceAccount:r@p.iam.gserviceaccount.com");
  EXPECT_EQ(after["bindings"][1]["members"][1], "allUsers");
  PutBindings(kObjectPolicy,
              {BindingOf(kReaderRole, {"group:g@a.b", "domain:a.b", "projectViewer:123"}),
               BindingOf(kOwnerRole, Json::array({"group:g@a.b"}))});
  const Json entries = Call("GET", list).json["items"];
  ASSERT_EQ(entries.size(), 3u) << entries;
  EXPECT_EQ(entries[0]["entity"], "group-g@a.b");  // an owner is a reader as well
  EXPECT_EQ(entries[0]["role"], "OWNER");
  EXPECT_EQ(entries[1]["entity"], "domain-a.b");
  EXPECT_EQ(entries[2]["entity"], "project-viewers-123");
}

TEST_F(PoliciesTest, AnObjectCannotHaveOtherRoles) {
  const Json before = Call("GET", kObjectPolicy).json;
  const Answer roles =
      Put(kObjectPolicy, {{"bindings",
                           {BindingOf("roles/storage.admin", Json::array({"user:a@b.c"})),
                            BindingOf(kReaderRole, Json::array({"deleted:user:a@b.c?uid=1"}))}}});
  EXPECT_EQ(roles.status, 400);
  EXPECT_THAT(roles.body, HasSubstr("roles/storage.admin"));
  EXPECT_THAT(roles.body, HasSubstr("bindings[1].members[0]"));
  EXPECT_EQ(Call("GET", kObjectPolicy).json, before);
  EXPECT_EQ(Put("/storage/v1/b/bkt/o/none/iam", Json::object()).status, 404);
  EXPECT_EQ(Call("GET", "/storage/v1/b/bkt/o/x/iam?generation=1").status, 404);
}

TEST_F(PoliciesTest, ObjectsHaveNoPoliciesWithUniformAccess) {
  Call("PATCH", "/storage/v1/b/bkt",
       R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})");
  EXPECT_EQ(Call("GET", kObjectPolicy).status, 400);
  const Json bindings = Json::array({BindingOf(kReaderRole, Json::array({"allUsers"}))});
  const Answer refused = Put(kObjectPolicy, {{"bindings", bindings}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("uniform bucket-level access"));
}

TEST_F(PoliciesTest, APublicObjectIsRefusedWherePublicAccessIsPrevented) {
  Call("PATCH", "/storage/v1/b/bkt",
       R"({"iamConfiguration":{"publicAccessPrevention":"enforced"}})");
  const Json bindings = Json::array({BindingOf(kReaderRole, Json::array({"allUsers"}))});
  EXPECT_EQ(Put(kObjectPolicy, {{"bindings", bindings}}).status, 412);
}

}  // namespace
}  // namespace caip::gcs
