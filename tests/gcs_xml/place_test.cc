#include "fakes/gcs/xml/place.h"

#include <gtest/gtest.h>

namespace caip::gcs {
namespace {

http::Request At(const std::string& host, const std::string& path) {
  http::Request request;
  request.method = "GET";
  request.host = host;
  request.path = path;
  return request;
}

TEST(XmlPlace, IsFoundByPathOrByHost) {
  struct Case {
    const char* host;
    const char* path;
    const char* bucket;
    const char* object;
  };
  const Case cases[] = {
      {"127.0.0.1:2247", "/bkt/a/b.txt", "bkt", "a/b.txt"},
      {"127.0.0.1:2247", "/v1beta1/a", "v1beta1", "a"},
      {"127.0.0.1:2247", "/vault/projects/a", "vault", "projects/a"},
      {"127.0.0.1:2247", "/projects/p/others", "projects", "p/others"},
      {"127.0.0.1:2247", "/bkt/", "bkt", ""},
      {"127.0.0.1:2247", "/bkt", "bkt", ""},
      {"127.0.0.1:2247", "/bkt//a", "bkt", "/a"},
      {"127.0.0.1:2247", "/bkt/a%2Fb%20c", "bkt", "a/b c"},
      {"127.0.0.1:2247", "/xmlapi/bkt/a", "bkt", "a"},
      {"storage.googleapis.com", "/bkt/a", "bkt", "a"},
      {"storage.googleapis.com:443", "/", "", ""},
      {"bkt.storage.googleapis.com", "/a/b", "bkt", "a/b"},
      {"my.bkt.storage.googleapis.com", "/", "my.bkt", ""},
      {"bkt.storage.googleapis.com", "/storage/v1/b", "bkt", "storage/v1/b"},
  };
  for (const Case& c : cases) {
    const http::Request request = At(c.host, c.path);
    EXPECT_TRUE(IsXmlRequest(request)) << c.host << c.path;
    const auto place = PlaceOf(request);
    ASSERT_TRUE(place.ok()) << c.path;
    EXPECT_EQ(place->bucket, c.bucket) << c.host << c.path;
    EXPECT_EQ(place->object, c.object) << c.host << c.path;
  }
}

TEST(XmlPlace, LeavesTheOtherApisAlone) {
  for (const char* path : {"/storage/v1/b",
                           "/upload/storage/v1/b/bkt/o",
                           "/resumable/upload/storage/v1/b/bkt/o",
                           "/download/storage/v1/b/bkt/o/a",
                           "/batch/storage/v1",
                           "/b/bkt",
                           "/projects/p/serviceAccount",
                           "/projects/p/hmacKeys",
                           "/projects/p/hmacKeys/GOOG1",
                           "/v1/projects/p/jobs",
                           "/v2/entries:list",
                           "/discovery/v1/apis/ml/v1/rest",
                           "/$discovery/rest",
                           "/v1beta1/projects/p/jobs",
                           "/v2alpha1/projects/p",
                           "/computeMetadata/",
                           "/emulator/v1/state",
                           "/retry_test",
                           "/retry_tests",
                           "/",
                           "/x"}) {
    EXPECT_FALSE(IsXmlRequest(At("127.0.0.1:2247", path))) << path;
  }
  EXPECT_FALSE(IsXmlRequest(At("storage.googleapis.com", "/storage/v1/b/bkt")));
  EXPECT_FALSE(IsXmlRequest(At("oauth2.googleapis.com", "/token")));
  EXPECT_FALSE(IsXmlRequest(At("metadata.google.internal", "/whatever")));
}

TEST(XmlPlace, KnowsAListOfBucketsByItsSignature) {
  http::Request request = At("127.0.0.1:2247", "/");
  EXPECT_FALSE(IsXmlRequest(request));
  request.headers.Set("Authorization", "GOOG1 key:sum");
  EXPECT_TRUE(IsXmlRequest(request));
}

TEST(XmlPlace, RefusesABrokenEscape) { EXPECT_FALSE(PlaceOf(At("127.0.0.1", "/bkt/a%zz")).ok()); }

}  // namespace
}  // namespace caip::gcs
