// Every method of Google's APIs, with values of the wrong types in each field of its body and in
// each parameter: no request crashes the emulator or is answered with 500.
#include "tests/app/wrong_types.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/encoding.h"
#include "emulator/api/discovery/api_description.h"
#include "emulator/app/storage_apis.h"
#include "fakes/logging/api/logging_api.h"
#include "run/lifecycle.h"
#include "tests/api/ml_world.h"
#include "tests/api/study_world.h"
#include "tests/app/stored_types.h"
#include "tests/app/vertex_apis.h"
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

// A pipeline with the fields of a tuning job as its inputs.
constexpr char kTuningPipeline[] = "TuningPipeline";

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
      {"Notification", Json::parse(R"({"topic": "//pubsub.googleapis.com/projects/p/topics/t",
                                       "payload_format": "NONE"})")},
      {"ManagedFolder", {{"name", "folder"}}},
      {"HmacKeyMetadata", {{"state", "INACTIVE"}}},
      {"ListLogEntriesRequest", {{"resourceNames", {"projects/demo"}}}},
      {"WriteLogEntriesRequest", Json::parse(R"({"entries": [{"logName": "projects/demo/logs/l1",
                                    "resource": {"type": "global"}, "textPayload": "x"}]})")},
      {"GoogleCloudAiplatformV1CustomJob", ValidVertexBody(vertex::kCustomJobs)},
      {"GoogleCloudAiplatformV1HyperparameterTuningJob", ValidVertexBody(vertex::kTuningJobs)},
      {"GoogleCloudAiplatformV1TrainingPipeline", ValidVertexBody(vertex::kTrainingPipelines)},
      {kTuningPipeline, AVertexTuningPipeline()},
  };
  return bodies;
}

// Both versions of an API have the same bodies.
const Json* FindValidBody(const std::string& schema) {
  const auto valid = ValidBodies().find(ReplaceAll(schema, "V1beta1", "V1"));
  return valid == ValidBodies().end() ? nullptr : &valid->second;
}

// The methods that may answer 501, outside Vertex AI: Cloud Storage does so for some fields of
// buckets and for a filter of objects.
constexpr std::string_view kStorageMethodsWith501[] = {
    "storage.buckets.insert",
    "storage.buckets.patch",
    "storage.buckets.update",
    "storage.objects.list",
};
// Each of projects, organizations, folders and billing accounts has them.
constexpr std::string_view kLoggingMethodsWith501[] = {
    "getCmekSettings",
    "getSettings",
    "locations.buckets.create",
    "locations.buckets.delete",
    "locations.buckets.patch",
    "locations.buckets.links.list",
    "locations.buckets.views.create",
    "locations.buckets.views.delete",
    "locations.buckets.views.patch",
};

bool MayAnswer501(std::string_view method) {
  if (std::ranges::count(kStorageMethodsWith501, method) > 0) return true;
  for (const std::string parent : {"projects", "organizations", "folders", "billingAccounts"}) {
    const std::string start = "logging." + parent + ".";
    if (!method.starts_with(start)) continue;
    return std::ranges::count(kLoggingMethodsWith501, method.substr(start.size())) > 0;
  }
  return false;
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
    ml_.world.storage.buckets.insert("bkt");
    ml_.world.storage.objects.insert("obj");
    auto book = logging::LogBook::Open(directory_.path() / "logs.db",
                                       logging::JobLogNames{"ml_job", "ml.googleapis.com"});
    EXPECT_TRUE(book.ok());
    book_ = std::move(*book);
    auto storage = StorageApis::Open({.state = directory_.path(),
                                      .keys = directory_.path() / "keys",
                                      .project_number = "123",
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
    vertex_.emplace(*book_);
    ml_.router.Add(vertex_->Routes());
    ml_.router.Add(vertex_->CheckRoutes());
    MakeResources();
  }

  // A method may have deleted them.
  void MakeResources() {
    (void)store_->CreateBucket("bkt");
    gcs::Bucket with_folders;
    with_folders.name = kBucketWithFolders;
    with_folders.settings = R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})";
    (void)store_->CreateBucket(with_folders);
    (void)store_.TryPut("obj", "bytes");
    if (!ml_.world.store.Get("demo", "j1").ok()) ml_.PutJob("j1");
    ml_.Post(api::kStudies + "?studyId=s1", {{"studyConfig", api::AConfig()}});
    ml_.Post(api::kTrials + ":suggest", {{"suggestionCount", 1}, {"clientId", "c"}});
    vertex_->MakeResources();
  }

  const http::Router& router() const { return ml_.router; }
  VertexApis& vertex() { return *vertex_; }

  // Lets the engine store a job of AI Platform, and returns its id. The routes cannot do so: they
  // wait for a thread of the engine, which it does not have here.
  Result<std::string> SubmitMlJob(const Json& body) {
    ASSIGN_OR_RETURN(engine::NewJob job, ml_.world.engine->Check("demo", body));
    Result<run::Job> stored = Error{};
    ml_.world.engine->SubmitLater(std::move(job),
                                  [&](Result<run::Job> answer) { stored = std::move(answer); });
    ml_.world.engine->Turn();
    if (!stored.ok()) return stored.error();
    return stored->key.job_id;
  }
  // Cancels the job, and frees its id for the next one.
  void RemoveMlJob(const std::string& id) {
    ml_.world.engine->CancelLater("demo", id, [](const Status&) {});
    ml_.world.RunUntilIdle();
    const auto ended = ml_.world.engine->Get("demo", id);
    EXPECT_TRUE(ended.ok() && run::IsTerminal(ended->state)) << id;
    EXPECT_TRUE(ml_.world.store.Remove("demo", id, engine::RemovedId::kFree).ok()) << id;
  }

 private:
  TemporaryDirectory directory_;
  api::MlWorld ml_;
  gcs::StoreWorld store_;
  std::unique_ptr<StorageApis> storage_;
  logging::StreamReaders readers_;
  std::unique_ptr<logging::LogBook> book_;
  std::optional<VertexApis> vertex_;
};

constexpr std::string_view kVertexCollections[] = {vertex::kCustomJobs, vertex::kTuningJobs,
                                                   vertex::kTrainingPipelines};

// "/v1/projects/demo/jobs/j1:cancel" for "/v1/projects/{project}/jobs/{job}:cancel".
std::string TargetOf(std::string pattern_text) {
  for (const std::string_view collection : kVertexCollections) {
    const std::string start = std::string(collection) + "/";
    pattern_text = ReplaceAll(pattern_text, start + "{job}", start + VertexApis::IdIn(collection));
  }
  if (pattern_text.find("/managedFolders") != std::string::npos) {
    pattern_text = ReplaceAll(pattern_text, "{bucket}", kBucketWithFolders);
  }
  std::string_view pattern = pattern_text;
  static const std::map<std::string, std::string, std::less<>> names = {
      {"project", "demo"},
      {"job", "j1"},
      {"location", "us-central1"},
      {"study", "s1"},
      {"trial", "1"},
      {"bucket", "bkt"},
      {"object", "obj"},
      {"log", "l1"},
      {"operation", VertexApis::OperationId()},
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
    const Json* valid = FindValidBody(schema);
    bodies.Make(schema, valid ? *valid : Json::object());
    for (const char* whole : {"", "null", "[]", "[null]", "5", "\"\"", "{", "{\"\xff\":1}"}) {
      Send(target, whole, "the body");
    }
  }

  void TryParameters(const std::vector<api::ApiParameter>& parameters, const std::string& schema) {
    const Json* valid = FindValidBody(schema);
    const std::string body = valid ? CompactJson(*valid) : "";
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

  // Compares what requests to Cloud Storage leave with the API description.
  void ExpectStoredTypes(const ApiMethod& method) { method_ = &method; }

  // Whether a request got as far as the resources of its path.
  bool found_resources() const { return found_resources_; }
  int requests() const { return requests_; }
  // How many jobs were accepted, and shown by the other methods.
  int shown() const { return shown_; }

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
      const bool fails = answer.status >= 500 && !arrived && !MayBeUnserved(answer, place);
      EXPECT_FALSE(fails) << what << "\n  " << answer.status << " " << answer.text.substr(0, 300);
      if (arrived && route_.id.ends_with(".create")) ShowCreated(body, what);
      found_resources_ = found_resources_ || answer.status != 404;
      if (method_ && answer.status == 200) CheckStored(answer, what + "\n  ");
    } catch (const std::exception& failure) {
      ADD_FAILURE() << what << "\n  throws " << failure.what();
    }
  }

  void CheckStored(const api::Answer& answer, const std::string& what) {
    StoredTypes stored(apis_.router(), schemas_);
    const bool is_resource = !method_->response.empty() && answer.json.is_object();
    if (is_resource) stored.Expect(method_->response, answer.json, what);
    if (!method_->request.empty()) stored.ExpectAfter(method_->request, answer, what);
  }

  bool IsOfVertex() const { return route_.id.starts_with("aiplatform."); }
  bool MayBeUnserved(const api::Answer& answer, const std::string& place) const {
    if (answer.status != 501) return false;
    return IsOfVertex() ? IsUnservedVertexField(place) : MayAnswer501(route_.id);
  }

  // A running engine would have stored the job: get and list show it.
  void ShowCreated(const std::string& body, const std::string& what) {
    const auto json = ParseJson(body);
    if (!json.ok()) return;
    if (IsOfVertex()) {
      ShowVertexJob(*json, what);
    } else {
      ShowMlJob(*json, what);
    }
  }

  void ShowVertexJob(const Json& body, const std::string& what) {
    const std::string collection = route_.pattern.substr(route_.pattern.rfind('/') + 1);
    const std::string id = VertexApis::IdIn(collection);
    if (!apis_.vertex().Keep(collection, id, body)) return;
    ++shown_;
    ExpectAnswers({"/" + id, "?$alt=json;enum-encoding=int",
                   "?filter=display_name:x*+OR+NOT+labels.a:*", "?readMask=display_name,job_spec"},
                  what);
  }

  void ShowMlJob(const Json& body, const std::string& what) {
    const auto id = apis_.SubmitMlJob(body);
    ASSERT_TRUE(id.ok()) << what << "\n  " << id.error().message;
    ++shown_;
    ExpectAnswers({"?filter=jobId:" + *id + "*", "?pageSize=1"}, what);
    const std::string all = TargetOf(route_.pattern);
    const api::Answer got = api::AskRouter(apis_.router(), "GET", all + "/" + *id, "");
    api::Answer list = api::AskRouter(apis_.router(), "GET", all, "");
    EXPECT_EQ(got.status, 200) << what << "\n  " << got.text;
    EXPECT_EQ(list.status, 200) << what << "\n  " << list.text;
    const Json& jobs = list.json["jobs"];
    EXPECT_EQ(std::count(jobs.begin(), jobs.end(), got.json), 1) << what << "\n  " << list.text;
    apis_.RemoveMlJob(*id);
  }

  // Asks with GET for each of these suffixes of the collection's path.
  void ExpectAnswers(const std::vector<std::string>& suffixes, const std::string& what) {
    for (const std::string& suffix : suffixes) {
      const std::string target = TargetOf(route_.pattern) + suffix;
      const api::Answer answer = api::AskRouter(apis_.router(), "GET", target, "");
      EXPECT_EQ(answer.status, 200) << what << "\n  GET " << target << ": " << answer.text;
    }
  }

  AllApis apis_;
  const Json& schemas_;
  const http::Route& route_;
  const ApiMethod* method_ = nullptr;
  bool found_resources_ = false;
  int requests_ = 0;
  int shown_ = 0;
};

// `start` is that of the path, for methods that have several.
const http::Route* RouteOf(const http::Router& router, const std::string& id,
                           const std::string& start = "/") {
  for (const http::Route& route : router.routes()) {
    if (route.id == id && route.pattern.starts_with(start)) return &route;
  }
  return nullptr;
}

// `schemas` are those of the API, or have more to say on some fields.
void TryMethodsOf(const ApiDescription& api, const Json& schemas) {
  const AllApis apis;
  int requests = 0;
  const std::string start = api.name() == "aiplatform" ? "/" + api.version() + "/" : "/";
  for (const ApiMethod& method : api.methods()) {
    const http::Route* route = RouteOf(apis.router(), method.id, start);
    if (!route || !route->emulated) continue;
    MethodFuzzer fuzzer(schemas, *route);
    if (&api == &ApiDescription::Storage()) fuzzer.ExpectStoredTypes(method);
    if (requests == 0) fuzzer.TryStandardParameters();
    fuzzer.TryParameters(method.parameters, method.request);
    if (!method.request.empty()) fuzzer.TryBodies(method.request);
    if (method.media_upload) {
      fuzzer.TryBodies(method.request,
                       "/upload" + TargetOf(route->pattern) + "?uploadType=resumable");
    }
    const bool arrives = fuzzer.found_resources() || method.request.empty();
    EXPECT_TRUE(arrives) << method.id << ": all answers are 404";
    const bool makes_jobs = method.id == "ml.projects.jobs.create" ||
                            (api.name() == "aiplatform" && method.id.ends_with(".create"));
    EXPECT_TRUE(!makes_jobs || fuzzer.shown() > 0) << method.id << ": all bodies are refused";
    requests += fuzzer.requests();
  }
  EXPECT_GT(requests, 1000);
}

void TryMethodsOf(const ApiDescription& api) { TryMethodsOf(api, api.schemas()); }

TEST(WrongTypes, InRequestsToAiPlatformAreNoServerErrors) { TryMethodsOf(ApiDescription::Ml()); }

// And no such value is stored.
TEST(WrongTypes, InRequestsToCloudStorageAreNoServerErrors) {
  TryMethodsOf(ApiDescription::Storage());
}

TEST(WrongTypes, InRequestsToCloudLoggingAreNoServerErrors) {
  TryMethodsOf(ApiDescription::Logging());
}

// The inputs of a pipeline have no type in the documents: they are those of a custom job or a
// tuning job.
void TryMethodsOfVertex(const ApiDescription& api, const std::string& package) {
  Json schemas = api.schemas();
  const auto inputs = [&](const char* message) {
    return Json{{"trainingTaskInputs", {{"$ref", package + message}}}};
  };
  schemas[package + "TrainingPipeline"]["properties"].update(inputs("CustomJobSpec"));
  schemas[kTuningPipeline]["properties"] = inputs("HyperparameterTuningJob");
  TryMethodsOf(api, schemas);
  const AllApis apis;
  const http::Route* route =
      RouteOf(apis.router(), "aiplatform.projects.locations.trainingPipelines.create",
              "/" + api.version() + "/");
  ASSERT_TRUE(route);
  MethodFuzzer pipelines(schemas, *route);
  pipelines.TryBodies(kTuningPipeline);
  EXPECT_GT(pipelines.shown(), 0);
}

TEST(WrongTypes, InRequestsToVertexAiAreNoServerErrors) {
  TryMethodsOfVertex(ApiDescription::Aiplatform(), "GoogleCloudAiplatformV1");
}

TEST(WrongTypes, InRequestsToVertexAiBetaAreNoServerErrors) {
  TryMethodsOfVertex(ApiDescription::AiplatformBeta(), "GoogleCloudAiplatformV1beta1");
}

// The methods that no discovery document describes.
TEST(WrongTypes, InRequestsWithoutADescriptionAreNoServerErrors) {
  const Json schemas = Json::parse(R"({
    "SignBlob": {"properties": {"payload": {"type": "string"},
                                "delegates": {"type": "array", "items": {"type": "string"}}}},
    "PublicKey": {"properties": {"publicKey": {"type": "string"}}},
    "Check": {"properties": {"job": {"type": "any"},
                             "arriving": {"type": "array", "items": {"type": "string"}}}},
    "RetryTest": {"properties": {
      "transport": {"type": "string"},
      "instructions": {"type": "object", "additionalProperties": {
        "type": "array", "items": {"type": "string"}}}}}})");
  const AllApis apis;
  const std::pair<const char*, const char*> methods[] = {
      {"iamcredentials.projects.serviceAccounts.signBlob", "SignBlob"},
      {"emulator.serviceAccounts.publicKeys.add", "PublicKey"},
      {"emulator.customJobs.check", "Check"},
      {"emulator.hyperparameterTuningJobs.check", "Check"},
      {"emulator.trainingPipelines.check", "Check"},
      {"testbench.retryTests.create", "RetryTest"}};
  for (const auto& [id, schema] : methods) {
    const http::Route* route = RouteOf(apis.router(), id);
    ASSERT_TRUE(route) << id;
    MethodFuzzer(schemas, *route).TryBodies(schema);
  }
}

}  // namespace
}  // namespace caip::app
