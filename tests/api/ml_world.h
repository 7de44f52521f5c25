#pragma once
// The routes of the ml API over an engine that runs nothing, called without a server.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "emulator/api/discovery/discovery.h"
#include "emulator/api/json_messages.h"
#include "emulator/api/ml/ml_routes.h"
#include "emulator/front/standard_parameters.h"
#include "ml/schema/job_json.h"
#include "tests/api/router_client.h"
#include "tests/support/simulated_engine.h"

namespace caip::api {

/// Tests write jobs to the store; no job runs.
struct MlWorld {
  MlWorld() {
    world.Boot();
    router.Add(front::WithStandardParameters(
        MlRoutes(*world.engine, policies, studies, {"123456789012", "robot@example.com"})));
    router.Add(DiscoveryRoutes(router));
  }

  Answer Ask(const std::string& method, const std::string& target, const std::string& body = "") {
    return AskRouter(router, method, target, body, scheme, host);
  }
  Answer Get(const std::string& target) { return Ask("GET", target); }
  Answer Post(const std::string& target, const Json& body) {
    return Ask("POST", target, CompactJson(body));
  }

  void PutJob(const std::string& id, run::JobState state = run::JobState::kSucceeded) {
    ml::Job job;
    job.job_id = id;
    job.labels = {{"team", id}};
    job.etag = "12345678";
    job.training_input.emplace().region = "us-central1";
    engine::JobRecord record;
    record.job.key = {"demo", id, ""};
    record.job.state = state;
    record.job.create_time = engine::kMorning + std::chrono::seconds(++jobs);
    record.job.document = std::make_shared<const Json>(ml::ToStoredJson(job));
    record.note = Json::object();
    const Status created = world.store.Create(record);
    assert(created.ok());
    (void)created;
  }

  TemporaryDirectory directory;
  engine::SimulatedEngine world;
  PolicyStore policies{directory.path() / "policies"};
  std::unique_ptr<StudyStore> study_store = *StudyStore::Open(directory.path() / "studies.db");
  VirtualClock study_clock{engine::kMorning};
  StudyService studies{*study_store, study_clock, 7};
  http::Router router{NoRouteResponse};
  std::string host = "127.0.0.1:2247";
  std::string scheme = "http";
  int jobs = 0;
};

}  // namespace caip::api
