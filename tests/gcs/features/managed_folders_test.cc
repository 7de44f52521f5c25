// Managed folders, over the JSON API.
#include <string>

#include "tests/gcs/features/features_world.h"

namespace caip::gcs {
namespace {

using ::testing::HasSubstr;

TEST_F(FeaturesTest, KeepsManagedFolders) {
  const std::string folders = UniformFolders();
  const Json before = Call("GET", kBucket).json;
  EXPECT_EQ(Call("POST", folders, R"({"name":"a/b"})").json["name"], "a/b/");
  const Answer again = Call("POST", folders, R"({"name":"a/b/"})");
  EXPECT_EQ(again.status, 409);
  EXPECT_THAT(again.body, HasSubstr("The specified managed folder already exists."));
  EXPECT_EQ(Call("GET", folders + "?prefix=a").json["items"][0]["name"], "a/b/");
  EXPECT_EQ(Call("POST", folders, R"({"name":"a/c"})").status, 200);
  const Answer first = Call("GET", folders + "?pageSize=1");
  const std::string token = first.json["nextPageToken"];
  EXPECT_EQ(first.json["items"].size(), 1u);
  const Answer second = Call("GET", folders + "?pageSize=1&pageToken=" + token);
  EXPECT_EQ(second.json["items"][0]["name"], "a/c/");
  EXPECT_FALSE(second.json.contains("nextPageToken"));
  EXPECT_EQ(Call("GET", folders + "/a%2Fb%2F?ifMetagenerationNotMatch=1").status, 304);
  EXPECT_EQ(Call("GET", folders + "/a%2Fb%2F?ifMetagenerationNotMatch=2").status, 200);
  EXPECT_EQ(Call("GET", folders + "/a%2Fb%2F?ifMetagenerationMatch=2").status, 412);
  EXPECT_EQ(Call("DELETE", folders + "/a%2Fb%2F?ifMetagenerationNotMatch=1").status, 412);
  EXPECT_EQ(Call("DELETE", folders + "/a%2Fb%2F?ifMetagenerationMatch=2").status, 412);
  EXPECT_EQ(Call("DELETE", folders + "/a%2Fb%2F?ifMetagenerationMatch=1").status, 204);
  EXPECT_EQ(Call("GET", folders + "/a%2Fb%2F").status, 404);
  EXPECT_EQ(Call("GET", folders + "/a%2Fc").json["name"], "a/c/");  // the last slash may be missing
  EXPECT_EQ(Call("GET", folders + "/a%2Fc/iam").status, 200);
  EXPECT_EQ(Call("DELETE", folders + "/a%2Fc").status, 204);
  EXPECT_EQ(Call("DELETE", folders + "/a%2Fb%2F").status, 404);
  EXPECT_EQ(Call("GET", kBucket).json, before);
}

// https://cloud.google.com/storage/docs/json_api/v1/managedFolder#resource-representations
TEST_F(FeaturesTest, AManagedFolderHasTimesOfItsOwn) {
  const std::string folders = UniformFolders();
  const auto wait = [&] { world_.clock().Advance(std::chrono::seconds(3)); };
  wait();
  const Json made = Call("POST", folders, R"({"name":"mf"})").json;
  wait();
  const Json other = Call("POST", folders, R"({"name":"other"})").json;
  wait();
  const Json bucket = Call("GET", kBucket).json;
  const std::string created = made["createTime"];
  EXPECT_GT(created, bucket["updated"].get<std::string>());
  EXPECT_GT(created, bucket["timeCreated"].get<std::string>());
  EXPECT_GT(other["createTime"].get<std::string>(), created);
  EXPECT_EQ(made["updateTime"], created);
  const std::string policy =
      R"({"bindings":[{"role":"roles/storage.objectViewer","members":["user:a@b.c"]}]})";
  ASSERT_EQ(Call("PUT", folders + "/mf%2F/iam", policy).status, 200);
  EXPECT_EQ(Call("GET", kBucket).json, bucket);  // the policy is not the bucket's
  const Json after = Call("GET", folders + "/mf").json;
  EXPECT_EQ(after["createTime"], created);
  EXPECT_GT(after["updateTime"].get<std::string>(), created);
  EXPECT_EQ(after["metageneration"], "1");
  Restart();
  EXPECT_EQ(Call("GET", folders).json["items"][0]["updateTime"], after["updateTime"]);
  EXPECT_EQ(Call("GET", folders + "/other").json["updateTime"], other["createTime"]);
}

// https://cloud.google.com/storage/docs/managed-folders
TEST_F(FeaturesTest, OnlyABucketWithUniformAccessGetsManagedFolders) {
  const std::string folders = std::string(kBucket) + "/managedFolders";
  const Answer refused = Call("POST", folders, R"({"name":"mf"})");
  EXPECT_EQ(refused.status, 412);
  EXPECT_EQ(refused.reason(), "conditionNotMet");
  EXPECT_THAT(refused.body, HasSubstr("Uniform bucket-level access is required to be enabled"));
  EXPECT_EQ(Call("GET", folders + "/mf").status, 404);
  EXPECT_EQ(Call("GET", folders).status, 200);
}

TEST_F(FeaturesTest, RefusesNamesThatNoManagedFolderHas) {
  const std::string folders = UniformFolders();
  const auto levels = [](int count) {
    std::string name;
    for (int i = 0; i < count; ++i) name += "a/";
    return name;
  };
  for (const std::string& name :
       {std::string("."), std::string(".."), std::string("../"), levels(16), levels(15) + "a",
        std::string(1024, 'a'), std::string(".well-known/acme-challenge/x")}) {
    const Answer answer = Call("POST", folders, Json{{"name", name}}.dump());
    EXPECT_EQ(answer.status, 400) << name << answer.body;
    EXPECT_EQ(answer.reason(), "invalid") << name;
  }
  EXPECT_EQ(Call("POST", folders, Json{{"name", levels(15)}}.dump()).status, 200);
  EXPECT_EQ(Call("POST", folders, R"({"name":"..."})").status, 200);
}

TEST_F(FeaturesTest, AMissingManagedFolderHasNoPolicy) {
  const std::string iam = UniformFolders() + "/gone%2F/iam";
  EXPECT_EQ(Call("GET", iam).status, 404);
  EXPECT_EQ(Call("PUT", iam, R"({"bindings":[]})").status, 404);
  EXPECT_EQ(Call("GET", iam + "/testPermissions?permissions=storage.objects.get").status, 404);
  EXPECT_EQ(Call("DELETE", UniformFolders() + "/gone?ifMetagenerationMatch=9").status, 404);
}

TEST_F(FeaturesTest, ADeletedManagedFolderTakesItsPolicyAlong) {
  const std::string folders = UniformFolders();
  Call("POST", folders, R"({"name":"a"})");
  const std::string policy =
      R"({"bindings":[{"role":"roles/storage.objectViewer","members":["user:a@b.c"]}]})";
  ASSERT_EQ(Call("PUT", folders + "/a/iam", policy).status, 200);
  EXPECT_EQ(Call("GET", folders + "/a?ifMetagenerationMatch=2").status, 412);
  EXPECT_EQ(Call("DELETE", folders + "/a").status, 204);
  Call("POST", folders, R"({"name":"a"})");
  EXPECT_FALSE(Call("GET", folders + "/a/iam").json.contains("bindings"));
}

TEST_F(FeaturesTest, KeepsAManagedFolderThatHoldsSomething) {
  const std::string folders = UniformFolders();
  Call("POST", folders, R"({"name":"a"})");
  Call("POST", folders, R"({"name":"a/b"})");
  PutMedia("a/b/x", "1");
  EXPECT_EQ(Call("DELETE", folders + "/a%2F").status, 409);
  EXPECT_EQ(Call("DELETE", folders + "/a%2Fb%2F").status, 409);
  EXPECT_EQ(Call("DELETE", folders + "/a%2Fb%2F?allowNonEmpty=true").status, 204);
  EXPECT_EQ(Call("GET", Object("a%2Fb%2Fx")).status, 200);
}

TEST_F(FeaturesTest, ListsManagedFoldersAsPrefixesWhenAsked) {
  const std::string folders = UniformFolders();
  for (const char* name : {"empty", "deep/er", "full", "last"}) {
    Call("POST", folders, R"({"name":")" + std::string(name) + "\"}");
  }
  PutMedia("full/x", "1");
  PutMedia("k", "1");
  const std::string list = std::string(kBucket) + "/o?";
  const auto prefixes = [&](const std::string& query) {
    return Call("GET", list + query).json.value("prefixes", Json::array());
  };
  EXPECT_EQ(prefixes("delimiter=/"), Json::array({"full/"}));
  const std::string with = "includeFoldersAsPrefixes=true&";
  EXPECT_EQ(prefixes(with + "delimiter=/"), Json::array({"deep/", "empty/", "full/", "last/"}));
  EXPECT_EQ(prefixes(with + "delimiter=/&prefix=deep/"), Json::array({"deep/er/"}));
  EXPECT_EQ(prefixes(with + "delimiter=/&prefix=deep/er/"), Json::array());
  EXPECT_EQ(prefixes(with + "delimiter=l"), prefixes("delimiter=l"));  // of "/" only
  EXPECT_EQ(Call("GET", list + with + "delimiter=/").json["items"].size(), 1u);
}

}  // namespace
}  // namespace caip::gcs
