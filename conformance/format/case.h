#pragma once
// A case: what is done to an endpoint, and what must come of it.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace conform {

using Json = nlohmann::json;

/// One case, its table filled in. A value; made by case_file, carried out by case_run.
struct Case {
  std::string id;                  // "job-ids/may-not-start-with-9"; unique
  std::string sentence;            // the test's name: what the service promises
  std::string chapter;             // the folder it lies in
  std::string place;               // "conformance/cases/job-ids/letters.yaml:12"
  std::vector<std::string> rules;  // ids of the rules it judges; never empty
  std::vector<std::string> needs;  // what a target must have for it: "containers"
  std::string instance;            // "held": the endpoint whose queue stands still, if there is one
  std::vector<Json> given;         // steps that must go well before the judging begins
  std::vector<Json> steps;         // steps that are judged
};

}  // namespace conform
