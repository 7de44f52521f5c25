// Requests on a part of a bucket or object (?uploads, ?acl) that the part does not have. They must
// not act on the whole bucket or object.

#include "tests/gcs_xml/xml_world.h"

namespace caip::gcs {
namespace {

using ::testing::HasSubstr;

TEST_F(XmlTest, DoesNotDeleteABucketForARequestOnAPartOfIt) {
  for (const char* part :
       {"uploads", "uploads=", "delete", "versions", "versions=true", "compose", "unknown",
        "uploadId=x", "upload_id=x", "generation=5", "versionId=5", "partNumber=1"}) {
    const XmlAnswer answer = Call("DELETE", std::string("/bkt?") + part);
    EXPECT_EQ(answer.status, 405) << part << ": " << answer.body;
    EXPECT_EQ(answer.code(), "MethodNotAllowed") << part;
    ASSERT_TRUE(world_->GetBucket("bkt").ok()) << part;
  }
  EXPECT_EQ(Call("DELETE", "/bkt?userProject=&x-goog-user-project=&").status, 204);
}

TEST_F(XmlTest, DoesNotMakeABucketForARequestOnAPartOfIt) {
  for (const char* part : {"uploads", "delete", "versions", "compose", "unknown", "uploadId=x",
                           "upload_id=x", "partNumber=1"}) {
    EXPECT_EQ(Call("PUT", std::string("/fresh?") + part).status, 405) << part;
    ASSERT_FALSE(world_->GetBucket("fresh").ok()) << part;
  }
  EXPECT_EQ(Call("PUT", "/fresh?x-id=CreateBucket").status, 200);
}

TEST_F(XmlTest, DoesNotListABucketForARequestOnAnotherPartOfIt) {
  for (const char* part : {"delete", "compose", "uploadId=x", "upload_id=x"}) {
    EXPECT_EQ(Call("GET", std::string("/bkt?") + part).status, 405) << part;
    EXPECT_EQ(Call("HEAD", std::string("/bkt?") + part).status, 405) << part;
  }
  EXPECT_EQ(Call("GET", "/bkt?uploads").status, 200);
  EXPECT_EQ(Call("GET", "/bkt?versions").status, 200);
  EXPECT_EQ(Call("GET", "/bkt?unknown").status, 200);
}

TEST_F(XmlTest, NamesASettingThatItDoesNotHave) {
  for (const char* setting : {"customPlacementConfig", "policyStatus", "policy", "analytics"}) {
    for (const char* method : {"GET", "PUT", "DELETE"}) {
      const XmlAnswer answer = Call(method, std::string("/bkt?") + setting);
      EXPECT_EQ(answer.status, 501) << method << " " << setting;
      EXPECT_EQ(answer.code(), "NotImplemented") << method << " " << setting;
    }
  }
}

TEST_F(XmlTest, DeletesNoSettingThatEachBucketHas) {
  for (const char* setting : {"versioning", "storageClass", "location"}) {
    EXPECT_EQ(Call("DELETE", std::string("/bkt?") + setting).code(), "MethodNotAllowed") << setting;
  }
  EXPECT_EQ(Call("DELETE", "/bkt?cors").status, 204);
}

TEST_F(XmlTest, DoesNotChangeAnObjectForARequestOnAPartOfIt) {
  world_.Put("o", "kept");
  for (const char* part : {"uploads", "delete", "cors", "lifecycle", "unknown"}) {
    const std::string target = std::string("/bkt/o?") + part;
    EXPECT_EQ(Call("PUT", target, "written").code(), "MethodNotAllowed") << part;
    EXPECT_EQ(Call("DELETE", target).code(), "MethodNotAllowed") << part;
    ASSERT_EQ(world_.Get("o"), "kept") << part;
  }
  EXPECT_EQ(Call("DELETE", "/bkt/o?compose").code(), "MethodNotAllowed");
  EXPECT_EQ(Call("PUT", "/bkt/o?partNumber=1", "written").code(), "InvalidArgument");
  EXPECT_EQ(world_.Get("o"), "kept");
  for (const char* part : {"uploads", "compose", "upload_id=x"}) {
    EXPECT_EQ(Call("GET", std::string("/bkt/o?") + part).status, 405) << part;
  }
  EXPECT_EQ(Call("GET", "/bkt/o?v2").body, "kept");
  EXPECT_EQ(Call("PUT", "/bkt/o?x-id=PutObject", "written").status, 200);
  EXPECT_EQ(Call("DELETE", "/bkt/o?userProject=").status, 204);
}

// Clients and proxies add options without values. The request still means the whole object.
TEST_F(XmlTest, ChangesAnObjectThoughAnOptionHasNoValue) {
  for (const char* option : {"response-content-type=", "response-content-disposition", "x-id",
                             "X-Cloud-Trace-Context=", "generation=", "versionId", "prettyPrint",
                             "alt=", "traceparent="}) {
    const std::string target = std::string("/bkt/o?") + option;
    EXPECT_EQ(Call("PUT", target, option).status, 200) << option;
    EXPECT_EQ(world_.Get("o"), option);
    EXPECT_EQ(Call("DELETE", target).status, 204) << option;
    EXPECT_EQ(Call("GET", "/bkt/o").status, 404) << option;
  }
  EXPECT_EQ(Call("PUT", "/fresh?prettyPrint&x-id=").status, 200);
  EXPECT_EQ(Call("DELETE", "/fresh?response-expires=").status, 204);
}

TEST_F(XmlTest, TakesNoOptionForAPart) {
  world_.Put("o", "kept");
  for (const char* part : {"policy&x-id=PutObject", "x-id=&uploads", "generation=&delete",
                           "alt=json&versioning", "response-content-type=&publicAccessBlock"}) {
    const std::string target = std::string("/bkt/o?") + part;
    EXPECT_EQ(Call("PUT", target, "written").status, 405) << part;
    EXPECT_EQ(Call("DELETE", target).status, 405) << part;
    ASSERT_EQ(world_.Get("o"), "kept") << part;
  }
  for (const char* version : {"generation=", "versionId="}) {  // only objects have versions
    EXPECT_EQ(Call("DELETE", std::string("/bkt?") + version).status, 405) << version;
  }
  EXPECT_NE(Call("DELETE", "/bkt/o?generation=&versionId=5").status, 405);
  EXPECT_EQ(world_.Get("o"), "kept") << "a named version was deleted as if it were the live one";
}

// https://cloud.google.com/storage/docs/uniform-bucket-level-access
TEST_F(XmlTest, RefusesAccessListsWhereAccessIsUniform) {
  world_.Put("o", "x");
  Bucket bucket = *world_->GetBucket("bkt");
  bucket.settings = R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})";
  ASSERT_TRUE(world_->UpdateBucket(bucket).ok());
  const std::string list = "<AccessControlList><Entries/></AccessControlList>";
  for (const char* target : {"/bkt?acl", "/bkt?defaultObjectAcl", "/bkt/o?acl"}) {
    const XmlAnswer read = Call("GET", target);
    EXPECT_EQ(read.status, 400) << target << ": " << read.body;
    EXPECT_EQ(read.code(), "InvalidArgument") << target;
    EXPECT_THAT(read.body, HasSubstr("uniform bucket-level access")) << target;
    const XmlAnswer written = Call("PUT", target, list);
    EXPECT_EQ(written.status, 400) << target << ": " << written.body;
    EXPECT_EQ(written.code(), "InvalidArgument") << target;
    const XmlAnswer canned = Call("PUT", target, "", {{"x-goog-acl", "private"}});
    EXPECT_EQ(canned.status, 400) << target << ": " << canned.body;
  }
}

}  // namespace
}  // namespace caip::gcs
