#pragma once
// The ml API's routes over an engine that only remembers, asked without a server.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "emulator/api/discovery.h"
#include "emulator/api/error_body.h"
#include "emulator/api/ml_routes.h"
#include "emulator/front/standard_parameters.h"
#include "http/target.h"
#include "tests/support/simulated_engine.h"

namespace caip::api {

/// A body that is all there.
class TextBody final : public http::BodyReader {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    const size_t count = std::min(size, text_.size() - at_);
    text_.copy(buffer, count, at_);
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  size_t at_ = 0;
};

struct Answer {
  int status = 0;
  Json json;
  std::string text;
};

/// Jobs are put into the store; nothing runs.
struct MlWorld {
  MlWorld() {
    world.Boot();
    router.Add(front::WithStandardParameters(
        MlRoutes(*world.engine, policies, {"123456789012", "robot@example.com"})));
    router.Add(DiscoveryRoutes(router.routes()));
  }

  Answer Ask(const std::string& method, const std::string& target, const std::string& body = "") {
    auto parsed = http::ParseTarget(target);
    assert(parsed);
    TextBody reader(body);
    http::Request request;
    request.method = method;
    request.path = parsed->path;
    request.query = parsed->query;
    request.body = &reader;
    request.host = host;
    request.scheme = scheme;
    const http::Response response = router.Handle(request);
    auto json = ParseJson(response.body);
    return {response.status, json.ok() ? *json : Json(), response.body};
  }
  Answer Get(const std::string& target) { return Ask("GET", target); }
  Answer Post(const std::string& target, const Json& body) {
    return Ask("POST", target, CompactJson(body));
  }

  void PutJob(const std::string& id, spec::JobState state = spec::JobState::kSucceeded) {
    engine::JobRecord record{"demo", {}, Json::object()};
    record.job.job_id = id;
    record.job.state = state;
    record.job.create_time = engine::kMorning + std::chrono::seconds(++jobs);
    record.job.labels = {{"team", id}};
    record.job.etag = "12345678";
    record.job.training_input.emplace();
    record.job.training_input->region = "us-central1";
    const Status created = world.store.Create(record);
    assert(created.ok());
    (void)created;
  }

  TemporaryDirectory directory;
  engine::SimulatedEngine world;
  PolicyStore policies{directory.path() / "policies"};
  http::Router router{NoRouteResponse};
  std::string host = "127.0.0.1:2247";
  std::string scheme = "http";
  int jobs = 0;
};

}  // namespace caip::api
