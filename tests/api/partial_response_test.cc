#include "emulator/front/partial_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/ml_world.h"

namespace caip::front {
namespace {

using ::testing::HasSubstr;

const Json kListing = *ParseJson(R"({
  "kind": "list",
  "items": [{"id": 1, "name": "a", "meta": {"x": 1, "y": 2}}, {"id": 2, "name": "b"}],
  "next": "t", "owner": {"entity": "e", "id": "7"}})");

Json Select(const std::string& fields) {
  const auto selection = FieldSelection::Parse(fields);
  return selection.ok() ? selection->Of(kListing)
                        : Json(selection.error().violations[0].description);
}

TEST(FieldSelection, SelectsFieldsOfMessagesAndOfListElements) {
  const std::pair<const char*, const char*> rows[] = {
      {"kind", R"({"kind":"list"})"},
      {"kind,next", R"({"kind":"list","next":"t"})"},
      {"next,kind", R"({"kind":"list","next":"t"})"},
      {"items/id", R"({"items":[{"id":1},{"id":2}]})"},
      {"items(id,name)", R"({"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}]})"},
      {"items(id,meta/x)", R"({"items":[{"id":1,"meta":{"x":1}},{"id":2}]})"},
      {"items(id),next", R"({"items":[{"id":1},{"id":2}],"next":"t"})"},
      {"items.id", R"({"items":[{"id":1},{"id":2}]})"},
      {"items/meta(y)", R"({"items":[{"meta":{"y":2}},{}]})"},
      {"*/id", R"({"items":[{"id":1},{"id":2}],"owner":{"id":"7"}})"},
      {"items/*/x", R"({"items":[{"meta":{"x":1}},{}]})"},
      {"owner,owner/id", R"({"owner":{"entity":"e","id":"7"}})"},
      {"owner/id,owner", R"({"owner":{"entity":"e","id":"7"}})"},
      {"absent", "{}"},
      {" kind , next ", R"({"kind":"list","next":"t"})"},
  };
  for (const auto& [fields, chosen] : rows)
    EXPECT_EQ(CompactJson(Select(fields)), chosen) << fields;
  EXPECT_EQ(Select("*"), kListing);
}

TEST(FieldSelection, IsRefusedIfItIsMalformed) {
  for (const char* fields :
       {"", ",", "a,", "a(", "a()", "a)", "a(b", "a/", "/a", "a(b))", "a b", "a(b)c"}) {
    const auto selection = FieldSelection::Parse(fields);
    ASSERT_FALSE(selection.ok()) << fields;
    EXPECT_EQ(selection.error().code, Code::kInvalidArgument) << fields;
    EXPECT_EQ(selection.error().violations[0].field, "fields") << fields;
  }
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "a(";
  EXPECT_FALSE(FieldSelection::Parse(deep).ok());
  EXPECT_FALSE(FieldSelection::Parse(std::string(1 << 20, 'a')).ok());
}

TEST(StandardParameters, FieldsSelectAPartOfAJob) {
  api::MlWorld ml;
  ml.PutJob("j1");
  EXPECT_EQ(ml.Get("/v1/projects/demo/jobs/j1?fields=jobId,trainingInput/region").json,
            Json({{"jobId", "j1"}, {"trainingInput", {{"region", "us-central1"}}}}));
  EXPECT_EQ(ml.Get("/v1/projects/demo/jobs?fields=jobs(jobId,labels/team)").json,
            Json({{"jobs", Json::array({{{"jobId", "j1"}, {"labels", {{"team", "j1"}}}}})}}));
}

TEST(StandardParameters, AnUnknownFieldIsRefused) {
  api::MlWorld ml;
  ml.PutJob("j1");
  for (const char* fields :
       {"bogus", "jobs/bogus", "jobs(jobId,bogus)", "jobs/jobId/x", "*/bogus"}) {
    const auto answer = ml.Get(std::string("/v1/projects/demo/jobs?fields=") + fields);
    EXPECT_EQ(answer.status, 400) << fields;
    EXPECT_THAT(answer.text, HasSubstr("Cannot find matching fields for path")) << fields;
  }
}

TEST(StandardParameters, AnErrorIsAlwaysComplete) {
  api::MlWorld ml;
  const auto answer = ml.Get("/v1/projects/demo/jobs/none?fields=jobId");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.json["error"]["code"], 404);
}

TEST(StandardParameters, ParametersWithoutEffectHereAreAccepted) {
  api::MlWorld ml;
  ml.PutJob("j1");
  const auto answer = ml.Get(
      "/v1/projects/demo/jobs/j1?key=k&quotaUser=u&access_token=t&oauth_token=t&uploadType=media"
      "&upload_protocol=raw&trace=email&alt=json&$.xgafv=2");
  EXPECT_EQ(answer.status, 200) << answer.text;
}

TEST(StandardParameters, ParametersThatWouldChangeTheFormatAreRefused) {
  api::MlWorld ml;
  ml.PutJob("j1");
  for (const char* query :
       {"callback=f", "alt=proto", "alt=media", "alt=xml", "$.xgafv=3", "bogus=1", "pageSize=1"}) {
    const auto answer = ml.Get(std::string("/v1/projects/demo/jobs/j1?") + query);
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_EQ(answer.json["error"]["status"], "INVALID_ARGUMENT") << query;
  }
}

TEST(StandardParameters, PrettyPrintingCanBeTurnedOff) {
  api::MlWorld ml;
  ml.PutJob("j1");
  const std::string target = "/v1/projects/demo/jobs/j1?fields=jobId";
  EXPECT_EQ(ml.Get(target).text, "{\n  \"jobId\": \"j1\"\n}\n");
  EXPECT_EQ(ml.Get(target + "&prettyPrint=false").text, "{\"jobId\":\"j1\"}");
}

TEST(StandardParameters, OldLibrariesGetTheOldFormatOfErrors) {
  api::MlWorld ml;
  const auto answer = ml.Get("/v1/projects/demo/jobs/none?$.xgafv=1");
  EXPECT_EQ(answer.json["error"]["errors"][0]["reason"], "notFound");
  EXPECT_EQ(answer.json["error"]["errors"][0]["message"], answer.json["error"]["message"]);
  EXPECT_FALSE(ml.Get("/v1/projects/demo/jobs/none").json["error"].contains("errors"));
}

}  // namespace
}  // namespace caip::front
