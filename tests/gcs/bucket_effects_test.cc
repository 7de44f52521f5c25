// How a bucket's settings affect its objects and later changes of the settings.
#include "base/encoding.h"
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

using ::testing::HasSubstr;

class BucketEffectsTest : public ApiTest {
 protected:
  Answer Patch(const std::string& body) { return Call("PATCH", "/storage/v1/b/bkt", body); }
};

TEST_F(BucketEffectsTest, NewObjectsHaveTheBucketsStorageClass) {
  const auto put_nearline = [this](const std::string& name) {
    return RawUpload("uploadType=multipart", "multipart/related; boundary=b",
                     "--b\r\nContent-Type: application/json\r\n\r\n{\"name\":\"" + name +
                         "\",\"storageClass\":\"NEARLINE\"}\r\n--b\r\n\r\n1\r\n--b--");
  };
  PutMedia("before", "1");
  EXPECT_EQ(Patch(R"({"storageClass":"COLDLINE"})").status, 200);
  EXPECT_EQ(PutMedia("x", "1").json["storageClass"], "COLDLINE");
  EXPECT_EQ(put_nearline("y").json["storageClass"], "NEARLINE");
  EXPECT_EQ(Call("GET", "/storage/v1/b/bkt/o/before").json["storageClass"], "STANDARD");
  ASSERT_TRUE(WriteFile(world_.File("by-hand"), "1").ok());
  EXPECT_EQ(Call("GET", "/storage/v1/b/bkt/o/by-hand").json["storageClass"], "COLDLINE");
  EXPECT_EQ(Patch(R"({"autoclass":{"enabled":true}})").status, 200);
  EXPECT_EQ(put_nearline("z").json["storageClass"], "STANDARD");
}

TEST_F(BucketEffectsTest, CopiesHaveTheStorageClassOfTheirBucket) {
  const std::string bucket = R"({"name":"cold","storageClass":"COLDLINE"})";
  ASSERT_EQ(Call("POST", "/storage/v1/b?project=p", bucket).status, 200);
  PutMedia("x", std::string(3 << 20, 'x'));
  const std::string rewrite = "/storage/v1/b/bkt/o/x/rewriteTo/b/cold/o/";
  const std::string copy = "/storage/v1/b/bkt/o/x/copyTo/b/cold/o/";
  EXPECT_EQ(Call("POST", rewrite + "y").json["resource"]["storageClass"], "COLDLINE");
  EXPECT_EQ(Call("POST", copy + "z").json["storageClass"], "COLDLINE");
  const std::string nearline = R"({"storageClass":"NEARLINE"})";
  EXPECT_EQ(Call("POST", rewrite + "n", nearline).json["resource"]["storageClass"], "NEARLINE");
  const std::string steps = "?maxBytesRewrittenPerCall=1048576";
  EXPECT_EQ(Call("POST", rewrite + "s" + steps).json["done"], false) << "another class";
  const std::string back = "/storage/v1/b/cold/o/y/rewriteTo/b/cold/o/b";
  EXPECT_EQ(Call("POST", back + steps).json["done"], true) << "the same class";
}

TEST_F(BucketEffectsTest, CopiesDoNotHaveTheKeyOfTheirSource) {
  const std::string key = "projects/p/locations/us/keyRings/r/cryptoKeys/k";
  PutMedia("x", "1", "&kmsKeyName=" + PercentEncoded(key));
  const Answer copied = Call("POST", "/storage/v1/b/bkt/o/x/rewriteTo/b/bkt/o/y");
  EXPECT_FALSE(copied.json["resource"].contains("kmsKeyName")) << copied.body;
}

TEST_F(BucketEffectsTest, KeysOfCloudKmsHaveTheirForm) {
  const std::string key = "projects/p/locations/us/keyRings/r/cryptoKeys/k";
  const std::pair<std::string, int> cases[] = {{key, 200},
                                               {key + "/cryptoKeyVersions/2", 200},
                                               {"k", 400},
                                               {"projects/p/keyRings/r/cryptoKeys/k", 400}};
  for (const auto& [name, status] : cases) {
    const Json encryption = {{"encryption", {{"defaultKmsKeyName", name}}}};
    EXPECT_EQ(Patch(CompactJson(encryption)).status, status) << name;
    EXPECT_EQ(PutMedia("x", "1", "&kmsKeyName=" + PercentEncoded(name)).status, status) << name;
    const std::string copy = "/storage/v1/b/bkt/o/x/rewriteTo/b/bkt/o/y?destinationKmsKeyName=";
    EXPECT_EQ(Call("POST", copy + PercentEncoded(name)).status, status) << name;
  }
}

TEST_F(BucketEffectsTest, PreventedPublicAccessRefusesEveryone) {
  PutMedia("x", "1");
  const std::string everyone = R"({"entity":"allUsers","role":"READER"})";
  const std::string policy =
      R"({"bindings":[{"role":"roles/storage.objectViewer","members":["allAuthenticatedUsers"]}]})";
  const std::string bucket = "/storage/v1/b/bkt";
  const std::string prevented = R"({"iamConfiguration":{"publicAccessPrevention":"enforced"}})";
  const auto make_public = [&] {
    return std::vector<int>{
        Call("POST", bucket + "/acl", everyone).status,
        Call("POST", bucket + "/defaultObjectAcl", everyone).status,
        Call("POST", bucket + "/o/x/acl", everyone).status,
        Call("PATCH", bucket, "{\"acl\":[" + everyone + "]}").status,
        Call("PATCH", bucket + "/o/x?predefinedAcl=publicRead", "{}").status,
        Call("PUT", bucket + "/iam", policy).status,
        PutMedia("y", "1", "&predefinedAcl=authenticatedRead").status,
    };
  };
  EXPECT_EQ(Patch(prevented).status, 200);
  EXPECT_EQ(make_public(), std::vector<int>(7, 412));
  EXPECT_THAT(Call("POST", bucket + "/acl", everyone).body,
              HasSubstr("public access prevention is enforced"));
  const std::string other = R"({"entity":"user-a@b.c","role":"READER"})";
  EXPECT_EQ(Call("POST", bucket + "/acl", other).status, 200);
  EXPECT_EQ(Patch(R"({"iamConfiguration":{"publicAccessPrevention":"inherited"}})").status, 200);
  EXPECT_EQ(make_public(), std::vector<int>(7, 200));
  EXPECT_EQ(Patch(prevented).status, 200) << "what is public stays so";
  EXPECT_EQ(Call("POST", bucket + "/acl", other).status, 200);
}

TEST_F(BucketEffectsTest, UniformAccessIsLockedAfterNinetyDays) {
  const std::string off = R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":false}}})";
  const std::string on = R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})";
  EXPECT_EQ(Patch(on).status, 200);
  world_.clock().Advance(std::chrono::hours(89 * 24));
  EXPECT_EQ(Patch(off).status, 200);
  EXPECT_EQ(Patch(on).status, 200);
  world_.clock().Advance(std::chrono::hours(91 * 24));
  const Answer late = Patch(off);
  EXPECT_EQ(late.status, 400);
  EXPECT_THAT(late.body, HasSubstr("it is locked since "));
}

}  // namespace
}  // namespace caip::gcs
