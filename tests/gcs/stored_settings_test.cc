// Buckets that an earlier version stored without checking their settings.
#include "fakes/gcs/store/side_store.h"
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class StoredSettingsTest : public ApiTest {
 protected:
  void TearDown() override {}
  // Writes the record as the earlier version did, and restarts.
  void Store(const Bucket& bucket) {
    EXPECT_TRUE(world_->CreateBucket(bucket.name).ok());
    stored_ = *world_->GetBucket(bucket.name);
    stored_.settings = bucket.settings;
    stored_.location = bucket.location;
    stored_.storage_class = bucket.storage_class;
    world_.Close();
    auto records = SideStore::Open(world_.side_file(), false, 1);
    EXPECT_TRUE(records.ok());
    (*records)->StageBucket(stored_);
    EXPECT_TRUE((*records)->Flush().ok());
    records->reset();
    Restart();
  }
  // Stores a bucket, and returns what a client reads.
  Json Read(const std::string& settings, const std::string& location = "US-CENTRAL1",
            const std::string& storage_class = "STANDARD") {
    Bucket bucket;
    bucket.name = "old-" + std::to_string(++made_);
    bucket.settings = settings;
    bucket.location = location;
    bucket.storage_class = storage_class;
    Store(bucket);
    const Answer answer = Call("GET", "/storage/v1/b/" + bucket.name);
    EXPECT_EQ(answer.status, 200) << answer.body;
    const Answer list = Call("GET", "/storage/v1/b?project=p&prefix=" + bucket.name);
    EXPECT_EQ(list.json["items"][0], answer.json);
    EXPECT_EQ(world_->GetBucket(bucket.name)->settings, settings) << "lost on disk";
    return answer.json;
  }

  Bucket stored_;
  int made_ = 0;
};

TEST_F(StoredSettingsTest, OfTheWrongTypeAreLeftOut) {
  const Json read = Read(R"({"versioning":{"enabled":"maybe"},"billing":{"requesterPays":true}})");
  EXPECT_FALSE(read.contains("versioning"));
  EXPECT_EQ(read["billing"]["requesterPays"], true);
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("'old-1'"), HasSubstr("versioning.enabled"),
                                           Not(HasSubstr("billing")))));
}

TEST_F(StoredSettingsTest, AreLeftOutWithTheSmallestPart) {
  struct Case {
    const char* stored;
    const char* read;     // without the times that the service sets
    const char* refused;  // nullptr: nothing
  };
  const Case cases[] = {
      {R"({"rpo":7})", R"({})", "rpo"},
      {R"({"cors":[{"maxAgeSeconds":"x"},{"method":["GET"]}]})", R"({"cors":[{"method":["GET"]}]})",
       "cors[0]"},
      {R"({"website":{"mainPageSuffix":"i.html","notFoundPage":404}})",
       R"({"website":{"mainPageSuffix":"i.html"}})", "website.notFoundPage"},
      {R"({"lifecycle":{"rule":[{"action":{"type":"Delete"}},
            {"action":{"type":"Delete"},"condition":{"age":"30"}}]}})",
       R"({"lifecycle":{"rule":[{"action":{"type":"Delete"},"condition":{"age":30}}]}})",
       "lifecycle.rule[0]"},
      {R"({"lifecycle":{"rule":[{"action":{"type":"Explode"},"condition":{"age":1}}]}})", R"({})",
       "lifecycle.rule[0]"},
      {R"({"logging":{"logBucket":"logs","shape":"round"}})", R"({"logging":{"logBucket":"logs"}})",
       "logging.shape"},
      {R"({"billing":{"requesterPays":null},"website":{"notFoundPage":"404.html"}})",
       R"({"website":{"notFoundPage":"404.html"}})", "billing.requesterPays"},
      {R"({"customPlacementConfig":{"dataLocations":["MARS","VENUS"]}})", R"({})",
       "customPlacementConfig"},
      {R"({"retentionPolicy":{"retentionPeriod":"5","isLocked":"yes",
            "effectiveTime":"2020-01-01T00:00:00Z"}})",
       R"({"retentionPolicy":{"retentionPeriod":"5","effectiveTime":"2020-01-01T00:00:00Z"}})",
       "retentionPolicy.isLocked"},
      {R"({"defaultEventBasedHold":true})", R"({"defaultEventBasedHold":true})", nullptr},
  };
  for (const Case& c : cases) {
    warnings_.clear();
    Json read = Read(c.stored);
    Json expected = *ParseJson(c.read);
    for (const char* name : {"rpo", "cors", "website", "lifecycle", "logging", "billing",
                             "customPlacementConfig", "retentionPolicy", "defaultEventBasedHold"}) {
      EXPECT_EQ(read.value(name, Json()), expected.value(name, Json())) << c.stored;
    }
    if (!c.refused) {
      EXPECT_THAT(warnings_, IsEmpty()) << c.stored;
    } else {
      EXPECT_THAT(warnings_, ElementsAre(HasSubstr(c.refused))) << c.stored;
    }
  }
}

TEST_F(StoredSettingsTest, UnknownLocationsAndClassesAreTheDefaults) {
  const Json read = Read("", "MARS", "FOO");
  EXPECT_EQ(read["location"], "US-CENTRAL1");
  EXPECT_EQ(read["locationType"], "region");
  EXPECT_EQ(read["storageClass"], "STANDARD");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("location, storageClass")));
}

// gsutil fails without toggleTime.
TEST_F(StoredSettingsTest, GetTheTimesThatAnEarlierVersionDidNotSet) {
  const Json read =
      Read(R"({"autoclass":{"enabled":true},"retentionPolicy":{"retentionPeriod":"9"}})");
  EXPECT_TRUE(read["autoclass"].contains("toggleTime"));
  EXPECT_TRUE(read["retentionPolicy"].contains("effectiveTime"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(StoredSettingsTest, AreReportedOnce) {
  Read(R"({"rpo":"FASTEST"})");
  Call("GET", "/storage/v1/b/old-1");
  Call("GET", "/storage/v1/b?project=p");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("rpo")));
}

TEST_F(StoredSettingsTest, GiveWayToAValidChange) {
  Read(R"({"versioning":{"enabled":"maybe"},"website":{"notFoundPage":404}})");
  const Answer changed = Call("PATCH", "/storage/v1/b/old-1", R"({"versioning":{"enabled":true}})");
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(changed.json["versioning"]["enabled"], true);
  EXPECT_TRUE(RulesOf(*world_->GetBucket("old-1")).versioning);
}

}  // namespace
}  // namespace caip::gcs
