#include <gtest/gtest.h>

#include <thread>

#include "base/encoding.h"
#include "tests/api/ml_world.h"

namespace caip::api {
namespace {

const std::string kJob = "/v1/projects/demo/jobs/j1";

Json ViewerPolicy(const std::string& member = "user:ann@example.com") {
  return {{"bindings", Json::array({{{"role", "roles/viewer"}, {"members", {member}}}})}};
}

TEST(JobPolicy, IsEmptyWithTheServicesEtagUntilItIsSet) {
  MlWorld ml;
  ml.PutJob("j1");
  EXPECT_EQ(ml.Get(kJob + ":getIamPolicy").json, Json({{"etag", "ACAB"}}));
}

TEST(JobPolicy, IsReturnedUnchangedWithANewEtag) {
  MlWorld ml;
  ml.PutJob("j1");
  const Answer set = ml.Post(kJob + ":setIamPolicy", {{"policy", ViewerPolicy()}});
  ASSERT_EQ(set.status, 200) << set.text;
  EXPECT_EQ(set.json["bindings"], ViewerPolicy()["bindings"]);
  EXPECT_NE(set.json["etag"], "ACAB");
  EXPECT_EQ(ml.Get(kJob + ":getIamPolicy").json, set.json);
}

TEST(JobPolicy, SurvivesARestartOfTheEmulator) {
  MlWorld ml;
  ml.PutJob("j1");
  const Answer set = ml.Post(kJob + ":setIamPolicy", {{"policy", ViewerPolicy()}});
  const PolicyStore later(ml.directory.path() / "policies");
  EXPECT_EQ(*later.Get("demo", "j1"), set.json);
  EXPECT_EQ(*later.Get("other", "j1"), Json({{"etag", "ACAB"}}));
}

TEST(JobPolicy, IsNotReplacedUnderAnOldEtag) {
  MlWorld ml;
  ml.PutJob("j1");
  const Answer first = ml.Post(kJob + ":setIamPolicy", {{"policy", ViewerPolicy()}});
  Json policy = ViewerPolicy("user:bob@example.com");
  policy["etag"] = first.json["etag"];
  EXPECT_EQ(ml.Post(kJob + ":setIamPolicy", {{"policy", policy}}).status, 200);
  const Answer stale = ml.Post(kJob + ":setIamPolicy", {{"policy", policy}});
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.json["error"]["status"], "ABORTED");
}

// Among 64 policies, some have an etag with + or /.
TEST(JobPolicy, TakesItsEtagInEitherAlphabet) {
  MlWorld ml;
  ml.PutJob("j1");
  int differing = 0;
  for (int i = 0; i < 64; ++i) {
    const std::string etag = ml.Get(kJob + ":getIamPolicy").json["etag"];
    Json policy = ViewerPolicy("user:u" + std::to_string(i) + "@a.b");
    policy["etag"] = Base64Url(*FromBase64(etag), true);
    differing += policy["etag"] != etag;
    EXPECT_EQ(ml.Post(kJob + ":setIamPolicy", {{"policy", policy}}).status, 200) << etag;
  }
  EXPECT_GT(differing, 0);
}

TEST(JobPolicy, ChangesOnlyWhatTheMaskNames) {
  MlWorld ml;
  ml.PutJob("j1");
  ml.Post(kJob + ":setIamPolicy", {{"policy", ViewerPolicy()}});
  const Json audit = {{"auditConfigs", Json::array({{{"service", "allServices"}}})}};
  const Answer set =
      ml.Post(kJob + ":setIamPolicy", {{"policy", audit}, {"updateMask", "auditConfigs"}});
  EXPECT_EQ(set.json["bindings"], ViewerPolicy()["bindings"]);
  EXPECT_EQ(set.json["auditConfigs"], audit["auditConfigs"]);
}

TEST(JobPolicy, MayNameFieldsAsTheMessageDoes) {
  MlWorld ml;
  ml.PutJob("j1");
  ml.Post(kJob + ":setIamPolicy", {{"policy", ViewerPolicy()}});
  const Answer set = ml.Ask("POST", kJob + ":setIamPolicy", R"({
      "policy": {"audit_configs": [{"service": "allServices",
                                    "audit_log_configs": [{"log_type": "DATA_READ"}]}]},
      "update_mask": "audit_configs"})");
  ASSERT_EQ(set.status, 200) << set.text;
  EXPECT_EQ(set.json["bindings"], ViewerPolicy()["bindings"]);
  EXPECT_EQ(set.json["auditConfigs"], Json::parse(R"([{"service": "allServices",
                             "auditLogConfigs": [{"logType": "DATA_READ"}]}])"));
  const Answer wrong =
      ml.Post(kJob + ":setIamPolicy", {{"policy", ViewerPolicy()}, {"update__mask", "bindings"}});
  EXPECT_EQ(wrong.status, 400) << wrong.text;
}

TEST(JobPolicy, KeepsNoNulls) {
  MlWorld ml;
  ml.PutJob("j1");
  Json policy = ViewerPolicy();
  policy["bindings"][0]["condition"] = nullptr;
  policy["auditConfigs"] = nullptr;
  const Answer set = ml.Post(kJob + ":setIamPolicy", {{"policy", policy}, {"updateMask", nullptr}});
  ASSERT_EQ(set.status, 200) << set.text;
  EXPECT_EQ(set.json["bindings"], ViewerPolicy()["bindings"]);
  EXPECT_FALSE(set.json.contains("auditConfigs"));
}

TEST(JobPolicy, ChangesAtTheSameTimeKeepEachOther) {
  MlWorld ml;
  PolicyStore policies(ml.directory.path() / "policies");
  constexpr int kThreads = 4;
  constexpr int kChanges = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&policies, t] {
      for (int i = 0; i < kChanges; ++i) {
        const std::string name = std::to_string(t) + "-" + std::to_string(i);
        const auto add = [&name](Json present) {
          present["auditConfigs"][name] = true;
          return present;
        };
        EXPECT_TRUE(policies.Change("demo", "j1", add).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ((*policies.Get("demo", "j1"))["auditConfigs"].size(), size_t{kThreads * kChanges});
}

// Each thread sets a field that the other does not name, and must find it unchanged.
TEST(JobPolicy, RequestsAtTheSameTimeKeepTheFieldsOfEachOther) {
  MlWorld ml;
  ml.PutJob("j1");
  const auto set_often = [&ml](const std::string& field, const std::string& member) {
    for (int i = 0; i < 150; ++i) {
      const std::string text = member + std::to_string(i);
      const Json bindings = {
          {"bindings", Json::array({{{"role", "roles/viewer"}, {"members", {"user:" + text}}}})}};
      const Json audits = {{"auditConfigs", Json::array({{{"service", text}}})}};
      const Json& policy = field == "bindings" ? bindings : audits;
      ml.Post(kJob + ":setIamPolicy", {{"policy", policy}, {"updateMask", field}});
      ASSERT_EQ(ml.Get(kJob + ":getIamPolicy").json[field], policy[field]) << "request " << i;
    }
  };
  std::thread other([&] { set_often("auditConfigs", "service"); });
  set_often("bindings", "ann");
  other.join();
}

TEST(JobPolicy, MustBeValid) {
  MlWorld ml;
  ml.PutJob("j1");
  const Json condition = {{"expression", "true"}};
  const Json bodies[] = {
      Json::object(),
      {{"policy", "x"}},
      {{"policy", {{"bogus", 1}}}},
      {{"policy", ViewerPolicy("ann")}},
      {{"policy", {{"version", 2}}}},
      {{"policy", {{"bindings", Json::array({{{"role", "viewer"}, {"members", {"allUsers"}}}})}}}},
      {{"policy", {{"bindings", Json::array({{{"role", "roles/viewer"}}})}}}},
      {{"policy",
        {{"bindings", Json::array({{{"role", "roles/viewer"},
                                    {"members", {"allUsers"}},
                                    {"condition", condition}}})}}}},
      {{"policy", ViewerPolicy()}, {"updateMask", "members"}},
  };
  for (const Json& body : bodies) {
    const Answer answer = ml.Post(kJob + ":setIamPolicy", body);
    EXPECT_EQ(answer.status, 400) << body << "\n" << answer.text;
    EXPECT_EQ(answer.json["error"]["status"], "INVALID_ARGUMENT") << body;
  }
  EXPECT_EQ(ml.Get(kJob + ":getIamPolicy").json, Json({{"etag", "ACAB"}}));
}

TEST(JobPolicy, HasAKnownVersion) {
  MlWorld ml;
  ml.PutJob("j1");
  const std::string get = kJob + ":getIamPolicy?options.requestedPolicyVersion=";
  for (const char* version : {"0", "1", "3"}) EXPECT_EQ(ml.Get(get + version).status, 200);
  for (const char* version : {"2", "-1", "x"}) EXPECT_EQ(ml.Get(get + version).status, 400);
}

TEST(JobPolicy, HoldsOnlyValuesOfTheDescribedTypes) {
  MlWorld ml;
  ml.PutJob("j1");
  const std::pair<const char*, const char*> rows[] = {
      {R"({"bindings": [{"role": "roles/viewer", "members": [null]}]})",
       "Invalid value at 'policy.bindings[0].members[0]' (TYPE_STRING), null"},
      {R"({"bindings": [null]})", "Invalid value at 'policy.bindings[0]' (TYPE_MESSAGE), null"},
      {R"({"version": 2147483648})", "Invalid value at 'policy.version' (TYPE_INT32), 2147483648"},
      {R"({"version": "x"})", "Invalid value at 'policy.version' (TYPE_INT32), \"x\""},
      {R"({"version": 1.5})", "Invalid value at 'policy.version' (TYPE_INT32), 1.5"},
      {R"({"version": "-5"})", "version -5"},
  };
  for (const auto& [policy, message] : rows) {
    const Answer answer = ml.Post(kJob + ":setIamPolicy", {{"policy", Json::parse(policy)}});
    EXPECT_EQ(answer.status, 400) << policy << answer.text;
    EXPECT_NE(answer.json["error"].value("message", "").find(message), std::string::npos)
        << policy << answer.text;
  }
}

TEST(JobPolicy, TakesAVersionAsTextAndReturnsANumber) {
  MlWorld ml;
  ml.PutJob("j1");
  for (const char* version : {"3", "\"3\"", "3.0"}) {
    const Answer set =
        ml.Post(kJob + ":setIamPolicy", {{"policy", {{"version", Json::parse(version)}}}});
    EXPECT_EQ(set.status, 200) << set.text;
    EXPECT_EQ(set.json["version"], 3) << version;
    EXPECT_TRUE(set.json["version"].is_number_integer()) << version;
  }
}

// docs/service/api.md, section 1
TEST(JobPolicy, ShowsNoMembersWithDefaultValues) {
  MlWorld ml;
  ml.PutJob("j1");
  ASSERT_EQ(ml.Post(kJob + ":setIamPolicy", {{"policy", ViewerPolicy()}}).status, 200);
  const Json empty = {{"version", 0}, {"bindings", Json::array()}, {"auditConfigs", Json::array()}};
  const Answer set = ml.Post(kJob + ":setIamPolicy",
                             {{"policy", empty}, {"updateMask", "bindings,version,auditConfigs"}});
  EXPECT_EQ(set.status, 200) << set.text;
  EXPECT_EQ(set.json, (Json{{"etag", set.json["etag"]}})) << set.text;
  EXPECT_EQ(ml.Get(kJob + ":getIamPolicy").json, set.json);
}

TEST(JobPolicy, NeedsAnExistingJob) {
  MlWorld ml;
  EXPECT_EQ(ml.Get(kJob + ":getIamPolicy").status, 404);
  EXPECT_EQ(ml.Post(kJob + ":setIamPolicy", {{"policy", ViewerPolicy()}}).status, 404);
}

TEST(JobPermissions, AreAllGrantedToEveryCaller) {
  MlWorld ml;
  ml.PutJob("j1");
  const Json asked = {{"permissions", {"ml.jobs.get", "ml.jobs.cancel"}}};
  EXPECT_EQ(ml.Post(kJob + ":testIamPermissions", asked).json, asked);
}

TEST(JobPermissions, OfAMissingJobAreEmptyAndNotAnError) {
  MlWorld ml;
  const Answer answer = ml.Post(kJob + ":testIamPermissions", {{"permissions", {"ml.jobs.get"}}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.json, Json::object());
}

TEST(JobPermissions, MustBeFullNamesOfJobPermissions) {
  MlWorld ml;
  ml.PutJob("j1");
  for (const Json& name : {Json("ml.jobs.*"), Json("storage.objects.get"), Json(""), Json()}) {
    const Json permissions = Json::array({name});
    const Answer answer = ml.Post(kJob + ":testIamPermissions", {{"permissions", permissions}});
    EXPECT_EQ(answer.status, 400) << name;
  }
}

}  // namespace
}  // namespace caip::api
