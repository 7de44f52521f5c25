// Every method of Google's APIs, with values of the wrong types in each field of its body and in
// each parameter: no request crashes the emulator or is answered with 500.
#include "tests/app/wrong_types.h"

#include <gtest/gtest.h>

#include "base/encoding.h"
#include "emulator/api/discovery/api_description.h"
#include "emulator/app/storage_apis.h"
#include "fakes/logging/api/logging_api.h"
#include "tests/api/ml_world.h"
#include "tests/api/study_world.h"
#include "tests/gcs/store_world.h"

namespace caip::app {
namespace {

using api::ApiDescription;
using api::ApiMethod;

const Json kJob = Json::parse(R"({
    "jobId": "fuzz", "labels": {"a": "b"},
    "trainingInput": {"region": "us-central1", "scaleTier": "CUSTOM", "masterType": "n1-standard-4",
      "packageUris": ["gs://bkt/obj"], "pythonModule": "a.b", "runtimeVersion": "2.11",
      "pythonVersion": "3.7",
      "hyperparameters": {"goal": "MAXIMIZE", "params": [
        {"parameterName": "x", "type": "DOUBLE", "minValue": 0.1, "maxValue": 1}]}}})");

// Bodies of valid requests, so that unsuitable values get beyond the checks for missing fields.
const std::map<std::string, Json>& ValidBodies() {
  static const std::map<std::string, Json> bodies = {
      {"GoogleCloudMlV1__Job", kJob},
      {"GoogleCloudMlV1__Study", {{"studyConfig", api::AConfig()}}},
      {"GoogleCloudMlV1__SuggestTrialsRequest", {{"suggestionCount", 1}, {"clientId", "c"}}},
      {"GoogleIamV1__SetIamPolicyRequest", Json::parse(R"({"policy": {"version": 3, "bindings": [
         {"role": "roles/viewer", "members": ["allUsers"]}]}})")},
      {"GoogleIamV1__TestIamPermissionsRequest", {{"permissions", {"ml.jobs.get"}}}},
      {"Bucket", {{"name", "bkt"}}},
      {"Object", {{"name", "obj"}}},
      {"BucketAccessControl", {{"entity", "allUsers"}, {"role", "READER"}}},
      {"ObjectAccessControl", {{"entity", "allUsers"}, {"role", "READER"}}},
      {"ComposeRequest", Json::parse(R"({"sourceObjects": [{"name": "obj"}]})")},
      {"Policy", Json::parse(R"({"bindings": [
         {"role": "roles/storage.objectViewer", "members": ["allUsers"]}]})")},
      {"ListLogEntriesRequest", {{"resourceNames", {"projects/demo"}}}},
      {"WriteLogEntriesRequest", Json::parse(R"({"entries": [{"logName": "projects/demo/logs/l1",
                                    "resource": {"type": "global"}, "textPayload": "x"}]})")},
  };
  return bodies;
}

const char* const kWrongParameters[] = {"",
                                        "-5",
                                        "1.5",
                                        "1e999",
                                        "99999999999999999999",
                                        "null",
                                        "true",
                                        "text",
                                        "%5Bnull%5D",
                                        "%7B%7D",
                                        "%FF%FE",
                                        "a,,b",
                                        "%00",
                                        "2020-13-45T99:99:99Z"};

// The APIs over an engine that runs nothing, with the resources that paths name.
class AllApis {
 public:
  AllApis() {
    auto book = logging::LogBook::Open(directory_.path() / "logs.db",
                                       logging::JobLogNames{"ml_job", "ml.googleapis.com"});
    EXPECT_TRUE(book.ok());
    book_ = std::move(*book);
    auto storage = StorageApis::Open({.state = directory_.path(),
                                      .keys = directory_.path() / "keys",
                                      .signer = []() -> Result<gcs::SignerKey> {
                                        return gcs::SignerKey{"k", "no key"};
                                      }},
                                     *store_, ml_.study_clock);
    EXPECT_TRUE(storage.ok());
    storage_ = std::move(*storage);
    ml_.router.Add(front::WithStandardParameters(logging::LoggingRoutes(logging::MakeLoggingApi(
        directory_.path() / "logs.db", *book_, ml_.study_clock, ml_.study_clock, readers_))));
    ml_.router.Add(storage_->Faulty(front::WithStandardParameters(storage_->JsonRoutes())));
    ml_.router.Add(storage_->OtherRoutes());
    MakeResources();
  }

  // A method may have deleted them.
  void MakeResources() {
    (void)store_->CreateBucket("bkt");
    (void)store_.TryPut("obj", "bytes");
    if (!ml_.world.store.Get("demo", "j1").ok()) ml_.PutJob("j1");
    ml_.Post(api::kStudies + "?studyId=s1", {{"studyConfig", api::AConfig()}});
    ml_.Post(api::kTrials + ":suggest", {{"suggestionCount", 1}, {"clientId", "c"}});
  }

  const http::Router& router() const { return ml_.router; }

 private:
  TemporaryDirectory directory_;
  api::MlWorld ml_;
  gcs::StoreWorld store_;
  std::unique_ptr<StorageApis> storage_;
  logging::StreamReaders readers_;
  std::unique_ptr<logging::LogBook> book_;
};

// "/v1/projects/demo/jobs/j1:cancel" for "/v1/projects/{project}/jobs/{job}:cancel".
std::string TargetOf(std::string_view pattern) {
  static const std::map<std::string, std::string, std::less<>> names = {
      {"project", "demo"},
      {"job", "j1"},
      {"location", "us-central1"},
      {"study", "s1"},
      {"trial", "1"},
      {"bucket", "bkt"},
      {"object", "obj"},
      {"log", "l1"},
      {"entity", "allUsers"},
      {"sourceBucket", "bkt"},
      {"source", "obj"},
      {"sourceObject", "obj"},
      {"destinationBucket", "bkt"},
      {"target", "copy"},
      {"destinationObject", "copy"}};
  std::string target;
  while (!pattern.empty()) {
    const size_t open = std::min(pattern.find('{'), pattern.size());
    target += pattern.substr(0, open);
    pattern.remove_prefix(open);
    if (pattern.empty()) break;
    const size_t end = pattern.find_first_of(".}");
    const auto name = names.find(pattern.substr(1, end - 1));
    target += name == names.end() ? "x1" : name->second;
    pattern.remove_prefix(pattern.find('}') + 1);
  }
  return target;
}

// Sends the requests for one method.
class MethodFuzzer {
 public:
  MethodFuzzer(const Json& schemas, const http::Route& route) : schemas_(schemas), route_(route) {}

  void TryBodies(const std::string& schema) { TryBodies(schema, TargetOf(route_.pattern)); }

  // `target` may be another path of the method, such as that of uploads.
  void TryBodies(const std::string& schema, const std::string& target) {
    WrongBodies bodies(schemas_,
                       [&](const WrongBody& body) { Send(target, body.text, body.place); });
    const auto valid = ValidBodies().find(schema);
    bodies.Make(schema, valid == ValidBodies().end() ? Json::object() : valid->second);
    for (const char* whole : {"", "null", "[]", "[null]", "5", "\"\"", "{", "{\"\xff\":1}"}) {
      Send(target, whole, "the body");
    }
  }

  void TryParameters(const std::vector<api::ApiParameter>& parameters, const std::string& schema) {
    const auto valid = ValidBodies().find(schema);
    const std::string body = valid == ValidBodies().end() ? "" : CompactJson(valid->second);
    std::vector<std::string> names;
    for (const api::ApiParameter& parameter : parameters) {
      if (!parameter.in_path) names.push_back(parameter.name);
    }
    TryParameters(names, body);
  }

  // The parameters that all methods of all APIs have.
  void TryStandardParameters() {
    std::vector<std::string> names;
    for (const auto& standard : api::StandardParameterSchemas().items()) {
      names.push_back(standard.key());
    }
    TryParameters(names, "");
  }

  // Whether a request got as far as the resources of its path.
  bool found_resources() const { return found_resources_; }
  int requests() const { return requests_; }

 private:
  void TryParameters(const std::vector<std::string>& names, const std::string& body) {
    for (const std::string& name : names) {
      for (const std::string value : kWrongParameters) {
        Send(TargetOf(route_.pattern) + "?" + name + "=" + value, body, name);
      }
      if (route_.method == "DELETE") apis_.MakeResources();
    }
  }

  void Send(const std::string& target, const std::string& body, const std::string& place) {
    ++requests_;
    const std::string what = route_.id + ": " + route_.method + " " + target + "\n  " + place +
                             ": " + body.substr(0, 300);
    try {
      const api::Answer answer = api::AskRouter(apis_.router(), route_.method, target, body);
      // The engine takes no calls, because it runs nothing.
      const bool arrived = answer.text.find("The emulator is shutting down") != std::string::npos;
      const bool fails = answer.status >= 500 && answer.status != 501 && !arrived;
      EXPECT_FALSE(fails) << what << "\n  " << answer.status << " " << answer.text.substr(0, 300);
      found_resources_ = found_resources_ || answer.status != 404;
    } catch (const std::exception& failure) {
      ADD_FAILURE() << what << "\n  throws " << failure.what();
    }
  }

  AllApis apis_;
  const Json& schemas_;
  const http::Route& route_;
  bool found_resources_ = false;
  int requests_ = 0;
};

const http::Route* RouteOf(const http::Router& router, const std::string& id) {
  for (const http::Route& route : router.routes()) {
    if (route.id == id) return &route;
  }
  return nullptr;
}

void TryMethodsOf(const ApiDescription& api) {
  const AllApis apis;
  int requests = 0;
  for (const ApiMethod& method : api.methods()) {
    const http::Route* route = RouteOf(apis.router(), method.id);
    if (!route || !route->emulated) continue;
    MethodFuzzer fuzzer(api.schemas(), *route);
    if (requests == 0) fuzzer.TryStandardParameters();
    fuzzer.TryParameters(method.parameters, method.request);
    if (!method.request.empty()) fuzzer.TryBodies(method.request);
    if (method.media_upload) {
      fuzzer.TryBodies(method.request,
                       "/upload" + TargetOf(route->pattern) + "?uploadType=resumable");
    }
    const bool arrives = fuzzer.found_resources() || method.request.empty();
    EXPECT_TRUE(arrives) << method.id << ": all answers are 404";
    requests += fuzzer.requests();
  }
  EXPECT_GT(requests, 1000);
}

TEST(WrongTypes, InRequestsToAiPlatformAreNoServerErrors) { TryMethodsOf(ApiDescription::Ml()); }

TEST(WrongTypes, InRequestsToCloudStorageAreNoServerErrors) {
  TryMethodsOf(ApiDescription::Storage());
}

TEST(WrongTypes, InRequestsToCloudLoggingAreNoServerErrors) {
  TryMethodsOf(ApiDescription::Logging());
}

// The methods that no discovery document describes.
TEST(WrongTypes, InRequestsWithoutADescriptionAreNoServerErrors) {
  const Json schemas = Json::parse(R"({
    "SignBlob": {"properties": {"payload": {"type": "string"},
                                "delegates": {"type": "array", "items": {"type": "string"}}}},
    "PublicKey": {"properties": {"publicKey": {"type": "string"}}},
    "RetryTest": {"properties": {
      "transport": {"type": "string"},
      "instructions": {"type": "object", "additionalProperties": {
        "type": "array", "items": {"type": "string"}}}}}})");
  const AllApis apis;
  const std::pair<const char*, const char*> methods[] = {
      {"iamcredentials.projects.serviceAccounts.signBlob", "SignBlob"},
      {"emulator.serviceAccounts.publicKeys.add", "PublicKey"},
      {"testbench.retryTests.create", "RetryTest"}};
  for (const auto& [id, schema] : methods) {
    const http::Route* route = RouteOf(apis.router(), id);
    ASSERT_TRUE(route) << id;
    MethodFuzzer(schemas, *route).TryBodies(schema);
  }
}

}  // namespace
}  // namespace caip::app
