// What a change of an object leaves as it is, and what a refused one leaves.
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

using ::testing::HasSubstr;

class ChangedObjects : public ApiTest {
 protected:
  static std::string Object(const std::string& name, const std::string& query = "") {
    return "/storage/v1/b/bkt/o/" + name + query;
  }
  Json Described(const std::string& name) { return Call("GET", Object(name)).json; }
  void KeepDeletedObjects() {
    const std::string policy = R"({"softDeletePolicy":{"retentionDurationSeconds":604800}})";
    ASSERT_EQ(Call("PATCH", "/storage/v1/b/bkt", policy).status, 200);
  }
  /// The names of soft-deleted objects.
  std::string Deleted() {
    std::string names;
    const Json page = Call("GET", "/storage/v1/b/bkt/o?softDeleted=true").json;
    if (!page.contains("items")) return names;
    for (const Json& item : page["items"]) names += item["name"].get<std::string>() + " ";
    return names;
  }
  /// Deletes it, and returns its generation.
  std::string Delete(const std::string& name) {
    const std::string generation = Described(name)["generation"];
    EXPECT_EQ(Call("DELETE", Object(name)).status, 204);
    return generation;
  }
};

// https://github.com/googleapis/google-cloud-cpp/issues/2322: only a rewrite changes the class.
TEST_F(ChangedObjects, KeepTheirStorageClass) {
  ASSERT_EQ(Call("PATCH", "/storage/v1/b/bkt", R"({"storageClass":"NEARLINE"})").status, 200);
  PutMedia("o", "x");
  for (const char* body :
       {R"({"contentType":"a/b"})", R"({"storageClass":null})", R"({"storageClass":"COLDLINE"})"}) {
    for (const char* method : {"PUT", "PATCH"}) {
      EXPECT_EQ(Call(method, Object("o"), body).json["storageClass"], "NEARLINE") << body;
    }
  }
  EXPECT_EQ(Call("PATCH", Object("o"), R"({"storageClass":"FOO"})").status, 400);
  const std::string rewrite = Object("o") + "/rewriteTo/b/bkt/o/o";
  const Json done = Call("POST", rewrite, R"({"storageClass":"COLDLINE"})").json;
  EXPECT_EQ(done["resource"]["storageClass"], "COLDLINE");
  EXPECT_EQ(done["resource"]["timeStorageClassUpdated"], done["resource"]["timeCreated"]);
}

// "If the request body is empty, the editable metadata associated with the source object is applied
// to the destination object" (objects.rewrite).
TEST_F(ChangedObjects, AreCopiedWithTheMetadataOfTheBodyIfItHasAny) {
  PutMedia("o", "x");
  ASSERT_EQ(Call("PATCH", Object("o"),
                 R"({"contentType":"text/x","cacheControl":"no-store","metadata":{"k":"v"}})")
                .status,
            200);
  const auto copied = [&](const std::string& body) {
    const Json made = Call("POST", Object("o") + "/copyTo/b/bkt/o/c", body).json;
    EXPECT_EQ(Call("POST", Object("o") + "/rewriteTo/b/bkt/o/d", body).json["done"], true);
    const Json rewritten = Described("d");
    for (const char* field : {"contentType", "cacheControl", "metadata"}) {
      EXPECT_EQ(StringOr(made, field), StringOr(rewritten, field)) << field;
    }
    return StringOr(made, "contentType") + " " + StringOr(made, "cacheControl") + " " +
           (made.contains("metadata") ? made["metadata"].dump() : "");
  };
  const std::string all = R"(text/x no-store {"k":"v"})";
  EXPECT_EQ(copied(""), all);
  EXPECT_EQ(copied("{}"), all);
  EXPECT_EQ(copied(R"({"bucket":"bkt","storageClass":"NEARLINE"})"), all);
  EXPECT_EQ(copied(R"({"cacheControl":"public"})"), "application/octet-stream public ");
  EXPECT_EQ(copied(R"({"metadata":{"a":"b"}})"), R"(application/octet-stream  {"a":"b"})");
}

TEST_F(ChangedObjects, KeepNoVersionOfTheTargetOfARefusedMove) {
  KeepDeletedObjects();
  PutMedia("from", "S");
  PutMedia("to", "D");
  ASSERT_EQ(Call("PATCH", Object("from"), R"({"temporaryHold":true})").status, 200);
  EXPECT_EQ(Call("POST", Object("from") + "/moveTo/o/to").status, 403);
  EXPECT_EQ(Deleted(), "");
  EXPECT_EQ(world_.Get("to"), "D");
}

// https://cloud.google.com/storage/docs/soft-delete: "cannot be read or modified".
TEST_F(ChangedObjects, CanOnlyBeShownAndRestoredWhenTheyAreSoftDeleted) {
  KeepDeletedObjects();
  PutMedia("o", "x");
  const std::string of = "?softDeleted=true&generation=" + Delete("o");
  EXPECT_EQ(Call("GET", Object("o", of)).status, 200);
  EXPECT_EQ(Call("GET", Object("o", of + "&alt=media")).status, 404);
  EXPECT_EQ(Call("PATCH", Object("o", of), R"({"contentType":"a/b"})").status, 404);
  EXPECT_EQ(Call("DELETE", Object("o", of)).status, 404);
  EXPECT_EQ(Deleted(), "o ");
  EXPECT_EQ(Call("POST", Object("o") + "/restore" + of).status, 200);
}

TEST_F(ChangedObjects, AreRestoredBesideThoseThatCannotBeReplaced) {
  KeepDeletedObjects();
  for (const char* name : {"t1", "t2", "t3"}) {
    PutMedia(name, "old");
    Delete(name);
  }
  PutMedia("t2", "new");
  ASSERT_EQ(Call("PATCH", Object("t2"), R"({"temporaryHold":true})").status, 200);
  const Answer done =
      Call("POST", Object("bulkRestore"), R"({"matchGlobs":["t*"],"allowOverwrite":true})");
  EXPECT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(world_.Get("t1") + world_.Get("t2") + world_.Get("t3"), "oldnewold");
}

// https://cloud.google.com/storage/docs/object-lock: in buckets that have enabled the feature.
TEST_F(ChangedObjects, AreRetainedOnlyInBucketsThatWereMadeForIt) {
  const std::string until =
      R"({"retention":{"mode":"Unlocked","retainUntilTime":"2030-01-01T00:00:00Z"}})";
  PutMedia("o", "x");
  const Answer refused = Call("PATCH", Object("o"), until);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("enableObjectRetention"));
  EXPECT_EQ(Call("POST", Object("o") + "/rewriteTo/b/bkt/o/p", until).status, 400);
  Call("POST", "/storage/v1/b?project=p&enableObjectRetention=true", R"({"name":"kept"})");
  ASSERT_EQ(Call("POST", "/upload/storage/v1/b/kept/o?uploadType=media&name=o", "x").status, 200);
  EXPECT_EQ(Call("PATCH", "/storage/v1/b/kept/o/o", until).status, 200);
}

TEST_F(ChangedObjects, StayCompositeHoweverManyComponentsTheyHave) {
  PutMedia("c", "");
  Json made;
  for (int round = 0; round < 8; ++round) {
    Json sources = Json::array();
    for (int i = 0; i < 32; ++i) sources.push_back({{"name", "c"}});
    made = Call("POST", Object("c") + "/compose", Json{{"sourceObjects", sources}}.dump()).json;
  }
  EXPECT_EQ(made["componentCount"], 2147483647);
  EXPECT_FALSE(made.contains("md5Hash"));
}

}  // namespace
}  // namespace caip::gcs
