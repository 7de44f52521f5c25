// Versions, buckets' settings, access, encodings and keys, over the JSON API.
#include <string>
#include <vector>

#include "base/encoding.h"
#include "http/compression.h"
#include "tests/gcs/features/features_world.h"

namespace caip::gcs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(FeaturesTest, ListsReadsCopiesAndDeletesVersions) {
  EXPECT_EQ(Patch(R"({"versioning":{"enabled":true}})").json["versioning"]["enabled"], true);
  const std::string first = PutMedia("x", "one").json["generation"];
  const std::string second = PutMedia("x", "two").json["generation"];
  const std::string list = std::string(kBucket) + "/o";
  EXPECT_THAT(Generations(Call("GET", list).json), ElementsAre(second));
  const Json page = Call("GET", list + "?versions=true").json;
  EXPECT_THAT(Generations(page), ElementsAre(first, second));
  EXPECT_TRUE(page["items"][0].contains("timeDeleted"));
  EXPECT_FALSE(page["items"][1].contains("timeDeleted"));
  EXPECT_EQ(Call("GET", Object("x", "?alt=media&generation=" + first)).body, "one");
  const Answer copied =
      Call("POST", Object("x") + "/rewriteTo/b/bkt/o/x?sourceGeneration=" + first);
  EXPECT_EQ(copied.status, 200) << copied.body;
  EXPECT_EQ(world_.Get("x"), "one");
  EXPECT_EQ(Call("DELETE", Object("x", "?generation=" + first)).status, 204);
  EXPECT_EQ(Call("GET", Object("x", "?generation=" + first)).status, 404);
  EXPECT_EQ(
      Call("DELETE", Object("x", "?generation=" + second + "&ifMetagenerationMatch=7")).status,
      412);
}

TEST_F(FeaturesTest, RestoresWhatWasSoftDeleted) {
  const Answer set = Patch(R"({"softDeletePolicy":{"retentionDurationSeconds":604800}})");
  EXPECT_EQ(set.json["softDeletePolicy"]["retentionDurationSeconds"], "604800");
  EXPECT_TRUE(set.json["softDeletePolicy"].contains("effectiveTime"));
  const std::string generation = PutMedia("x", "one").json["generation"];
  EXPECT_EQ(Call("DELETE", Object("x")).status, 204);
  const Json page = Call("GET", std::string(kBucket) + "/o?softDeleted=true").json;
  ASSERT_THAT(Generations(page), ElementsAre(generation));
  EXPECT_TRUE(page["items"][0].contains("hardDeleteTime"));
  const std::string of = "?generation=" + generation;
  EXPECT_EQ(Call("GET", Object("x", of)).status, 404);
  EXPECT_EQ(Call("GET", Object("x", of + "&softDeleted=true")).json["size"], "3");
  const Answer restored = Call("POST", Object("x") + "/restore" + of);
  EXPECT_EQ(restored.status, 200) << restored.body;
  EXPECT_NE(restored.json["generation"], generation);
  EXPECT_FALSE(restored.json.contains("softDeleteTime"));
  EXPECT_EQ(world_.Get("x"), "one");
  PutMedia("y", "two");
  Call("DELETE", Object("y"));
  const Answer all =
      Call("POST", std::string(kBucket) + "/o/bulkRestore", R"({"matchGlobs":["*"]})");
  EXPECT_EQ(all.json["metadata"]["succeededCount"], "1") << all.body;  // x is there
  EXPECT_EQ(all.json["metadata"]["skippedCount"], "1");
  EXPECT_EQ(world_.Get("y"), "two");
}

TEST_F(FeaturesTest, MovesAnObject) {
  PutMedia("x", "one");
  const Answer moved = Call("POST", Object("x") + "/moveTo/o/dir%2Fy");
  EXPECT_EQ(moved.json["name"], "dir/y") << moved.body;
  EXPECT_FALSE(world_.Has("x"));
  EXPECT_EQ(world_.Get("dir/y"), "one");
}

TEST_F(FeaturesTest, GivesABucketsSettingsBack) {
  const std::string settings =
      R"({"versioning":{"enabled":true},)"
      R"("lifecycle":{"rule":[{"action":{"type":"Delete"},"condition":{"age":3}}]},)"
      R"("cors":[{"origin":["*"],"method":["GET"]}],"website":{"mainPageSuffix":"i.html"},)"
      R"("logging":{"logBucket":"logs"},"billing":{"requesterPays":true},"rpo":"DEFAULT",)"
      R"("encryption":{"defaultKmsKeyName":"projects/p/locations/us/keyRings/r/cryptoKeys/k"},)"
      R"("defaultEventBasedHold":false,"labels":{"a":"b"}})";
  Json wanted = *ParseJson(settings);
  Json made = wanted;
  made["name"] = "other";
  made["location"] = "nam4";
  const Answer answer = Call("POST", "/storage/v1/b?project=p", CompactJson(made));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.json["locationType"], "dual-region");
  EXPECT_EQ(answer.json["metageneration"], "1");
  Restart();
  const Json got = Call("GET", "/storage/v1/b/other").json;
  for (const auto& [name, value] : wanted.items()) EXPECT_EQ(got[name], value) << name;
  EXPECT_EQ(Call("PATCH", "/storage/v1/b/other", R"({"website":null,"logging":{"x":"y"}})").status,
            200);
  const Json patched = Call("GET", "/storage/v1/b/other").json;
  EXPECT_FALSE(patched.contains("website"));
  EXPECT_EQ(patched["logging"], Json({{"logBucket", "logs"}}));  // it has no field "x"
  const Json put = Call("PUT", "/storage/v1/b/other", R"({"labels":{"c":"d"}})").json;
  EXPECT_FALSE(put.contains("cors"));
  EXPECT_EQ(put["labels"], Json({{"c", "d"}}));
  EXPECT_EQ(put["metageneration"], "3");
  EXPECT_EQ(Call("GET", "/storage/v1/b/other?ifMetagenerationNotMatch=3").status, 304);
  EXPECT_EQ(Call("GET", "/storage/v1/b?project=q").json["items"].size(), 1u);  // bkt is anybody's
  EXPECT_EQ(Call("GET", "/storage/v1/b?project=p&prefix=oth").json["items"].size(), 1u);
}

TEST_F(FeaturesTest, NamesAMissingProjectAsTheServiceDoes) {
  const auto names = [&](const std::string& project) {
    std::vector<std::string> all;
    const Json page = Call("GET", "/storage/v1/b?project=" + project).json;
    for (const Json& item : page["items"]) all.push_back(item["name"]);
    return all;
  };
  EXPECT_EQ(Call("GET", "/storage/v1/b").json["error"]["message"], "Required parameter: project");
  ASSERT_EQ(Call("POST", "/storage/v1/b?project=p", R"({"name":"of-p"})").status, 200);
  ASSERT_EQ(Call("POST", "/storage/v1/b?project=_", R"({"name":"of-all"})").status, 200);
  EXPECT_THAT(names("q"), ElementsAre("bkt", "of-all"));
  EXPECT_THAT(names("_"), ElementsAre("bkt", "of-all", "of-p"));
  EXPECT_EQ(names(""), names("_"));  // of gcsfs
}

TEST_F(FeaturesTest, EnforcesRetentionAndHolds) {
  const Answer set = Patch(R"({"retentionPolicy":{"retentionPeriod":"100"}})");
  EXPECT_TRUE(set.json["retentionPolicy"].contains("effectiveTime"));
  PutMedia("x", "one");
  const Answer kept = Call("DELETE", Object("x"));
  EXPECT_EQ(kept.status, 403);
  EXPECT_EQ(kept.reason(), "retentionPolicyNotMet");
  EXPECT_EQ(PutMedia("x", "two").status, 403);
  const std::string metageneration = set.json["metageneration"];
  const Answer locked = Call("POST", std::string(kBucket) + "/lockRetentionPolicy" +
                                         "?ifMetagenerationMatch=" + metageneration);
  EXPECT_EQ(locked.json["retentionPolicy"]["isLocked"], true) << locked.body;
  EXPECT_EQ(Patch(R"({"retentionPolicy":null})").status, 403);
  EXPECT_EQ(Patch(R"({"retentionPolicy":{"retentionPeriod":"99"}})").status, 403);
  EXPECT_EQ(Patch(R"({"retentionPolicy":{"retentionPeriod":"101"}})").status, 200);
  world_.clock().Advance(std::chrono::seconds(101));
  EXPECT_EQ(Call("PATCH", Object("x"), R"({"temporaryHold":true})").json["temporaryHold"], true);
  EXPECT_EQ(Call("DELETE", Object("x")).reason(), "objectUnderActiveHold");
  EXPECT_EQ(Call("PATCH", Object("x"), R"({"temporaryHold":false})").status, 200);
  EXPECT_EQ(Call("DELETE", Object("x")).status, 204);
}

TEST_F(FeaturesTest, KeepsAccessControlListsUnlessAccessIsUniform) {
  PutMedia("x", "one");
  for (const std::string& list :
       {std::string(kBucket) + "/acl", std::string(kBucket) + "/defaultObjectAcl",
        Object("x") + "/acl"}) {
    const Answer made = Call("POST", list, R"({"entity":"allUsers","role":"READER"})");
    EXPECT_EQ(made.status, 200) << list << made.body;
    Restart();
    EXPECT_EQ(Call("GET", list + "/allUsers").json["role"], "READER") << list;
    EXPECT_EQ(Call("PATCH", list + "/allUsers", R"({"role":"OWNER"})").json["role"], "OWNER");
    EXPECT_EQ(Call("GET", list).json["items"].size(), 4u);
    EXPECT_EQ(Call("DELETE", list + "/allUsers").status, 204);
    EXPECT_EQ(Call("GET", list + "/allUsers").status, 404);
    EXPECT_EQ(Call("PATCH", list + "/allUsers", R"({"role":"OWNER"})").status, 404);
    EXPECT_EQ(Call("PUT", list + "/allUsers", R"({"role":"READER"})").json["role"], "READER");
    EXPECT_EQ(Call("POST", list, R"({"entity":"allUsers","role":"KING"})").status, 400);
  }
  EXPECT_TRUE(Call("GET", Object("x", "?projection=full")).json.contains("acl"));
  EXPECT_FALSE(Call("GET", Object("x")).json.contains("acl"));
  PutMedia("open", "1", "&predefinedAcl=publicRead");
  EXPECT_EQ(Call("GET", Object("open") + "/acl/allUsers").json["role"], "READER");
  Patch(R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})");
  const Answer refused =
      Call("POST", Object("x") + "/acl", R"({"entity":"allUsers","role":"READER"})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("uniform bucket-level access"));
  EXPECT_EQ(Call("GET", std::string(kBucket) + "/acl").status, 400);
}

TEST_F(FeaturesTest, KeepsIamPoliciesNotificationsAndManagedFolders) {
  const std::string iam = std::string(kBucket) + "/iam";
  const std::string etag = Call("GET", iam).json["etag"];
  const std::string bindings =
      R"("bindings":[{"role":"roles/storage.admin","members":["allUsers"]}])";
  const Answer set = Call("PUT", iam, "{\"etag\":\"" + etag + "\"," + bindings + "}");
  EXPECT_EQ(set.json["bindings"][0]["role"], "roles/storage.admin") << set.body;
  EXPECT_EQ(Call("PUT", iam, "{\"etag\":\"" + etag + "\"," + bindings + "}").status, 412);
  Restart();
  EXPECT_EQ(Call("GET", iam).json["bindings"], set.json["bindings"]);
  EXPECT_EQ(Call("GET", iam + "/testPermissions?permissions=a&permissions=b").json["permissions"],
            Json::array({"a", "b"}));
  const std::string topics = std::string(kBucket) + "/notificationConfigs";
  const Json before = Call("GET", kBucket).json;
  const Answer made =
      Call("POST", topics, R"({"topic":"projects/p/topics/t","payload_format":"JSON_API_V1"})");
  EXPECT_EQ(made.json["id"], "1") << made.body;
  EXPECT_EQ(Call("GET", topics).json["items"].size(), 1u);
  EXPECT_EQ(Call("GET", topics + "/1").json["topic"],
            "//pubsub.googleapis.com/projects/p/topics/t");
  EXPECT_EQ(Call("DELETE", topics + "/1").status, 204);
  EXPECT_EQ(Call("DELETE", topics + "/1").status, 404);
  EXPECT_EQ(Call("GET", kBucket).json, before);  // metageneration does not count them
  EXPECT_EQ(Call("GET", "/storage/v1/projects/p/serviceAccount").json["email_address"],
            "service-123@gs-project-accounts.iam.gserviceaccount.com");
}

TEST_F(FeaturesTest, RefusesValuesOfParametersThatHaveFew) {
  PutMedia("x", "1");
  const std::string list = std::string(kBucket) + "/o";
  const struct {
    const char* method;
    std::string target;
    const char* words;
  } cases[] = {
      {"GET", list + "?versions=maybe", "Invalid boolean value: 'maybe'."},
      {"GET", list + "?softDeleted=2", "Invalid boolean value: '2'."},
      {"GET", list + "?includeTrailingDelimiter=on", "Invalid boolean value"},
      {"GET", list + "?projection=blub",
       "Invalid string value: 'blub'. Allowed values: [full, noAcl]."},
      {"GET", Object("x", "?projection=all"), "Allowed values"},
      {"GET", std::string(kBucket) + "?projection=blub", "Allowed values"},
      {"POST", "/storage/v1/b?project=p&enableObjectRetention=maybe", "Invalid boolean value"},
      {"DELETE", std::string(kBucket) + "/managedFolders/a?allowNonEmpty=x", "Invalid boolean"},
  };
  for (const auto& [method, target, words] : cases) {
    const Answer answer = Call(method, target);
    EXPECT_EQ(answer.status, 400) << target << answer.body;
    EXPECT_EQ(answer.reason(), "invalidParameter") << target;
    EXPECT_THAT(answer.body, HasSubstr(words)) << target;
  }
}

TEST_F(FeaturesTest, TakesParametersAsClientsWriteThem) {
  ASSERT_EQ(Patch(R"({"versioning":{"enabled":true}})").status, 200);
  PutMedia("x", "1");
  PutMedia("x", "2");
  const std::string list = std::string(kBucket) + "/o";
  for (const char* yes : {"true", "True", "TRUE", "1"}) {
    EXPECT_EQ(Call("GET", list + "?versions=" + yes).json["items"].size(), 2u) << yes;
  }
  for (const char* no : {"false", "False", "0", ""}) {
    EXPECT_EQ(Call("GET", list + "?versions=" + no).json["items"].size(), 1u) << no;
  }
  for (const char* full : {"full", "FULL"}) {
    EXPECT_TRUE(Call("GET", Object("x", std::string("?projection=") + full)).json.contains("acl"));
  }
  for (const char* none : {"noAcl", "NO_ACL", ""}) {
    const Answer answer = Call("GET", Object("x", std::string("?projection=") + none));
    EXPECT_EQ(answer.status, 200) << none;
    EXPECT_FALSE(answer.json.contains("acl")) << none;
  }
  // The service passes over parameters that a method does not have.
  EXPECT_EQ(Call("GET", std::string(kBucket) + "?versions=maybe").status, 200);
  EXPECT_EQ(Call("DELETE", Object("x", "?projection=blub")).status, 204);
}

TEST_F(FeaturesTest, UnpacksGzipForThoseWhoDoNotTakeIt) {
  const std::string text(100'000, 'x');
  const std::string packed = http::Gzip(text) + http::Gzip("tail");
  const Answer stored = Call("POST",
                             "/upload/storage/v1/b/bkt/o?uploadType=media&name=z"
                             "&contentEncoding=gzip",
                             packed, {{"Content-Type", "text/plain"}});
  ASSERT_EQ(stored.json["size"], std::to_string(packed.size())) << stored.body;
  const Answer unpacked = Call("GET", Object("z", "?alt=media"), "", {{"Range", "bytes=0-1"}});
  EXPECT_EQ(unpacked.status, 200);
  EXPECT_EQ(unpacked.body, text + "tail");
  EXPECT_FALSE(unpacked.headers.Has("Content-Encoding"));
  EXPECT_EQ(unpacked.headers.Get("x-goog-stored-content-encoding"), "gzip");
  EXPECT_EQ(unpacked.headers.Get("Warning"), "214 UploadServer gunzipped");
  const Answer whole =
      Call("GET", Object("z", "?alt=media"), "", {{"Accept-Encoding", "deflate, gzip"}});
  EXPECT_EQ(whole.body, packed);
  EXPECT_EQ(whole.headers.Get("Content-Encoding"), "gzip");
  for (const char* refusal : {"gzip;q=0", "gzip;q=0.0", "deflate, gzip; q=0.000"}) {
    EXPECT_EQ(Call("GET", Object("z", "?alt=media"), "", {{"Accept-Encoding", refusal}}).body,
              text + "tail")
        << refusal;
  }
  EXPECT_EQ(Call("GET", Object("z", "?alt=media"), "", {{"Accept-Encoding", "gzip;q=0.5"}}).body,
            packed);
  const Answer part = Call("GET", Object("z", "?alt=media"), "",
                           {{"Accept-Encoding", "gzip"}, {"Range", "bytes=0-1"}});
  EXPECT_EQ(part.status, 206);
  Call("PATCH", Object("z"), R"({"cacheControl":"no-transform"})");
  EXPECT_EQ(Call("GET", Object("z", "?alt=media")).body, packed);
}

TEST_F(FeaturesTest, GivesBytesToThoseWhoShowTheKey) {
  const std::string key(32, 'k');
  const std::vector<std::pair<std::string, std::string>> shown = {
      {"x-goog-encryption-algorithm", "AES256"}, {"x-goog-encryption-key", Base64(key)}};
  const std::string upload = "/upload/storage/v1/b/bkt/o?uploadType=media&name=k";
  const Answer stored = Call("POST", upload, "secret", shown);
  EXPECT_EQ(stored.json["customerEncryption"]["encryptionAlgorithm"], "AES256") << stored.body;
  EXPECT_EQ(Call("GET", Object("k", "?alt=media"), "", shown).body, "secret");
  const Answer without = Call("GET", Object("k", "?alt=media"));
  EXPECT_EQ(without.status, 400);
  EXPECT_EQ(without.reason(), "resourceIsEncryptedWithCustomerEncryptionKey");
  auto other = shown;
  other[1].second = Base64(std::string(32, 'o'));
  EXPECT_EQ(Call("GET", Object("k", "?alt=media"), "", other).status, 403);
  other[1].second = "short";
  EXPECT_EQ(Call("POST", upload, "x", other).status, 400);
  const std::string rewrite = Object("k") + "/rewriteTo/b/bkt/o/plain";
  EXPECT_EQ(Call("POST", rewrite).status, 400);
  EXPECT_EQ(Call("POST", rewrite, "",
                 {{"x-goog-copy-source-encryption-algorithm", "AES256"},
                  {"x-goog-copy-source-encryption-key", Base64(key)}})
                .status,
            200);
  EXPECT_EQ(Call("GET", Object("plain", "?alt=media")).body, "secret");
}

TEST_F(FeaturesTest, RewritesBigObjectsInSteps) {
  std::string bytes(5 << 19, '\0');  // 2.5 MiB
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 / 3);
  world_.Put("big", bytes);
  const std::string target = Object("big") + "/rewriteTo/b/bkt/o/copy";
  const std::string body = R"({"storageClass":"NEARLINE"})";
  const std::string step = "?maxBytesRewrittenPerCall=1048576";
  const Answer first = Call("POST", target + step, body);
  EXPECT_EQ(first.json["done"], false) << first.body;
  EXPECT_EQ(first.json["totalBytesRewritten"], "1048576");
  EXPECT_FALSE(world_.Has("copy"));
  const std::string token = first.json["rewriteToken"];
  Restart();
  EXPECT_EQ(Call("POST", target + step + "&rewriteToken=nonsense", body).status, 400);
  EXPECT_EQ(Call("POST",
                 Object("big") + "/rewriteTo/b/bkt/o/other" + step + "&rewriteToken=" + token, body)
                .status,
            400);
  EXPECT_EQ(Call("POST", target + step + "&rewriteToken=" + token, body).json["done"], false);
  const Answer last = Call("POST", target + step + "&rewriteToken=" + token, body);
  EXPECT_EQ(last.json["done"], true) << last.body;
  EXPECT_EQ(last.json["resource"]["storageClass"], "NEARLINE");
  EXPECT_EQ(world_.Get("copy"), bytes);
  EXPECT_EQ(Call("POST", target + "2" + step).json["done"], true);  // the same class: at once
  EXPECT_EQ(Call("POST", target + "?maxBytesRewrittenPerCall=7").status, 400);
}

TEST_F(FeaturesTest, ListsByGlobAndWhereTheDelimiterEnds) {
  for (const char* name : {"a%2F", "a%2Fx.txt", "a%2Fb%2Fy.txt", "c.txt"}) PutMedia(name, "1");
  const std::string list = std::string(kBucket) + "/o";
  const auto names = [](const Json& page) {
    std::vector<std::string> all;
    for (const Json& item : page.value("items", Json::array())) all.push_back(item["name"]);
    return all;
  };
  EXPECT_THAT(names(Call("GET", list + "?matchGlob=*%2F*.txt").json), ElementsAre("a/x.txt"));
  EXPECT_THAT(names(Call("GET", list + "?matchGlob=**.txt&maxResults=2").json),
              ElementsAre("a/b/y.txt", "a/x.txt"));
  EXPECT_THAT(names(Call("GET", list + "?delimiter=%2F&includeTrailingDelimiter=true").json),
              ElementsAre("a/", "c.txt"));
  EXPECT_EQ(Call("GET", list + "?delimiter=b%2F").json["prefixes"], Json::array({"a/b/"}));
}

TEST_F(FeaturesTest, StoresNothingWhoseSumsAreWrong) {
  struct Case {
    const char* header;
    const char* value;
  };
  const Case cases[] = {{"x-goog-hash", "crc32c=AAAAAA=="},
                        {"x-goog-hash", "md5=AAAAAAAAAAAAAAAAAAAAAA=="},
                        {"x-goog-hash", "md5=short"},
                        {"Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="}};
  for (const Case& row : cases) {
    const Answer answer = Call("POST", "/upload/storage/v1/b/bkt/o?uploadType=media&name=x", "data",
                               {{row.header, row.value}});
    EXPECT_EQ(answer.status, 400) << row.value;
    EXPECT_FALSE(world_.Has("x")) << row.value;
  }
  EXPECT_EQ(Call("POST", "/upload/storage/v1/b/bkt/o?uploadType=media&name=x", "data",
                 {{"x-goog-hash", "md5=jXd/OF09/siBXSD3SWAm3A=="}})
                .status,
            200);
}

}  // namespace
}  // namespace caip::gcs
