#include "emulator/api/discovery/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/api/ml_world.h"

namespace caip::api {
namespace {

// id -> method, at any depth of the resources.
void Gather(const Json& resource, std::map<std::string, Json>& methods) {
  for (const auto& method : resource.value("methods", Json::object()))
    methods[method["id"]] = method;
  for (const auto& inner : resource.value("resources", Json::object())) Gather(inner, methods);
}

std::map<std::string, Json> MethodsOf(const Json& document) {
  std::map<std::string, Json> methods;
  Gather(document, methods);
  return methods;
}

void ExpectReferencesResolve(const Json& value, const Json& schemas) {
  if (value.is_object() && value.contains("$ref")) {
    EXPECT_TRUE(schemas.contains(value["$ref"].get<std::string>())) << value;
  }
  if (!value.is_structured()) return;
  for (const auto& member : value) ExpectReferencesResolve(member, schemas);
}

TEST(Discovery, HasEveryRouteOfMlAndNoOther) {
  MlWorld ml;
  const auto methods = MethodsOf(ml.Get("/discovery/v1/apis/ml/v1/rest").json);
  std::map<std::string, std::vector<std::string>> routed;  // id -> "VERB pattern"
  for (const http::Route& route : ml.router.routes()) {
    if (!route.id.starts_with("ml.")) continue;
    EXPECT_TRUE(methods.contains(route.id)) << route.id;
    routed[route.id].push_back(route.method + " " + route.pattern);
  }
  for (const auto& [id, method] : methods) {
    ASSERT_TRUE(routed.contains(id)) << id;
    // A route of this method must serve the path that the document tells clients to send.
    const ApiMethod* described = ApiDescription::Ml().Find(id);
    const std::string call =
        method["httpMethod"].get<std::string>() + " " + RoutePattern(*described);
    EXPECT_THAT(routed[id], ::testing::Contains(call)) << id;
  }
}

TEST(Discovery, HasNoDanglingReference) {
  for (const ApiDescription* api : ApiDescription::All()) {
    std::set<std::string> all;
    for (const ApiMethod& method : api->methods()) all.insert(method.id);
    const Json document = DiscoveryDocument(*api, all, "http://localhost:1/");
    ExpectReferencesResolve(document, document["schemas"]);
    EXPECT_EQ(MethodsOf(document).size(), api->methods().size()) << api->name();
  }
}

TEST(Discovery, NamesTheEndpointThatTheClientAsked) {
  MlWorld ml;
  ml.host = "localhost:9999";
  ml.scheme = "https";
  const Json document = ml.Get("/$discovery/rest?version=v1").json;
  EXPECT_EQ(document["rootUrl"], "https://localhost:9999/");
  EXPECT_EQ(document["baseUrl"], "https://localhost:9999/");
  EXPECT_EQ(document["servicePath"], "");
  EXPECT_FALSE(document.contains("mtlsRootUrl"));
}

TEST(Discovery, DescribesAMethodAsTheServiceDoes) {
  MlWorld ml;
  const auto methods = MethodsOf(ml.Get("/discovery/v1/apis/ml/v1/rest").json);
  const Json& patch = methods.at("ml.projects.jobs.patch");
  EXPECT_EQ(patch["path"], "v1/{+name}");
  EXPECT_EQ(patch["flatPath"], "v1/projects/{projectsId}/jobs/{jobsId}");
  EXPECT_EQ(patch["parameters"]["name"]["pattern"], "^projects/[^/]+/jobs/[^/]+$");
  EXPECT_EQ(patch["parameters"]["updateMask"]["format"], "google-fieldmask");
  EXPECT_EQ(patch["parameterOrder"], Json::array({"name"}));
  EXPECT_EQ(patch["request"]["$ref"], "GoogleCloudMlV1__Job");
}

TEST(Discovery, IsServedByHostOrByVersion) {
  MlWorld ml;
  EXPECT_EQ(ml.Get("/$discovery/rest?version=v1").json["name"], "ml");
  EXPECT_EQ(ml.Get("/$discovery/rest?version=v2").json["name"], "logging");
  EXPECT_EQ(ml.Get("/$discovery/rest?version=v9").status, 404);
  ml.host = "storage.googleapis.com";
  EXPECT_EQ(ml.Get("/$discovery/rest?version=v1").json["name"], "storage");
  ml.host = "europe-west4-aiplatform.googleapis.com";
  EXPECT_EQ(ml.Get("/$discovery/rest?version=v1").json["id"], "aiplatform:v1");
  EXPECT_EQ(ml.Get("/$discovery/rest").json["id"], "aiplatform:v1");
  EXPECT_EQ(ml.Get("/$discovery/rest?version=v1beta1").json["id"], "aiplatform:v1beta1");
  EXPECT_EQ(ml.Get("/$discovery/rest?version=v2").status, 404);
}

TEST(Discovery, DescribesTheBetaVersionOfVertexAi) {
  MlWorld ml;
  const Json document = ml.Get("/discovery/v1/apis/aiplatform/v1beta1/rest").json;
  const Json& schemas = document["schemas"];
  const std::string prefix = "GoogleCloudAiplatformV1beta1";
  for (const auto& [name, schema] : schemas.items()) {
    EXPECT_EQ(schema["id"], name);
    EXPECT_EQ(name.starts_with("GoogleCloud"), name.starts_with(prefix)) << name;
  }
  const Json& machine = schemas[prefix + "MachineSpec"]["properties"];
  EXPECT_TRUE(machine.contains("machineType"));
  EXPECT_EQ(machine["multihostGpuNodeCount"]["format"], "int32");
  const std::string stop = schemas[prefix + "StudySpec"]["properties"]["convexStopConfig"]["$ref"];
  EXPECT_EQ(schemas[stop]["properties"]["maxNumSteps"]["format"], "int64");
  EXPECT_EQ(schemas[prefix + "CustomJob"]["properties"]["jobSpec"]["$ref"],
            prefix + "CustomJobSpec");
  const Json stable = ml.Get("/discovery/v1/apis/aiplatform/v1/rest").json;
  EXPECT_FALSE(stable["schemas"]["GoogleCloudAiplatformV1MachineSpec"]["properties"].contains(
      "multihostGpuNodeCount"));
  EXPECT_EQ(schemas.size(), stable["schemas"].size() + 2);
}

TEST(Discovery, ListsTheAvailableApis) {
  MlWorld ml;
  const Json list = ml.Get("/discovery/v1/apis").json;
  ASSERT_EQ(list["items"].size(), 5u);
  for (const auto& item : list["items"]) {
    const std::string url = item["discoveryRestUrl"];
    const std::string path = url.substr(std::string("http://127.0.0.1:2247").size());
    EXPECT_EQ(ml.Get(path).json["id"], item["id"]);
  }
  EXPECT_EQ(ml.Get("/discovery/v1/apis?name=ml").json["items"].size(), 1u);
  EXPECT_EQ(ml.Get("/discovery/v1/apis/compute/v1/rest").status, 404);
}

}  // namespace
}  // namespace caip::api
