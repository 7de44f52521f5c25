#pragma once
// The optimizer API over its own StudyService, called without a server.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "emulator/api/json_messages.h"
#include "emulator/api/optimizer/study_service.h"
#include "tests/api/router_client.h"

namespace caip::api {

inline const std::string kStudies = "/v1/projects/demo/locations/us-central1/studies";
inline const std::string kStudy = kStudies + "/s1";
inline const std::string kTrials = kStudy + "/trials";

inline Json AConfig() {
  return Json::parse(R"({
    "metrics": [{"goal": "MINIMIZE", "metric": "loss"}],
    "parameters": [
      {"parameter": "rate", "type": "DOUBLE", "scaleType": "UNIT_LOG_SCALE",
       "doubleValueSpec": {"minValue": 1e-4, "maxValue": 0.1}},
      {"parameter": "units", "type": "INTEGER",
       "integerValueSpec": {"minValue": "40", "maxValue": "400"}},
      {"parameter": "cell", "type": "CATEGORICAL",
       "categoricalValueSpec": {"values": ["gru", "lstm"]}}]})");
}

inline constexpr Instant kMorning{std::chrono::seconds(1'600'000'000)};

struct StudyWorld {
  StudyWorld() { router.Add(StudyRoutes(service)); }
  Answer Ask(const std::string& method, const std::string& target) {
    return AskRouter(router, method, target);
  }
  Answer Get(const std::string& target) { return Ask("GET", target); }
  Answer Post(const std::string& target, const Json& body) {
    return AskRouter(router, "POST", target, CompactJson(body));
  }
  Answer Create(const Json& config, const std::string& id = "s1") {
    return Post(kStudies + "?studyId=" + id, {{"studyConfig", config}});
  }
  // The trials of the operation's answer.
  Json Suggest(int count, const std::string& client) {
    const Answer answer =
        Post(kTrials + ":suggest", {{"suggestionCount", count}, {"clientId", client}});
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.json["response"].value("trials", Json::array());
  }
  Answer Measure(const std::string& trial, int step, const Json& loss) {
    return Post(trial + ":addMeasurement",
                {{"measurement",
                  {{"stepCount", std::to_string(step)},
                   {"metrics", {{{"metric", "loss"}, {"value", loss}}}}}}});
  }
  Answer Complete(const std::string& trial, const Json& loss) {
    return Post(trial + ":complete",
                {{"finalMeasurement", {{"metrics", {{{"metric", "loss"}, {"value", loss}}}}}}});
  }

  TemporaryDirectory directory;
  std::unique_ptr<StudyStore> store = *StudyStore::Open(directory.path() / "studies.db");
  VirtualClock clock{kMorning};
  std::vector<std::string> said;
  StudyService service{*store, clock, 7, [this](const std::string& line) { said.push_back(line); }};
  http::Router router{NoRouteResponse};
};

inline std::string PathOf(const Json& trial) { return "/v1/" + trial.value("name", ""); }

}  // namespace caip::api
