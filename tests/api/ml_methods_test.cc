// Methods of ml v1 other than jobs, and the format of answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/encoding.h"
#include "base/text.h"
#include "tests/api/ml_world.h"

namespace caip::api {
namespace {

using ::testing::HasSubstr;

TEST(MlMethods, ThatAreNotEmulatedAreNamedInTheError) {
  const std::pair<const char*, const char*> calls[] = {
      {"POST /v1/projects/p/models", "ml.projects.models.create"},
      {"GET /v1/projects/p/models/m", "ml.projects.models.get"},
      {"POST /v1/projects/p/models/m/versions", "ml.projects.models.versions.create"},
      {"POST /v1/projects/p/models/m/versions/v:setDefault",
       "ml.projects.models.versions.setDefault"},
      {"POST /v1/projects/p:predict", "ml.projects.predict"},
      {"POST /v1/projects/p/models/m:predict", "ml.projects.predict"},
      {"POST /v1/projects/p/models/m/versions/v:explain", "ml.projects.explain"},
  };
  MlWorld ml;
  for (const auto& [call, id] : calls) {
    const std::vector<std::string> words = Split(call, ' ');
    const Answer answer = ml.Ask(words[0], words[1], "{}");
    EXPECT_EQ(answer.status, 404) << call << ": gcloud repeats calls after 500 and more";
    EXPECT_EQ(answer.json["error"]["status"], "NOT_FOUND") << call;
    EXPECT_THAT(answer.json["error"].value("message", ""), HasSubstr(id)) << call;
  }
}

TEST(MlMethods, HaveNoModels) {
  MlWorld ml;
  const Answer list = ml.Get("/v1/projects/p/models?pageSize=5");
  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.json, Json::object());
  EXPECT_EQ(ml.Get("/v1/projects/p/models?pageSize=-1").status, 400);
  EXPECT_EQ(ml.Get("/v1/projects/p/models/m/versions").status, 404);
}

TEST(MlMethods, HaveNoOperations) {
  MlWorld ml;
  EXPECT_EQ(ml.Get("/v1/projects/p/operations?pageSize=5&filter=x").json, Json::object());
  for (const char* name :
       {"/v1/projects/p/operations/o", "/v1/projects/p/locations/us-central1/operations/o"}) {
    const Answer get = ml.Get(name);
    EXPECT_EQ(get.status, 404) << name;
    EXPECT_EQ(get.json["error"]["status"], "NOT_FOUND") << name;
    EXPECT_EQ(ml.Ask("POST", std::string(name) + ":cancel", "{}").status, 404) << name;
  }
}

TEST(MlMethods, OtherPathsAndVerbsAreRefusedInJson) {
  MlWorld ml;
  const Answer path = ml.Get("/v1/projects/p/trains");
  EXPECT_EQ(path.status, 404);
  EXPECT_EQ(path.json["error"]["status"], "NOT_FOUND");
  const Answer verb = ml.Ask("DELETE", "/v1/projects/p/jobs/j");
  EXPECT_EQ(verb.status, 405);
  EXPECT_EQ(verb.json["error"]["code"], 405);
}

TEST(MlMethods, AnImpossibleProjectIdIsDenied) {
  MlWorld ml;
  for (const char* project : {"Bad%21", "a_b", "-a", "a-", "A", "x.y:B"}) {
    for (const char* path : {"/jobs", "/jobs/j", "/locations", "/operations", ":getConfig"}) {
      const Answer answer = ml.Get(std::string("/v1/projects/") + project + path);
      EXPECT_EQ(answer.status, 403) << project << path;
      EXPECT_EQ(answer.json["error"]["status"], "PERMISSION_DENIED") << project << path;
    }
    EXPECT_EQ(ml.Post(std::string("/v1/projects/") + project + "/jobs", Json::object()).status,
              403);
  }
  for (const char* project : {"p", "123456789012", "demo-1", "example.com:demo", "9lives"}) {
    EXPECT_EQ(ml.Get(std::string("/v1/projects/") + project + "/jobs").status, 200) << project;
  }
}

TEST(MlMethods, ABodyThatIsTooLargeIsAnInvalidArgument) {
  MlWorld ml;
  const std::string body = "{\"jobId\": \"" + std::string(17u << 20, 'a') + "\"}";
  for (const char* path : {"/v1/projects/p/jobs", "/v1/projects/p/jobs/j:setIamPolicy"}) {
    const Answer answer = ml.Ask("POST", path, body);
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_EQ(answer.json["error"]["message"],
              "Request payload size exceeds the limit: 16777216 bytes.");
  }
}

TEST(MlMethods, ParametersMayHaveTheNamesOfTheMessage) {
  MlWorld ml;
  for (const char* id : {"j1", "j2", "j3"}) ml.PutJob(id);
  const Answer page = ml.Get("/v1/projects/demo/jobs?page_size=2");
  ASSERT_EQ(page.json["jobs"].size(), 2u) << page.text;
  const std::string token = StringOr(page.json, "nextPageToken");
  EXPECT_EQ(ml.Get("/v1/projects/demo/jobs?page_token=" + token).json["jobs"].size(), 1u);
  const Answer patched =
      ml.Ask("PATCH", "/v1/projects/demo/jobs/j1?update_mask=etag", R"({"etag": "12345678"})");
  EXPECT_EQ(patched.status, 409) << "the mask is known, the etag is another";
  EXPECT_EQ(ml.Get("/v1/projects/demo/jobs?page__size=2").status, 400);
  EXPECT_EQ(ml.Get("/v1/projects/demo/jobs?no_such=2").status, 400);
}

TEST(MlMethods, CancelTakesAnEmptyMessageOrNothing) {
  MlWorld ml;
  const std::string cancel = "/v1/projects/demo/jobs/none:cancel";
  for (const char* body : {"", " \n", "{}"}) {
    EXPECT_EQ(ml.Ask("POST", cancel, body).status, 404) << "the body is taken: " << body;
  }
  for (const char* body : {"{", "[]", "null", R"({"reason": "late"})"}) {
    const Answer refused = ml.Ask("POST", cancel, body);
    EXPECT_EQ(refused.status, 400) << body << refused.text;
    EXPECT_EQ(refused.json["error"]["status"], "INVALID_ARGUMENT") << body;
  }
}

TEST(MlMethods, RepeatedMasksAreJoined) {
  MlWorld ml;
  ml.PutJob("j1");
  const std::string twice = "/v1/projects/demo/jobs/j1?updateMask=labels&updateMask=etag";
  const Answer without = ml.Ask("PATCH", twice, R"({"labels": {}})");
  EXPECT_EQ(without.status, 400) << without.text;
  EXPECT_THAT(without.text, HasSubstr("etag"));
  const Answer illegal =
      ml.Ask("PATCH", "/v1/projects/demo/jobs/j1?updateMask=labels&updateMask=state", "{}");
  EXPECT_EQ(illegal.status, 400) << illegal.text;
}

TEST(MlMethods, HeadIsGetWithoutABody) {
  MlWorld ml;
  ml.PutJob("j1");
  EXPECT_EQ(ml.Ask("HEAD", "/v1/projects/demo/jobs/j1").status, 200);
  EXPECT_EQ(ml.Ask("HEAD", "/v1/projects/demo/jobs/j2").status, 404);
}

TEST(JobList, IsReadInPagesNewestFirst) {
  MlWorld ml;
  for (int i = 0; i < 45; ++i) ml.PutJob("j" + std::to_string(i));
  std::vector<std::string> seen;
  std::string token;
  std::vector<size_t> sizes;
  do {
    const Answer page = ml.Get("/v1/projects/demo/jobs?pageToken=" + PercentEncoded(token));
    sizes.push_back(page.json["jobs"].size());
    for (const Json& job : page.json["jobs"]) seen.push_back(job["jobId"]);
    token = StringOr(page.json, "nextPageToken");
  } while (!token.empty());
  EXPECT_THAT(sizes, ::testing::ElementsAre(20, 20, 5));
  ASSERT_EQ(seen.size(), 45u);
  for (int i = 0; i < 45; ++i) EXPECT_EQ(seen[i], "j" + std::to_string(44 - i));
}

TEST(JobList, HasNoTokenWhenTheLastPageIsFull) {
  MlWorld ml;
  for (int i = 0; i < 20; ++i) ml.PutJob("j" + std::to_string(i));
  const Answer page = ml.Get("/v1/projects/demo/jobs?pageSize=20");
  EXPECT_EQ(page.json["jobs"].size(), 20u);
  EXPECT_FALSE(page.json.contains("nextPageToken"));
  EXPECT_EQ(ml.Get("/v1/projects/other/jobs").json, Json::object());
}

TEST(JobList, ExaminesALimitedNumberOfJobsInACallAndReturnsAToken) {
  MlWorld ml;
  for (int i = 0; i < 5000; ++i) ml.PutJob("j" + std::to_string(i));
  const Answer first = ml.Get("/v1/projects/demo/jobs?filter=jobId%3D%22j7%22");
  EXPECT_FALSE(first.json.contains("jobs")) << first.text;
  const std::string token = StringOr(first.json, "nextPageToken");
  ASSERT_FALSE(token.empty());
  const Answer second =
      ml.Get("/v1/projects/demo/jobs?filter=jobId%3D%22j7%22&pageToken=" + PercentEncoded(token));
  ASSERT_EQ(second.json["jobs"].size(), 1u) << second.text;
  EXPECT_FALSE(second.json.contains("nextPageToken"));
}

TEST(JobList, FindsTheFilteredJobsAmongMany) {
  MlWorld ml;
  for (int i = 0; i < 600; ++i) ml.PutJob("j" + std::to_string(i));
  const Answer one = ml.Get("/v1/projects/demo/jobs?filter=jobId%3Aj1*");
  EXPECT_EQ(one.json["jobs"].size(), 20u);
  EXPECT_TRUE(one.json.contains("nextPageToken"));
  const Answer exact = ml.Get("/v1/projects/demo/jobs?filter=jobId%3D%22j7%22");
  ASSERT_EQ(exact.json["jobs"].size(), 1u) << exact.text;
  EXPECT_FALSE(exact.json.contains("nextPageToken"));
}

}  // namespace
}  // namespace caip::api
